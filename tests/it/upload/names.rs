//! Names and kinds of files that are seldom seen.

use super::{dry_run, leaves, listed, packed, repo, rows, stays, unpacked};
use crate::support::{Home, Repo, User};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

#[test]
fn odd_names_arrive_byte_for_byte() {
    let home = Home::new();
    let repo = repo(
        &home,
        &["-rf", "--help", " ", "a b/c\td", "line\nfeed", "ünï/c😀", "*", "q\"uote", "back\\slash"],
    );
    let bytes = OsStr::from_bytes(b"not-\xff-utf8");
    let odd_bytes = std::fs::write(repo.root().join(bytes), "bytes").is_ok();
    let document = dry_run(&home, &repo);
    let folder = unpacked(&home, &packed(&home, &repo));
    for name in ["-rf", "--help", " ", "a b/c\td", "line\nfeed", "ünï/c😀", "*", "q\"uote", "back\\slash"]
    {
        assert!(leaves(&document).contains(&name.to_owned()), "{name:?}");
        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), format!("contents of {name}\n"));
    }
    // macOS knows no names that are not UTF-8.
    if odd_bytes {
        assert_eq!(std::fs::read(folder.join(bytes)).unwrap(), b"bytes");
        let row =
            document["leaves"].as_array().unwrap().iter().find(|row| row["pathHex"].is_string()).unwrap();
        assert_eq!(row["pathHex"], "6e6f742dff2d75746638");
    }
}

#[test]
fn hostile_names_are_shown_escaped_on_one_line() {
    let home = Home::new();
    let repo = repo(&home, &["line\nfeed", "esc\u{1b}[2J", "\u{202e}rtl.env"]);
    let text = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).success().stdout;
    assert!(
        text.contains("line\\nfeed") && text.contains("esc\\x1b[2J") && text.contains("\\u{202e}rtl.env"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn a_path_of_four_thousand_bytes_arrives() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    // Sixteen components: longer than the kernel takes in one piece once the root is before it.
    let component = "d".repeat(249);
    let mut folder =
        rustix::fs::open(repo.root(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..15 {
        rustix::fs::mkdirat(&folder, &component, Mode::from(0o755)).unwrap();
        folder = rustix::fs::openat(&folder, &component, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            .unwrap();
    }
    let name = "f".repeat(250);
    let file =
        rustix::fs::openat(&folder, &name, OFlags::CREATE | OFlags::WRONLY, Mode::from(0o644)).unwrap();
    rustix::io::write(&file, b"deep").unwrap();
    let path = format!("{}{name}", format!("{component}/").repeat(15));
    assert_eq!(path.len(), 4000);
    assert_eq!(leaves(&dry_run(&home, &repo)), ["a.txt", &path]);
    repo.git(&["add", "-A"]);
    assert_eq!(leaves(&dry_run(&home, &repo)), ["a.txt", &path]);
    assert_eq!(listed(&packed(&home, &repo)), ["a.txt", &path]);
}

#[test]
fn pipes_and_sockets_are_never_read() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "was-file", "was-file-2", "was-file-3"]);
    for name in ["was-file", "was-file-2", "was-file-3"] {
        std::fs::remove_file(repo.root().join(name)).unwrap();
    }
    for name in ["was-file", "new-pipe"] {
        assert!(Command::new("mkfifo").arg(repo.root().join(name)).status().unwrap().success());
    }
    let _socket = UnixListener::bind(repo.root().join("was-file-2")).unwrap();
    let _other = UnixListener::bind(repo.root().join("new-socket")).unwrap();
    std::fs::create_dir(repo.root().join("was-file-3")).unwrap();
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ["a.txt"]);
    let expected = rows([
        ("was-file", "special: a pipe"),
        ("was-file-2", "special: a socket"),
        ("was-file-3", "special: a folder"),
    ]);
    assert_eq!(stays(&document), expected);
    assert_eq!(listed(&packed(&home, &repo)), ["a.txt"]);
}

#[test]
fn a_file_that_may_not_be_read_is_left_out_and_named() {
    for user in User::all() {
        let home = Home::of(user);
        let repo = repo(&home, &["a.txt", "closed.txt"]);
        home.mode("repo/closed.txt", 0);
        let bites = !home.command_of("cat".as_ref(), &["repo/closed.txt"]).output().unwrap().status.success();
        let document = dry_run(&home, &repo);
        if bites {
            assert_eq!(leaves(&document), ["a.txt"]);
            assert!(stays(&document)["closed.txt"].starts_with("unreadable: "), "{document}");
        } else {
            assert_eq!(leaves(&document), ["a.txt", "closed.txt"], "root reads everything");
        }
    }
}

#[test]
fn a_name_that_is_gits_own_elsewhere_stays_home() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("repo"));
    repo.git(&["config", "core.protectNTFS", "false"]);
    repo.write("git~1/hooks", "x").write("a.txt", "x").commit("one");
    let document = dry_run(&home, &repo);
    assert_eq!(stays(&document), rows([("git~1/hooks", "name: a path inside .git")]));
}
