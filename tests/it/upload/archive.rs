//! The archive: what it holds, and that the same tree gives the same bytes.

use super::{dry_run, listed, packed, repo, tar, unpacked};
use crate::support::{Home, Pty, Repo, outcome};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

#[test]
fn it_holds_what_the_dry_run_says_and_no_folders() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "b/c.txt", ".env"]);
    let document = dry_run(&home, &repo);
    let archive = home.path().join("a.tgz");
    let written =
        home.run_in(repo.root(), &["herdr", "upload", "--json", "--output", archive.to_str().unwrap()]);
    let written = written.success().json();
    assert_eq!(written["schemaVersion"], 1);
    assert_eq!(written["digest"], document["digest"]);
    assert_eq!(written["archive"]["bytes"], std::fs::metadata(&archive).unwrap().len());
    assert_eq!(listed(&archive), ["a.txt", "b/c.txt"]);
}

#[test]
fn executable_bits_stay_and_owner_and_time_do_not() {
    let home = Home::new();
    let repo = repo(&home, &["plain", "run.sh"]);
    std::fs::set_permissions(repo.root().join("run.sh"), std::fs::Permissions::from_mode(0o4711)).unwrap();
    std::fs::set_permissions(repo.root().join("plain"), std::fs::Permissions::from_mode(0o606)).unwrap();
    let archive = packed(&home, &repo);
    let text = tar(&["-tvzf", archive.to_str().unwrap(), "--numeric-owner", "--full-time"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("-rw-r--r-- 0/0") && lines[0].contains("2000-01-01"), "{text}");
    assert!(lines[1].starts_with("-rwxr-xr-x 0/0") && lines[1].contains("2000-01-01"), "{text}");
}

/// Enough files for several chunks and members, one of them large.
fn many(home: &Home, name: &str) -> Repo {
    let repo = Repo::init(&home.path().join(name));
    for number in 0..300_u32 {
        repo.write(&format!("f/{}/{number}.txt", number % 7), format!("{number}\n").repeat(1000));
    }
    repo.write("large.bin", noise(5_000_000));
    repo
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn the_same_tree_gives_the_same_bytes_whatever_the_cores() {
    let home = Home::new();
    let (one, two) = (many(&home, "one"), many(&home, "two"));
    two.git(&["add", "-A"]);
    let archive = |repo: &Repo, cpus: Option<&str>| {
        let args = ["herdr", "upload", "--output", "-"];
        let mut command = match cpus {
            None => home.command(&args),
            Some(cpus) => {
                let binary = crate::support::binary();
                let mut command = home.command_of(Path::new("taskset"), &["-c", cpus]);
                command.arg(binary).args(args);
                command
            }
        };
        let output = command.current_dir(repo.root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let bytes = archive(&one, None);
    assert_eq!(bytes, archive(&two, None), "another place, tracked or not, other times");
    if cfg!(target_os = "linux") {
        assert!(bytes == archive(&one, Some("0")), "on one core");
    }
    std::fs::write(home.path().join("b.tgz"), &bytes).unwrap();
    let folder = unpacked(&home, &home.path().join("b.tgz"));
    assert_eq!(std::fs::read(folder.join("large.bin")).unwrap(), noise(5_000_000));
    assert_eq!(std::fs::read_to_string(folder.join("f/6/6.txt")).unwrap(), "6\n".repeat(1000));
}

#[test]
fn an_empty_worktree_is_an_empty_archive() {
    let home = Home::new();
    let repo = repo(&home, &[]);
    assert!(listed(&packed(&home, &repo)).is_empty());
}

#[test]
fn an_archive_in_the_worktree_is_not_part_of_the_next_one() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    for _ in 0..2 {
        let _ = home.run_in(repo.root(), &["herdr", "upload", "--output", "out.tgz"]).success();
        assert_eq!(listed(&repo.root().join("out.tgz")), ["a.txt"]);
    }
}

#[test]
fn an_archive_that_cannot_be_written_leaves_nothing_behind() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let outcome = home.run_in(repo.root(), &["herdr", "upload", "--output", "/nonexistent/a.tgz"]);
    let _ = outcome.fails(1, "/nonexistent");
    std::fs::create_dir(home.path().join("taken")).unwrap();
    let outcome = home.run_in(repo.root(), &["herdr", "upload", "--output", "../taken"]);
    let _ = outcome.fails(1, "taken");
    let left = std::fs::read_dir(home.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".createos-sandbox")), "{left:?}");
}

#[test]
fn a_reader_that_goes_away_is_an_error_and_not_a_hang() {
    let home = Home::new();
    let repo = repo(&home, &[]);
    repo.write("a.bin", noise(1_500_000)).write("b.bin", noise(4_000_000));
    let binary = crate::support::binary();
    let script = "set -o pipefail; \"$1\" herdr upload --output - | head -c 10 >/dev/null";
    let mut command = home.command_of(Path::new("bash"), &["-c", script, "bash", binary.to_str().unwrap()]);
    command.current_dir(repo.root());
    let _ = outcome(command).fails(1, "could not write the archive");
}

#[test]
fn a_bar_is_shown_to_a_person_who_waits_longer_than_a_second() {
    let home = Home::new();
    let repo = repo(&home, &[]);
    // More than a pipe holds, so that the packer has to wait for its reader.
    for (number, bytes) in noise(1_600_000).chunks(4000).enumerate() {
        repo.write(&format!("{number}.bin"), bytes);
    }
    let binary = crate::support::binary();
    let script = "\"$1\" herdr upload --output - | { sleep 1.2; cat >/dev/null; }; echo done";
    let mut command = home.command_of(Path::new("sh"), &["-c", script, "sh", binary.to_str().unwrap()]);
    command.current_dir(repo.root());
    let mut pty = Pty::spawn(command, 24, 80);
    pty.expect("done", Duration::from_secs(60));
    pty.wait(Duration::from_secs(60));
    assert!(pty.text().contains("/400 files"), "{}", pty.text());
    // Nobody watches a pipe.
    let quiet = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).success();
    assert_eq!(quiet.stderr, "");
}
