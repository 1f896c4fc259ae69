//! Private keys that the real programs make, as files and inside of source files, and their public halves.

use super::{dry_run, leaves, repo, stays};
use crate::support::{Home, PATH, Pty};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn a_private_key_of_any_program_stays_home_and_its_public_half_leaves() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let mut maker = Maker::in_home(&home);
    maker.openssh();
    maker.openssl();
    maker.gpg();
    maker.age();
    maker.wireguard();
    maker.minisign();
    maker.cosign();

    for (name, text) in &maker.private {
        for (form, contents) in forms(text) {
            repo.write(&format!("private/{name}/{form}"), contents);
        }
    }
    for (name, text) in &maker.public {
        repo.write(&format!("public/{name}/file.txt"), text);
        repo.write(&format!("public/{name}/file.py"), format!("KEY = \"\"\"{text}\"\"\"\n"));
    }
    let document = dry_run(&home, &repo);
    let left: Vec<_> = leaves(&document).into_iter().filter(|path| path.starts_with("private/")).collect();
    let stays = stays(&document);
    let stayed: Vec<_> = stays.iter().filter(|(path, _)| path.starts_with("public/")).collect();
    assert!(left.is_empty() && stayed.is_empty(), "left: {left:#?}, stayed: {stayed:#?}");
    assert!(stays.values().all(|why| why.starts_with("secret: ")), "{stays:#?}");
}

#[test]
fn a_private_key_without_an_armour_stays_home_also_as_base64() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let mut maker = Maker::in_home(&home);
    maker.openssl();
    maker.gpg();
    for (name, file) in maker.binary_private.iter().chain(&maker.binary_public) {
        let bytes = std::fs::read(maker.folder.join(file)).unwrap();
        let text = maker.run("base64", &["-w0", file], "").unwrap();
        repo.write(&format!("{name}/blob"), bytes)
            .write(&format!("{name}/values.yaml"), format!("key: {text}\n"))
            .write(&format!("{name}/settings.py"), format!("KEY = b64decode(\"{text}\")\n"));
    }
    let document = dry_run(&home, &repo);
    let stays = stays(&document);
    let of = |list: &[(String, String)]| -> Vec<String> {
        let forms = ["blob", "settings.py", "values.yaml"];
        list.iter().flat_map(|(name, _)| forms.map(|form| format!("{name}/{form}"))).collect()
    };
    let left: Vec<_> =
        of(&maker.binary_private).into_iter().filter(|path| !stays.contains_key(path)).collect();
    let stayed: Vec<_> =
        of(&maker.binary_public).into_iter().filter(|path| stays.contains_key(path)).collect();
    assert!(left.is_empty() && stayed.is_empty(), "left: {left:#?}, stayed: {stayed:#?}");
    assert!(!maker.binary_private.is_empty() && stays.values().all(|why| why.starts_with("secret: ")));
}

#[test]
fn a_pem_stays_home_for_its_name_unless_all_of_it_is_public() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let mut maker = Maker::in_home(&home);
    if !maker.openssl() {
        return;
    }
    let find = |list: &[(String, String)], name: &str| -> String {
        list.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()).unwrap()
    };
    let (key, certificate) = (find(&maker.private, "pkcs8-rsa"), find(&maker.public, "certificate"));
    repo.write("t/ca.pem", &certificate)
        .write("t/bundle.pem", format!("# two of them\n{certificate}{certificate}"))
        .write("t/request.pem", find(&maker.public, "request"))
        .write("t/public.key", find(&maker.public, "public-rsa"))
        .write("t/both.pem", format!("{certificate}{key}"))
        .write("t/key.pem", &key)
        .write("t/key.key", &key)
        .write("t/parameters.pem", "nothing of PEM")
        .write("slides.key", b"PK\x03\x04\x14\x00 a document of Keynote")
        .write("t/large.key", [b"PK\x03\x04".to_vec(), vec![0; 3_000_000]].concat());
    let document = dry_run(&home, &repo);
    let expected =
        ["a.txt", "slides.key", "t/bundle.pem", "t/ca.pem", "t/large.key", "t/public.key", "t/request.pem"];
    assert_eq!(leaves(&document), expected);
    let stays = stays(&document);
    for (path, rule) in [
        ("t/both.pem", "*.pem"),
        ("t/key.pem", "*.pem"),
        ("t/key.key", "*.key"),
        ("t/parameters.pem", "*.pem"),
    ] {
        assert_eq!(stays[path], format!("denied: {rule}"), "{path}");
    }
}

