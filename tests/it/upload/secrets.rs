//! The scan of contents, measured on the labelled set in `tests/data/secrets`.

use super::{CONFIG, dry_run, leaves, listed, packed, repo, rows, stays};
use crate::support::{Home, Repo};
use std::collections::BTreeSet;
use std::path::Path;

/// How often each labelled line is made, with other random parts and in other surroundings.
const SEEDS: u64 = 4;

/// What stands around a secret of one line in real files.
const AROUND: [(&str, &str); 6] = [
    ("", ""),
    ("key = \"", "\"  # set by hand"),
    ("export TOKEN=", "\r"),
    ("{\"a\":{\"token\":\"", "\"}}"),
    ("curl 'https://api.acme.dev/?t=", "&x=1'"),
    ("echo \"one\\n", "\\n\""),
];

#[test]
fn the_labelled_secrets_stay_home_and_the_look_alikes_leave() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("repo"));
    let mut labelled = Vec::new();
    for seed in 0..SEEDS {
        for (number, line) in lines("secrets.txt").iter().enumerate() {
            let [rule, name, template] = line[..] else { panic!("{line:?}") };
            let secret = Maker::new(seed * 1000 + number as u64).make(template);
            // What brings its own surroundings is as a program writes it.
            let (before, after) = match secret.trim_end_matches('=').contains(['\n', ' ', '"', '<', '=', ':'])
            {
                true => ("", ""),
                false => AROUND[(seed as usize + number) % AROUND.len()],
            };
            let path = format!("secret/{number:03}-{seed}/{name}");
            repo.write(&path, format!("first\nsecond\n{before}{secret}{after}\nlast\n"));
            labelled.push((path, rule.to_owned(), secret));
        }
        for (number, line) in lines("look-alikes.txt").iter().enumerate() {
            let [name, template] = line[..] else { panic!("{line:?}") };
            let text = Maker::new(seed * 1000 + number as u64).make(template);
            repo.write(&format!("alike/{number:03}-{seed}/{name}"), format!("{text}\n"));
        }
    }
    let kinds: BTreeSet<_> = labelled.iter().map(|(_, rule, _)| rule).collect();
    let alike = lines("look-alikes.txt").len();
    assert!(kinds.len() >= 40 && alike >= 200, "{} kinds, {alike} look-alikes", kinds.len());

    let outcome = home.run_in(repo.root(), &["herdr", "upload", "--dry-run", "--json"]).success();
    let document = outcome.json();
    let stays = stays(&document);
    let missed: Vec<_> = labelled.iter().filter(|(path, ..)| !stays.contains_key(path)).collect();
    let mistaken: Vec<_> = stays.iter().filter(|(path, _)| path.starts_with("alike/")).collect();
    let found = labelled.len() - missed.len();
    eprintln!("recall {found}/{} ({} kinds)", labelled.len(), kinds.len());
    eprintln!("false positives {}/{}", mistaken.len(), alike as u64 * SEEDS);
    assert!(mistaken.is_empty(), "{mistaken:#?}");
    assert!(found * 1000 >= labelled.len() * 995, "{missed:#?}");
    for (path, rule, secret) in labelled.iter().filter(|(path, ..)| stays.contains_key(path)) {
        assert_eq!(stays[path], format!("secret: {rule}"), "{path}");
        let row = document["stays"].as_array().unwrap().iter().find(|row| row["path"] == **path).unwrap();
        let (line, lines) = (row["line"].as_u64().unwrap(), secret.lines().count() as u64);
        assert!((3..3 + lines).contains(&line), "{path} in line {line}");
        assert!(!row["kind"].as_str().unwrap().is_empty());
        assert!(!outcome.stdout.contains(secret.trim()), "the secret itself is never shown");
    }
}

