//! install.sh: every shell, both downloaders, and everything that can go wrong on the way.

use crate::support::{Answer, Herdr, Home, Outcome, PATH, Pty, Server, User, eventually, outcome, program};
use sha2::Digest as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a release holds: it runs, and says its version.
pub(crate) const BINARY: &str = "#!/bin/sh\necho \"createos-sandbox 9.9.9 $*\"\n";
/// What is there already.
const OLD: &str = "#!/bin/sh\necho old\n";

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh")
}

/// The asset for the machine that runs the tests.
pub(crate) fn asset() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("createos-sandbox-{}-{system}", std::env::consts::ARCH)
}

fn sha256(bytes: &[u8]) -> String {
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server with the newest release and version 9.9.9, which are the same.
pub(crate) fn release() -> Server {
    let server = Server::new();
    for folder in ["/latest/download", "/download/v9.9.9"] {
        let sums = format!("{}  other\n{}  {}\n", "0".repeat(64), sha256(BINARY.as_bytes()), asset());
        server.at(&format!("{folder}/SHA256SUMS"), Answer::ok(sums));
        server.at(&format!("{folder}/{}", asset()), Answer::ok(BINARY));
    }
    server
}

pub(crate) fn run(home: &Home, shell: &[&str], args: &[&str]) -> Outcome {
    let script = script();
    let all = [&shell[1..], &[script.to_str().expect("text")], args].concat();
    let mut command = home.command_of(Path::new(shell[0]), &all);
    // As little as a fresh machine has.
    command.env_remove("XDG_RUNTIME_DIR").env_remove("TMPDIR");
    outcome(command)
}

pub(crate) fn install(home: &Home, server: &Server, args: &[&str]) -> Outcome {
    run(home, &["sh"], &[&["--base-url", &server.url("")], args].concat())
}

/// Everything in the folder, so that nothing half done can hide.
pub(crate) fn listing(home: &Home) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(home.path().join(".local/bin")) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

/// A home in which an older binary is installed.
pub(crate) fn with_old() -> Home {
    let home = Home::new();
    program(&home, ".local/bin/createos-sandbox", OLD);
    home
}

#[track_caller]
pub(crate) fn old_is_untouched(home: &Home) {
    assert_eq!(home.read(".local/bin/createos-sandbox"), OLD);
    assert_eq!(listing(home), ["createos-sandbox"]);
}

/// The shells of this machine, of those that a user may have.
pub(crate) fn shells() -> Vec<Vec<&'static str>> {
    let known = [
        vec!["dash"],
        vec!["bash"],
        vec!["bash", "--posix"],
        vec!["busybox", "ash"],
        vec!["ash"],
        vec!["ksh"],
    ];
    known.into_iter().filter(|shell| which::which_in(shell[0], Some(PATH), "/").is_ok()).collect()
}

/// A PATH with everything that the script needs and one downloader, or none.
pub(crate) fn tools(home: &Home, downloader: Option<(&str, &str)>) -> PathBuf {
    let folder = home.path().join("tools");
    std::fs::create_dir(&folder).expect("a folder");
    let needed = ["sh", "uname", "mktemp", "mkdir", "mv", "rm", "chmod", "cat", "sha256sum", "shasum"];
    for (name, program) in needed.map(|name| (name, name)).into_iter().chain(downloader) {
        if let Ok(path) = which::which_in(program, Some(PATH), "/") {
            symlink(path, folder.join(name)).expect("a link");
        }
    }
    folder
}

#[test]
fn every_shell_installs_the_newest_release() {
    let server = release();
    assert!(!shells().is_empty());
    for shell in shells() {
        let home = Home::new();
        let done = run(&home, &shell, &["--base-url", &server.url("/")]).success();
        assert!(
            done.stdout.starts_with("Installed createos-sandbox 9.9.9 --version to "),
            "{shell:?} {done:?}"
        );
        let next = format!(
            "with CreateOS microVMs: {}/.local/bin/createos-sandbox setup herdr\n",
            home.path().display()
        );
        assert!(done.stdout.contains("is not on PATH") && done.stdout.ends_with(&next), "{done:?}");
        assert_eq!(home.read(".local/bin/createos-sandbox"), BINARY, "{shell:?}");
        assert_eq!(listing(&home), ["createos-sandbox"], "{shell:?}");
        let mode = home.path().join(".local/bin/createos-sandbox").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{shell:?}");
    }
}