#[test]
fn a_bare_wireguard_key_in_a_file_of_its_name_stays_home() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let maker = Maker::in_home(&home);
    let Some(key) = maker.run("wg", &["genkey"], "") else { return };
    for path in ["privatekey", "wg0-private-key", "peer.private"] {
        repo.write(path, &key);
    }
    repo.write("publickey", maker.run("wg", &["pubkey"], &key).unwrap());
    assert_eq!(leaves(&dry_run(&home, &repo)), ["a.txt", "publickey"]);
}

/// The ways in which such a text gets into a repository.
fn forms(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let json = serde_json::Value::from(text).to_string();
    let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
    let joined: Vec<String> = text.lines().map(|line| format!("  \"{line}\\n\"")).collect();
    let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
    };
    let mut forms = vec![
        ("deploy_key", text.as_bytes().to_vec()),
        ("windows.txt", text.replace('\n', "\r\n").into_bytes()),
        ("little.txt", wide(u16::to_le_bytes)),
        ("big.txt", wide(u16::to_be_bytes)),
    ];
    for (name, source) in [
        ("triple.py", format!("import os\n\nKEY = \"\"\"{text}\"\"\"\n")),
        ("line.py", format!("KEY = {json}\n")),
        ("joined.py", format!("KEY = (\n{}\n)\n", joined.join("\n"))),
        ("joined.js", format!("const key =\n{};\n", joined.join(" +\n"))),
        ("template.ts", format!("export const key = `{text}`;\n")),
        ("raw.rs", format!("const KEY: &str = r#\"{text}\"#;\n")),
        ("key.json", format!("{{\"key\": {json}}}\n")),
        ("twice.json", format!("{{\"env\": {}}}\n", serde_json::Value::from(format!("{{\"key\": {json}}}")))),
        ("values.yaml", format!("ssh:\n  key: |\n{indented}\n")),
        ("key.toml", format!("key = '''\n{text}'''\n")),
        ("make.sh", format!("cat > key <<'EOF'\n{text}EOF\n")),
        ("main.tf", format!("key = <<-EOT\n{indented}  EOT\n")),
    ] {
        forms.push((name, source.into_bytes()));
    }
    forms
}

/// Where the programs work, and what they made: names with texts.
struct Maker {
    folder: PathBuf,
    /// Keys that must stay home.
    private: Vec<(String, String)>,
    /// What is for everybody.
    public: Vec<(String, String)>,
    /// Names and files of keys without an armour.
    binary_private: Vec<(String, String)>,
    binary_public: Vec<(String, String)>,
}