#[test]
fn a_hit_names_file_line_and_kind_and_how_to_allow_it() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let token = Maker::new(7).make("gh~p_{b62:30}{crc}");
    repo.write("src/client.py", format!("import os\n\nTOKEN = '{token}'\n"));
    let outcome = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).success();
    assert!(outcome.stdout.contains("src/client.py:3    (GitHub token, rule github-token)"), "{outcome:?}");
    assert!(outcome.stdout.contains("\"allowSecrets\": [\"PATH\"]"), "{outcome:?}");
    assert!(!format!("{outcome:?}").contains(&token[4..]));
    assert_eq!(listed(&packed(&home, &repo)), ["a.txt"]);
}

#[test]
fn allowing_lifts_hits_and_our_own_names_but_never_the_published_filters() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", ".env", "once.cfg", "web/.htpasswd", "other/.htpasswd", "docs/x.txt"]);
    let token = Maker::new(8).make("gh~p_{b62:30}{crc}");
    repo.write("fixture.txt", &token).write("other.txt", &token).write(".gitignore", "once.cfg\n");
    home.write(
        CONFIG,
        r#"{"excludes": ["docs/"], "allowSecrets": ["fixture.txt", ".env", "once.cfg", "web/.htpasswd", "docs/x.txt"]}"#,
    );
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), [".gitignore", "a.txt", "fixture.txt", "web/.htpasswd"]);
    let expected = rows([
        (".env", "denied: .env"),
        ("docs/x.txt", "excluded: docs/"),
        ("once.cfg", "ignored: git's ignore rules"),
        ("other.txt", "secret: github-token"),
        ("other/.htpasswd", "denied: .htpasswd"),
    ]);
    assert_eq!(stays(&document), expected);
}

#[test]
fn a_secret_at_the_end_of_a_large_file_keeps_all_of_it_home() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "z.txt"]);
    let token = Maker::new(9).make("gh~p_{b62:30}{crc}");
    let filler = "nothing to see\n".repeat(300_000);
    repo.write("large.log", format!("{filler}{token}\n"));
    let document = dry_run(&home, &repo);
    assert_eq!(stays(&document), rows([("large.log", "secret: github-token")]));
    assert_eq!(document["stays"][0]["line"], 300_001);
    let archive = packed(&home, &repo);
    assert_eq!(listed(&archive), ["a.txt", "z.txt"]);
    assert!(std::fs::metadata(&archive).unwrap().len() < 2000, "none of it is in the archive");
}

#[test]
fn an_example_file_that_holds_a_real_secret_stays_home() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let key = Maker::new(10).make("sk_~live_{b62:24}");
    repo.write(".env.example", format!("STRIPE_KEY={key}\n"))
        .write(".env.sample", "STRIPE_KEY=sk_live_...\n");
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), [".env.sample", "a.txt"]);
    assert_eq!(stays(&document), rows([(".env.example", "secret: stripe-key")]));
}

#[test]
fn this_program_and_what_it_is_built_of_lose_no_source_to_the_scan() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("repo"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "tests", "templates", "docs", "benches", ".github", ".ci"] {
        copy(&own.join(folder), &repo.root().join("own").join(folder));
    }
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        std::path::PathBuf::from,
    );
    let indexes = std::fs::read_dir(cargo.join("registry/src")).into_iter().flatten().flatten();
    let mut crates: Vec<_> = indexes
        .flat_map(|index| std::fs::read_dir(index.path()).unwrap())
        .map(|at| at.unwrap().path())
        .collect();
    // Other programs' crates come and go there.
    let lock = std::fs::read_to_string(own.join("Cargo.lock")).unwrap();
    let values = |key: &str| {
        let begin = format!("{key} = \"");
        lock.lines().filter_map(move |line| line.strip_prefix(&begin)?.strip_suffix('"')).collect::<Vec<_>>()
    };
    // The first version is the file's own.
    let (names, versions) = (values("name"), values("version"));
    let ours: BTreeSet<String> =
        names.iter().zip(&versions).map(|(name, version)| format!("{name}-{version}")).collect();
    crates.retain(|folder| ours.contains(folder.file_name().unwrap().to_str().unwrap()));
    if crates.is_empty() {
        eprintln!("not tried: no sources of crates below {}", cargo.display());
    }
    for folder in &crates {
        copy(&folder.join("src"), &repo.root().join("crates").join(folder.file_name().unwrap()));
    }
    home.own(home.path());
    let mut stays = stays(&dry_run(&home, &repo));
    // The keys of a crate's own tests are some.
    stays.retain(|path, _| !path.ends_with(".pem") && !path.ends_with("_private_key.der"));
    assert_eq!(stays, rows([]));
}