#[test]
fn each_downloader_will_do_and_none_is_an_error() {
    let server = release();
    for downloader in [("curl", "curl"), ("wget", "wget"), ("wget", "busybox")] {
        if which::which_in(downloader.1, Some(PATH), "/").is_err() {
            continue;
        }
        let home = Home::new();
        let path = tools(&home, Some(downloader));
        let home = home.var("PATH", path.to_str().expect("text"));
        let _ = install(&home, &server, &[]).success();
        assert_eq!(home.read(".local/bin/createos-sandbox"), BINARY, "{downloader:?}");

        server.at("/download/v1.0.0/SHA256SUMS", Answer::cut("0123", 500));
        let cut = install(&home, &server, &["--version", "1.0.0"]);
        assert_eq!(cut.code, 1, "{downloader:?}: {cut:?}");
        let gone = install(&home, &server, &["--version", "8.0.0"]);
        assert!(
            ["the server does not have it", "404"].iter().any(|why| gone.stderr.contains(why)),
            "{downloader:?}: {gone:?}"
        );
    }
    let home = Home::new();
    let path = tools(&home, None);
    let home = home.var("PATH", path.to_str().expect("text"));
    install(&home, &server, &[]).fails(1, "neither curl nor wget");
}

#[test]
fn a_version_and_a_folder_can_be_asked_for() {
    let (home, server) = (Home::new(), release());
    let _ = install(&home, &server, &["--version=v9.9.9", "--dir", "my tools/bin"]).success();
    assert_eq!(home.read("my tools/bin/createos-sandbox"), BINARY);
    let asset = format!("/download/v9.9.9/{}", asset());
    assert_eq!(server.asked(), ["/download/v9.9.9/SHA256SUMS", asset.as_str()]);
}

#[test]
fn redirects_are_followed() {
    let (home, server) = (Home::new(), release());
    for file in ["SHA256SUMS".to_owned(), asset()] {
        server.at(
            &format!("/moved/latest/download/{file}"),
            Answer::redirect(&server.url(&format!("/latest/download/{file}"))),
        );
    }
    let _ = run(&home, &["sh"], &["--base-url", &server.url("/moved")]).success();
    assert_eq!(home.read(".local/bin/createos-sandbox"), BINARY);
}

#[test]
fn whatever_the_server_answers_the_old_binary_stays_under_every_shell() {
    for shell in shells() {
        let (home, server) = (with_old(), release());
        let file = format!("/latest/download/{}", asset());
        let install = |args: &[&str]| run(&home, &shell, &[&["--base-url", &server.url("")], args].concat());

        server.at(&file, Answer::ok(format!("{BINARY}tampered")));
        let refused = install(&[]).fails(1, "the checksum of");
        assert!(refused.stderr.contains(&sha256(BINARY.as_bytes())), "{shell:?} {refused:?}");
        old_is_untouched(&home);

        server.at(&file, Answer::cut(&BINARY[..20], BINARY.len()));
        let cut = install(&[]).fails(1, "error: could not download");
        assert!(cut.stderr.contains("help: nothing was changed"), "{shell:?} {cut:?}");
        old_is_untouched(&home);
        // Also when the server lies about the length: then the checksum tells.
        for short in [&BINARY[..20], ""] {
            server.at(&file, Answer::ok(short));
            install(&[]).fails(1, "the checksum of");
            old_is_untouched(&home);
        }

        install(&["--version", "1.2.3"]).fails(1, "/download/v1.2.3/SHA256SUMS: the server does not have it");
        let other = format!("{}  other-{}\n", "0".repeat(64), asset());
        for sums in [other.as_str(), ""] {
            server.at("/latest/download/SHA256SUMS", Answer::ok(sums));
            install(&[]).fails(1, "does not list createos-sandbox-");
        }
        old_is_untouched(&home);

        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        run(&home, &shell, &["--base-url", &format!("http://{closed}")])
            .fails(1, "the server cannot be reached");
        old_is_untouched(&home);
    }
}

#[test]
fn ctrl_c_in_the_middle_of_a_download_leaves_the_old_binary() {
    for shell in shells() {
        let (home, server) = (with_old(), release());
        let file = format!("/latest/download/{}", asset());
        server.at(&file, Answer::stalled(&BINARY[..20], BINARY.len()));
        let script = script();
        let url = server.url("");
        let args = [&shell[1..], &[script.to_str().expect("text"), "--base-url", &url]].concat();
        let mut terminal = Pty::spawn(home.command_of(Path::new(shell[0]), &args), 24, 100);
        eventually("it downloads", Duration::from_secs(60), || server.asked().contains(&file));
        terminal.send("\x03");
        let ended = terminal.wait(Duration::from_secs(60));
        let code = ended.code().or(ended.signal().map(|signal| 128 + signal));
        assert_eq!(code, Some(130), "{shell:?}: {}", terminal.text());
        old_is_untouched(&home);
    }
}