impl Maker {
    fn in_home(home: &Home) -> Self {
        let folder = home.path().join("made");
        std::fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            private: Vec::new(),
            public: Vec::new(),
            binary_private: Vec::new(),
            binary_public: Vec::new(),
        }
    }

    /// Runs a program in the folder; `None`, and a word about it, when it is not there.
    fn run(&self, program: &str, args: &[&str], input: &str) -> Option<String> {
        if !is_there(program) {
            return None;
        }
        let mut child = Command::new(program)
            .args(args)
            .current_dir(&self.folder)
            .env("PATH", PATH)
            .env("GNUPGHOME", self.folder.join("gnupg"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // One that reads nothing may be gone already.
        let _taken = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {said}");
        Some(String::from_utf8(output.stdout).unwrap())
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join(file)).unwrap()
    }

    fn private(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.private.push((name.into(), text.into()));
    }

    fn public(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.public.push((name.into(), text.into()));
    }

    fn openssh(&mut self) {
        for kind in ["ed25519", "ecdsa", "rsa"] {
            for (protected, words) in [("open", ""), ("protected", "a few words")] {
                let name = format!("openssh-{kind}-{protected}");
                let bits = if kind == "rsa" { "2048" } else { "256" };
                let args = ["-q", "-t", kind, "-b", bits, "-N", words, "-C", "me@example.com", "-f", &name];
                if self.run("ssh-keygen", &args, "").is_none() {
                    return;
                }
                self.private(&name, self.read(&name));
                self.public(&name, self.read(&format!("{name}.pub")));
                let old = format!("{name}-pem");
                let args = ["-q", "-t", kind, "-b", bits, "-m", "PEM", "-N", words, "-f", &old];
                if kind != "ed25519" && self.run("ssh-keygen", &args, "").is_some() {
                    self.private(&old, self.read(&old));
                }
            }
        }
    }

    /// Whether openssl is there.
    fn openssl(&mut self) -> bool {
        for (name, algorithm) in [
            ("rsa", &["-algorithm", "RSA"][..]),
            ("ec", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
            ("ed25519", &["-algorithm", "ED25519"]),
            ("x25519", &["-algorithm", "X25519"]),
        ] {
            let file = format!("{name}.txt");
            let args = [&["genpkey", "-out", &file][..], algorithm].concat();
            if self.run("openssl", &args, "").is_none() {
                return false;
            }
            self.private(format!("pkcs8-{name}"), self.read(&file));
            let made = |maker: &Self, args: &[&str]| maker.run("openssl", args, "").unwrap();
            let args = ["pkcs8", "-topk8", "-in", &file, "-v2", "aes-256-cbc", "-passout", "pass:words"];
            let text = made(self, &args);
            self.private(format!("pkcs8-{name}-protected"), text);
            let text = made(self, &["pkey", "-in", &file, "-pubout"]);
            self.public(format!("public-{name}"), text);
            // The name of a folder is its file's.
            let der = |maker: &Self, form: &str, args: &[&str]| {
                let made = format!("{form}-{name}.der");
                let args = [args, &["-in", &file, "-outform", "DER", "-out", &made]].concat();
                maker.run("openssl", &args, "").unwrap();
                (made.clone(), made)
            };
            let protected = ["pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:words"];
            for (form, args) in [
                ("open", &["pkcs8", "-topk8", "-nocrypt"][..]),
                ("protected", &protected),
                ("traditional", &["pkey", "-traditional"]),
            ] {
                let key = der(self, form, args);
                self.binary_private.push(key);
            }
            let key = der(self, "public", &["pkey", "-pubout"]);
            self.binary_public.push(key);
            if name == "rsa" {
                let certificate = "certificate.der".to_owned();
                let args =
                    ["req", "-new", "-x509", "-subj", "/CN=example.com", "-key", &file, "-outform", "DER"];
                self.run("openssl", &[&args[..], &["-out", &certificate]].concat(), "").unwrap();
                self.binary_public.push((certificate.clone(), certificate));
                let text = made(self, &["rsa", "-in", &file, "-traditional"]);
                self.private("pkcs1-rsa", text);
                let args = ["rsa", "-in", &file, "-traditional", "-aes256", "-passout", "pass:words"];
                let text = made(self, &args);
                self.private("pkcs1-rsa-protected", text);
                let text = made(self, &["req", "-new", "-x509", "-key", &file, "-subj", "/CN=example.com"]);
                self.public("certificate", text);
                let text = made(self, &["req", "-new", "-key", &file, "-subj", "/CN=example.com"]);
                self.public("request", text);
            }
            if name == "ec" {
                let text = made(self, &["ec", "-in", &file]);
                self.private("sec1-ec", text);
            }
        }
        true
    }

    fn gpg(&mut self) {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().mode(0o700).create(self.folder.join("gnupg")).unwrap();
        for (name, algorithm) in [("rsa", "rsa2048"), ("ed25519", "ed25519")] {
            for (protected, words) in [("open", ""), ("protected", "a few words")] {
                let user = format!("{name}-{protected}@example.com");
                let quiet = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", words];
                let args =
                    [&quiet[..], &["--quick-generate-key", &user, algorithm, "sign", "never"]].concat();
                if self.run("gpg", &args, "").is_none() {
                    return;
                }
                let args = [&quiet[..], &["--armor", "--export-secret-keys", &user]].concat();
                let text = self.run("gpg", &args, "").unwrap();
                self.private(format!("pgp-{name}-{protected}"), text);
                let text = self.run("gpg", &["--armor", "--export", &user], "").unwrap();
                self.public(format!("pgp-{name}-{protected}"), text);
                let made = format!("pgp-{name}-{protected}.gpg");
                let args = [&quiet[..], &["--output", &made, "--export-secret-keys", &user]].concat();
                self.run("gpg", &args, "").unwrap();
                self.binary_private.push((made.clone(), made));
                let made = format!("public-pgp-{name}-{protected}.gpg");
                self.run("gpg", &["--output", &made, "--export", &user], "").unwrap();
                self.binary_public.push((made.clone(), made));
            }
        }
        // Its agent would stay otherwise.
        let _gone = self.run("gpgconf", &["--kill", "all"], "");
    }

    fn age(&mut self) {
        let Some(text) = self.run("age-keygen", &[], "") else { return };
        let recipient = text.lines().find_map(|line| line.strip_prefix("# public key: ")).unwrap().to_owned();
        std::fs::write(self.folder.join("age.txt"), &text).unwrap();
        let bare = text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n"));
        self.private("age-bare", bare.collect::<String>());
        self.private("age", text);
        // It asks for a passphrase on a terminal only.
        let mut command = Command::new("age");
        command
            .args(["-p", "-a", "-o", "age.protected", "age.txt"])
            .current_dir(&self.folder)
            .env("PATH", PATH);
        let mut terminal = Pty::spawn(command, 24, 80);
        let limit = Duration::from_secs(60);
        terminal.expect("Enter passphrase", limit);
        terminal.send("a few words\r");
        terminal.expect("Confirm passphrase", limit);
        terminal.send("a few words\r");
        assert!(terminal.wait(limit).success(), "{}", terminal.text());
        self.private("age-protected", self.read("age.protected"));
        self.public("age", format!("recipients:\n  - {recipient}\n"));
        let message = self.run("age", &["-a", "-r", &recipient], "for somebody").unwrap();
        self.public("age-message", message);
    }

    fn wireguard(&mut self) {
        let Some(key) = self.run("wg", &["genkey"], "") else { return };
        let public = self.run("wg", &["pubkey"], &key).unwrap();
        let shared = self.run("wg", &["genpsk"], "").unwrap();
        let (key, public, shared) = (key.trim(), public.trim(), shared.trim());
        self.private("wireguard", format!("[Interface]\nPrivateKey = {key}\nAddress = 10.0.0.2/32\n"));
        self.private("wireguard-shared", format!("[Peer]\nPublicKey = {public}\nPresharedKey = {shared}\n"));
        self.public("wireguard", format!("[Peer]\nPublicKey = {public}\nAllowedIPs = 0.0.0.0/0\n"));
    }

    fn minisign(&mut self) {
        if self.run("minisign", &["-G", "-W", "-p", "m.pub", "-s", "m.sec"], "").is_none() {
            return;
        }
        self.private("minisign", self.read("m.sec"));
        self.public("minisign", self.read("m.pub"));
        let _made = self.run("minisign", &["-G", "-p", "p.pub", "-s", "p.sec"], "words\nwords\n");
        self.private("minisign-protected", self.read("p.sec"));
    }

    /// cosign is in no package archive: its documented form (`pkg/cosign/keys.go` of sigstore/cosign), sealed
    /// nothing inside.
    fn cosign(&mut self) {
        let sealed = concat!(
            r#"{"kdf":{"name":"scrypt","params":{"N":65536,"r":8,"p":1},"salt":"c2FsdHNhbHRzYWx0"},"#,
            r#""cipher":{"name":"nacl/secretbox","nonce":"bm9uY2Vub25jZQ=="},"ciphertext":"Y2lwaGVydGV4dA=="}"#
        );
        for kind in ["SIGSTORE", "COSIGN"] {
            let label = format!("ENCRYPTED {kind} {} KEY", ["PRIV", "ATE"].concat());
            let body = super::secrets::wrapped(&super::secrets::base64(sealed.as_bytes()), 64);
            self.private(
                format!("cosign-{kind}"),
                format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"),
            );
        }
    }
}

/// Says which program is not there.
fn is_there(program: &str) -> bool {
    let found = std::env::split_paths(PATH).any(|folder| folder.join(program).is_file());
    if !found {
        eprintln!("not tried: {program} is not installed; .ci/run installs it");
    }
    found
}