/// The files below a folder that are texts by their size.
fn copy(from: &Path, to: &Path) {
    let Ok(entries) = std::fs::read_dir(from) else { return };
    std::fs::create_dir_all(to).unwrap();
    for entry in entries.map(Result::unwrap) {
        let at = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&entry.path(), &at),
            kind if kind.is_file() && entry.metadata().unwrap().len() < 200_000 => {
                std::fs::copy(entry.path(), at).map(|_| ()).unwrap();
            }
            _ => {}
        }
    }
}

/// A labelled file's lines, each cut at its tabs.
fn lines(name: &str) -> &'static [Vec<&'static str>] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/secrets").join(name);
    let text: &'static str = Box::leak(std::fs::read_to_string(path).unwrap().into_boxed_str());
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    Box::leak(lines.into_boxed_slice())
}

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BECH32: &[u8] = b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";

/// Makes the random parts of a labelled line, and their check digits, independently of the program.
pub(super) struct Maker(u64);

impl Maker {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    }

    fn pick(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(alphabet[self.next() as usize % alphabet.len()])).collect()
    }

    pub(super) fn make(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((mark, after)) = after.split_once('}').filter(|(mark, _)| is_mark(mark)) else {
                text.push('{');
                rest = after;
                continue;
            };
            let piece = self.piece(mark, &text);
            text.push_str(&piece);
            rest = after;
        }
        text.push_str(rest);
        // Random parts hold none, and so only what keeps the data from being literal goes.
        text.replace("~~", "\u{0}").replace('~', "").replace('\u{0}', "~")
    }

    fn piece(&mut self, mark: &str, before: &str) -> String {
        let (name, value) = mark.split_once(':').unwrap_or((mark, ""));
        let count = || value.parse().unwrap();
        match name {
            "n" => "\n".into(),
            "r" => "\r".into(),
            "crc" => crc32_base62(&before.as_bytes()[before.len() - 30..]),
            "bech" => self.bech32("age-secret-key-"),
            "role" => {
                let part = |text: &str| base64url(text.as_bytes());
                let payload =
                    format!(r#"{{"iss":"supabase","ref":"abc","role":"{value}","exp":2000000000}}"#);
                format!(
                    "{}.{}.{}",
                    part(r#"{"alg":"HS256","typ":"JWT"}"#),
                    part(&payload),
                    self.pick(BASE62, 43)
                )
            }
            "jwt" => {
                let part = |text: &str| base64url(text.as_bytes());
                let payload = format!(r#"{{"sub":"{value}","iat":1790000000,"exp":1890000000}}"#);
                let signature = self.pick(&[BASE62, b"-_"].concat(), 42);
                format!("{}.{}.{signature}A", part(r#"{"alg":"HS256","typ":"JWT"}"#), part(&payload))
            }
            "wg" => {
                let mut key: Vec<u8> = (0..32).map(|_| self.next() as u8).collect();
                key[0] &= 0xf8;
                key[31] = key[31] & 0x7f | 0x40;
                base64(&key)
            }
            "id64" => base64url(self.pick(b"123456789", count()).as_bytes()),
            "dop" => self.pick(b"abcdefghijklmnopqrstuvwxyz234567", count()),
            "pem64" | "cert64" => {
                let (before, width) = value.split_once(':').unwrap_or((value, "0"));
                let label = if name == "pem64" { "EC PRIVATE KEY" } else { "CERTIFICATE" };
                let body = self.pick(&[BASE62, b"+/"].concat(), 200);
                let body: Vec<&str> = [&body[..64], &body[64..128], &body[128..]].into();
                let before = "x".repeat(before.parse().unwrap());
                let pem =
                    format!("{before}-----BEGIN {label}-----\n{}\n-----END {label}-----\n", body.join("\n"));
                wrapped(&base64(pem.as_bytes()), width.parse().unwrap())
            }
            "b62" => self.pick(BASE62, count()),
            "hex" => self.pick(b"0123456789abcdef", count()),
            "HEX" => self.pick(b"0123456789ABCDEF", count()),
            "low" => self.pick(b"0123456789abcdefghijklmnopqrstuvwxyz", count()),
            "up" => self.pick(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", count()),
            "b32" => self.pick(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count()),
            "dig" => self.pick(b"0123456789", count()),
            "let" => self.pick(&BASE62[10..], count()),
            "b64" => self.pick(&[BASE62, b"+/"].concat(), count()),
            _ => self.pick(&[BASE62, b"-_"].concat(), count()),
        }
    }

    fn bech32(&mut self, prefix: &str) -> String {
        let digits: Vec<u32> = (0..52).map(|_| (self.next() % 32) as u32).collect();
        let expanded = prefix.bytes().map(|c| u32::from(c) >> 5);
        let expanded = expanded.chain([0]).chain(prefix.bytes().map(|c| u32::from(c) & 31));
        let sum = polymod(expanded.chain(digits.iter().copied()).chain([0; 6])) ^ 1;
        let check = (0..6).map(|at| sum >> (5 * (5 - at)) & 31);
        digits.iter().copied().chain(check).map(|digit| char::from(BECH32[digit as usize])).collect()
    }
}

fn is_mark(text: &str) -> bool {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    match name {
        "n" | "r" | "crc" | "bech" => value.is_empty(),
        "wg" => value.is_empty(),
        "role" | "jwt" => !value.is_empty() && value.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'),
        "pem64" | "cert64" => !value.is_empty(),
        "id64" | "dop" | "b62" | "hex" | "HEX" | "low" | "up" | "b32" | "b64" | "url" | "dig" | "let" => {
            value.parse::<usize>().is_ok()
        }
        _ => false,
    }
}

/// CRC-32 bit by bit, in six digits of base 62.
fn crc32_base62(bytes: &[u8]) -> String {
    let mut crc = !0_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut value = !crc as usize;
    let mut digits = Vec::new();
    for _ in 0..6 {
        digits.push(BASE62[value % 62]);
        value /= 62;
    }
    digits.iter().rev().map(|digit| char::from(*digit)).collect()
}

/// The checksum of BIP 173.
fn polymod(values: impl Iterator<Item = u32>) -> u32 {
    values.fold(1, |sum, value| {
        let top = sum >> 25;
        let next = (sum & 0x1ff_ffff) << 5 ^ value;
        [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
            .iter()
            .enumerate()
            .filter(|(bit, _)| top >> bit & 1 == 1)
            .fold(next, |next, (_, generator)| next ^ generator)
    })
}

/// In lines of so many characters; 0 is one line.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    if width == 0 {
        return text.into();
    }
    text.as_bytes()
        .chunks(width)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Base64 with its padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    let text = digits_of(bytes, b"+/");
    let fill = "=".repeat((4 - text.len() % 4) % 4);
    text + &fill
}

fn base64url(bytes: &[u8]) -> String {
    digits_of(bytes, b"-_")
}

fn digits_of(bytes: &[u8], last: &[u8; 2]) -> String {
    let digits = [&BASE62[10..36], &BASE62[36..], &BASE62[..10], last].concat();
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let held =
            chunk.iter().fold(0_u32, |held, byte| held << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(digits[(held >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}