#[test]
fn without_space_the_old_binary_stays() {
    let (home, server) = (with_old(), release());
    let large = vec![b'#'; 200_000];
    let sums = format!("{}  {}\n", sha256(&large), asset());
    server.at("/latest/download/SHA256SUMS", Answer::ok(sums));
    server.at(&format!("/latest/download/{}", asset()), Answer::ok(large));
    // A limit on the size of files is what a full disk looks like, for every user.
    let limited = "trap '' XFSZ; ulimit -f 8; exec sh \"$@\"";
    let large_file = "yes | head -c 100000 > large";
    let _ = outcome(home.command_of(Path::new("sh"), &["-c", limited, "x", "-c", large_file]));
    assert!(home.read("large").len() < 100_000, "the limit bites");
    let full = run(&home, &["sh", "-c", limited, "x"], &["--base-url", &server.url("")]);
    assert_eq!(full.code, 1, "{full:?}");
    assert!(full.stderr.contains("could not download"), "{full:?}");
    old_is_untouched(&home);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_never_a_sudo() {
    let server = release();
    for user in User::all() {
        let home = Home::of(user);
        program(&home, "bin/sudo", "#!/bin/sh\ntouch \"$HOME/sudo-was-called\"\n");
        let home = home.with_bin();
        std::fs::create_dir(home.path().join("closed")).unwrap();
        home.own(home.path());
        home.mode("closed", 0o555);
        let probe = outcome(home.command_of(Path::new("sh"), &["-c", ": > closed/probe"]));
        let dir = if probe.code == 0 {
            // Root writes anywhere, but not into a file.
            home.write("closed-file", "");
            "closed-file/bin"
        } else {
            "closed"
        };
        let refused = install(&home, &server, &["--dir", dir]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains("choose another"), "{refused:?}");
        assert!(!home.path().join("sudo-was-called").exists());
    }
}

#[test]
fn a_binary_that_does_not_run_here_is_not_installed() {
    let (home, server) = (with_old(), release());
    let broken = "\u{7f}ELF not for this machine";
    server.at(
        "/latest/download/SHA256SUMS",
        Answer::ok(format!("{} *{}\n", sha256(broken.as_bytes()), asset())),
    );
    server.at(&format!("/latest/download/{}", asset()), Answer::ok(broken));
    install(&home, &server, &[]).fails(1, "does not run on this machine");
    old_is_untouched(&home);
}

#[test]
fn plain_http_is_for_this_machine_only() {
    let home = Home::new();
    for url in ["http://example.invalid", "http://127.0.0.1.example.invalid", "ftp://x", "file:///x"] {
        run(&home, &["sh"], &["--base-url", url]).fails(2, "must start with https://");
    }
}

#[test]
fn a_dry_run_does_nothing() {
    let (home, server) = (Home::new(), release());
    let told = install(&home, &server, &["--dry-run", "--shim"]).success();
    let base = server.url("");
    let binary = home.path().join(".local/bin/createos-sandbox").display().to_string();
    assert_eq!(
        told.stdout,
        format!(
            "Would download the newest release for {} from {base}\nWould put it at {binary}\nWould run: {binary} shim install\n",
            asset().trim_start_matches("createos-sandbox-")
        )
    );
    assert!(!home.path().join(".local").exists());
    assert!(server.asked().is_empty());
}

#[test]
fn the_shim_comes_and_goes_with_the_binary() {
    let (home, server) = (Home::new(), release());
    let done = install(&home, &server, &["--shim"]).success();
    assert!(done.stdout.contains("createos-sandbox 9.9.9 shim install"), "{done:?}");
    let told = run(&home, &["sh"], &["--uninstall", "--dry-run"]).success();
    assert!(told.stdout.contains("Would remove"), "{told:?}");
    assert_eq!(listing(&home), ["createos-sandbox"]);
    home.write(".local/share/createos-sandbox/receipt", "");
    let removed = run(&home, &["sh"], &["--uninstall"]).success();
    assert!(removed.stdout.contains("stays: it holds what undo needs"), "{removed:?}");
    assert!(listing(&home).is_empty());
    assert!(run(&home, &["sh"], &["--uninstall"]).success().stdout.contains("There is no"));
}

#[test]
fn nothing_is_uninstalled_while_herdr_is_set_up_with_it() {
    let receipt = ".local/share/createos-sandbox/receipts/herdr.json";
    for by_registry in [false, true] {
        let home = with_old();
        if by_registry {
            let root = home.path().join(".local/share/createos-sandbox/herdr-plugin").display().to_string();
            home.write(".config/herdr/plugins.json", format!("[{{\"plugin_root\":\"{root}\"}}]"));
        } else {
            home.write(receipt, "{}");
        }
        let refused = run(&home, &["sh"], &["--uninstall"]).fails(1, "Herdr is still set up");
        assert!(refused.stderr.contains("help: first: createos-sandbox setup herdr --undo"), "{refused:?}");
        old_is_untouched(&home);
        let _ = run(&home, &["sh"], &["--uninstall", "--force"]).success();
        assert!(listing(&home).is_empty());
    }
    // The file is the one that a real setup writes.
    let home = crate::setup::machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "herdr"]).success();
    assert!(home.path().join(receipt).exists());
}

