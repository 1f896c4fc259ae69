//! Which worktree it is, and what git must not be made to do.

use super::{dry_run, leaves, listed, packed, repo, stays};
use crate::support::{Home, Repo, User};
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn a_folder_outside_git_is_a_clear_error() {
    let home = Home::new();
    let outcome = home.run(&["herdr", "upload", "--dry-run"]).fails(2, "is not in a git worktree");
    assert!(outcome.stderr.contains("help: "), "{outcome:?}");
    let json = home.run(&["herdr", "upload", "--dry-run", "--json"]);
    assert_eq!((json.code, json.json()["ok"].as_bool()), (2, Some(false)));
    let repo = repo(&home, &["a.txt"]);
    let inside = home.run_in(&repo.root().join(".git"), &["herdr", "upload", "--dry-run"]);
    let _ = inside.fails(2, "not in a worktree");
    repo.git(&["clone", "-q", "--bare", ".", "../bare"]);
    let bare = home.run_in(&home.path().join("bare"), &["herdr", "upload", "--dry-run"]);
    let _ = bare.fails(2, "not in a worktree");
}

#[test]
fn a_subfolder_means_the_whole_worktree() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "sub/b.txt"]);
    let document = home.run_in(&repo.root().join("sub"), &["herdr", "upload", "--dry-run", "--json"]);
    assert_eq!(leaves(&document.success().json()), ["a.txt", "sub/b.txt"]);
}

#[test]
fn a_linked_worktree_leaves_without_its_git_file() {
    let home = Home::new();
    let main = repo(&home, &["a.txt", ".env"]);
    main.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    let linked = home.path().join("linked");
    std::fs::write(linked.join("new.txt"), "new").unwrap();
    assert!(linked.join(".git").is_file());
    let document = home.run_in(&linked, &["herdr", "upload", "--dry-run", "--json"]).success().json();
    assert_eq!(leaves(&document), ["a.txt", "new.txt"]);
    assert_eq!(document["worktree"].as_str(), linked.to_str());
}

#[test]
fn variables_of_another_repository_change_nothing() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let other = Repo::init(&home.path().join("other"));
    other.write("other.txt", "x").commit("other");
    let git_dir = other.root().join(".git");
    for (name, value) in [
        ("GIT_DIR", git_dir.to_str().unwrap()),
        ("GIT_WORK_TREE", other.root().to_str().unwrap()),
        ("GIT_INDEX_FILE", "/nonexistent"),
        ("GIT_PREFIX", "sub/"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_CONFIG_PARAMETERS", "'core.bare'='true'"),
    ] {
        let mut command = home.command(&["herdr", "upload", "--dry-run", "--json"]);
        command.current_dir(repo.root()).env(name, value);
        assert_eq!(leaves(&crate::support::outcome(command).success().json()), ["a.txt"], "{name}");
    }
}

#[test]
fn programs_that_the_repository_names_are_not_run() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let marker = home.path().join("ran");
    let trap = home.write("trap", format!("#!/bin/sh\ntouch {}\n", marker.display()));
    std::fs::set_permissions(&trap, std::fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    repo.git(&["config", "core.fsmonitor", trap]);
    // The trap bites: git itself runs it.
    repo.git(&["status"]);
    assert!(marker.exists());
    std::fs::remove_file(&marker).unwrap();
    repo.git(&["-c", "core.fsmonitor=false", "config", "filter.x.clean", trap]);
    repo.write(".gitattributes", "* filter=x\n").write("a.txt", "changed");
    packed(&home, &repo);
    assert!(!marker.exists());
}

#[test]
fn a_worktree_that_the_repository_puts_elsewhere_is_refused() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    home.write("private/diary.txt", "dear diary");
    repo.git(&["config", "core.worktree", home.path().join("private").to_str().unwrap()]);
    let outcome = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]);
    let _ = outcome.fails(2, "is not in the worktree that git names");
}

#[test]
fn a_repository_of_another_user_shows_gits_own_remedy() {
    if !User::all().contains(&User::Nobody) {
        return; // Only root can make a repository of another user.
    }
    let home = Home::of(User::Nobody);
    let repo = repo(&home, &["a.txt"]);
    let path = repo.root().to_str().unwrap();
    assert!(Command::new("chown").args(["-R", "0:0", path]).status().unwrap().success());
    let outcome =
        home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).fails(2, "another user owns it");
    let remedy = format!("git config --global --add safe.directory {path}");
    assert!(outcome.stderr.contains(&remedy), "{outcome:?}");
    assert!(!home.path().join(".gitconfig").exists(), "it is never set for the user");
    let git = home.command_of("sh".as_ref(), &["-c", &remedy]).output().unwrap();
    assert!(git.status.success());
    assert_eq!(leaves(&dry_run(&home, &repo)), ["a.txt"]);
}

#[test]
fn ignore_rules_judge_tracked_files_exactly_as_check_ignore_does() {
    let home = Home::new();
    let files = [
        "a.log",
        "keep.log",
        "build/x",
        "build/keep/y",
        "deep/build/x",
        "doc/a.txt",
        "doc/b.md",
        "foo",
        "bar/foo",
        "bar/baz",
        "x/y/z",
        "sp ace",
        "#hash",
        "!bang",
        "äö",
        "abc.tmp",
        "nested/a.gen",
        "nested/keep.gen",
        "info.x",
        "global.x",
    ];
    let repo = repo(&home, &files);
    repo.write(
        ".gitignore",
        "*.log\n!keep.log\nbuild/\n!build/keep/\ndoc/*\n!doc/b.md\n/foo\n**/baz\nx/**\nsp\\ ace\n\\#hash\n\\!bang\nä*\n?bc.tmp\n",
    );
    repo.write("nested/.gitignore", "*.gen\n!keep.gen\n").write(".git/info/exclude", "info.x\n");
    home.write("ignore", "global.x\n");
    repo.git(&["config", "core.excludesFile", home.path().join("ignore").to_str().unwrap()]);

    let mut check = Command::new("git");
    check.args(["check-ignore", "--no-index", "-z", "--stdin"]).current_dir(repo.root());
    check.env("HOME", home.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut check = check.spawn().unwrap();
    check.stdin.take().unwrap().write_all(files.join("\0").as_bytes()).unwrap();
    let said = String::from_utf8(check.wait_with_output().unwrap().stdout).unwrap();
    let said: BTreeSet<String> = said.split_terminator('\0').map(str::to_owned).collect();
    assert!(said.len() >= 12, "{said:?}");

    let stays = stays(&dry_run(&home, &repo));
    assert_eq!(stays.keys().cloned().collect::<BTreeSet<_>>(), said);
    let left: BTreeSet<String> = listed(&packed(&home, &repo)).into_iter().collect();
    assert!(said.is_disjoint(&left), "{left:?}");
}