#[test]
fn a_checkout_is_built_with_cargo() {
    let home = Home::new();
    home.write("checkout/Cargo.toml", "[package]\n");
    program(&home, "checkout/install.sh", &std::fs::read_to_string(script()).unwrap());
    program(
        &home,
        "bin/cargo",
        "#!/bin/sh\necho \"$*\" > \"$HOME/asked\"\nwhile [ \"$1\" != --root ]; do shift; done\nmkdir -p \"$2/bin\"\n\
         case \":$PATH:\" in *\":$2/bin:\"*) ;; *) echo \"add $2/bin to your PATH\" >&2 ;; esac\n\
         printf '#!/bin/sh\\necho built\\n' > \"$2/bin/createos-sandbox\"\n",
    );
    let run = |home: &Home| outcome(home.command_of(&home.path().join("checkout/install.sh"), &[]));
    let home = home.with_bin();
    let done = run(&home).success();
    let (before, after) = done.stdout.split_once('\n').expect("two lines");
    assert!(before.contains("the first time takes some minutes"), "{done:?}");
    assert!(after.starts_with("Installed built to "), "{done:?}");
    assert_eq!(done.stderr, "", "cargo does not advise to put a folder on PATH that is gone in a moment");
    let checkout = home.path().join("checkout").display().to_string();
    let asked = home.read("asked");
    assert!(
        asked.starts_with(&format!("install --quiet --locked --no-track --path {checkout} --root ")),
        "{asked}"
    );
    assert_eq!(listing(&home), ["createos-sandbox"]);
    let mut terminal = Pty::spawn(home.command_of(&home.path().join("checkout/install.sh"), &[]), 24, 200);
    assert!(terminal.wait(Duration::from_secs(60)).success(), "{}", terminal.text());
    assert!(home.read("asked").starts_with("install --locked "), "cargo shows its progress on a terminal");

    // A build that fails, and no cargo at all, change nothing.
    let home = with_old();
    home.write("checkout/Cargo.toml", "[package]\n");
    program(&home, "checkout/install.sh", &std::fs::read_to_string(script()).unwrap());
    program(&home, "bin/cargo", "#!/bin/sh\nexit 101\n");
    let home = home.with_bin();
    run(&home).fails(1, "the build failed");
    old_is_untouched(&home);
}

#[test]
fn a_copy_without_a_place_says_so_and_wrong_use_is_named() {
    let home = Home::new();
    let copy = std::fs::File::open(script()).unwrap();
    let mut piped = home.command_of(Path::new("sh"), &["-s"]);
    piped.stdin(copy);
    outcome(piped).fails(1, "knows no place to download from");
    run(&home, &["sh"], &["--bogus"]).fails(2, "unknown option: --bogus");
    run(&home, &["sh"], &["--dir"]).fails(2, "--dir needs a value");
    run(&home, &["sh"], &["--version", "1; rm -rf /"]).fails(2, "this is no version");
    assert!(run(&home, &["sh"], &["--help"]).success().stdout.contains("--uninstall"));
}

#[test]
fn half_a_script_does_nothing() {
    let home = Home::new();
    let text = std::fs::read_to_string(script()).unwrap();
    for part in [text.len() / 3, text.len() / 2, text.len() - 20] {
        let half = home.write("half.sh", &text[..part]);
        let mut command = home.command_of(Path::new("sh"), &["-s", "--", "--uninstall"]);
        command.stdin(std::fs::File::open(half).unwrap());
        let _ = outcome(command);
        assert!(!home.path().join(".local").exists());
    }
}
