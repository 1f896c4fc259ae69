//! `herdr upload`: what leaves a worktree and what stays home.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic anywhere")]

use crate::support::{Home, Outcome, PATH, Repo};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// A repository with some files in it, committed.
fn repo(home: &Home, files: &[&str]) -> Repo {
    let repo = Repo::init(&home.path().join("repo"));
    for file in files {
        repo.write(file, format!("contents of {file}\n"));
    }
    repo.commit("first");
    repo
}

/// The dry run's document.
fn dry_run(home: &Home, repo: &Repo) -> Value {
    home.run_in(repo.root(), &["herdr", "upload", "--dry-run", "--json"]).success().json()
}

/// The paths that leave.
fn leaves(document: &Value) -> Vec<&str> {
    document["leaves"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

/// The paths that stay with reason and rule.
fn stays(document: &Value) -> BTreeMap<&str, (&str, &str)> {
    let text = |value: &'_ Value, key| value[key].as_str().unwrap().to_owned();
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    document["stays"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (leak(text(one, "path")), (leak(text(one, "reason")), leak(text(one, "rule")))))
        .collect()
}

fn tar(args: &[&str]) -> String {
    let output = Command::new("tar").args(args).env("PATH", PATH).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn four_filters_decide_in_their_order_and_say_why() {
    let home = Home::new();
    let files = [
        "a.txt",
        ".env",
        ".env.example",
        "fixtures/big.bin",
        "fixtures/x.pem",
        "keys/x.pem",
        "once.cfg",
        "v.mp4",
    ];
    let repo = repo(&home, &files);
    repo.write(".gitignore", "once.cfg\n*.tmp\n").write("junk.tmp", "").write("new.txt", "untracked");
    home.write(
        ".config/herdr/plugins/config/createos.sandbox/config.json",
        r#"{"excludes": ["fixtures/", "*.mp4"]}"#,
    );
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), [".env.example", ".gitignore", "a.txt", "new.txt"]);
    let expected = BTreeMap::from([
        (".env", ("denied", ".env")),
        ("fixtures/big.bin", ("excluded", "fixtures/")),
        ("fixtures/x.pem", ("excluded", "fixtures/")),
        ("keys/x.pem", ("denied", "*.pem")),
        ("once.cfg", ("ignored", "git's ignore rules")),
        ("v.mp4", ("excluded", "*.mp4")),
    ]);
    assert_eq!(stays(&document), expected);
}

#[test]
fn the_archive_holds_what_the_dry_run_says() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "b/c.txt", ".env"]);
    let document = dry_run(&home, &repo);
    let archive = home.path().join("a.tgz");
    let written: Outcome = home
        .run_in(repo.root(), &["herdr", "upload", "--json", "--output", archive.to_str().unwrap()])
        .success();
    assert_eq!(written.json()["digest"], document["digest"]);
    assert_eq!(written.json()["archive"]["bytes"], std::fs::metadata(&archive).unwrap().len());
    assert_eq!(tar(&["-tzf", archive.to_str().unwrap()]), "a.txt\nb/c.txt\n");
}

#[test]
fn a_folder_outside_git_is_a_clear_error() {
    let home = Home::new();
    let outcome = home.run(&["herdr", "upload", "--dry-run"]).fails(2, "is not in a git worktree");
    assert!(outcome.stderr.contains("help: "), "{outcome:?}");
    let json = home.run(&["herdr", "upload", "--dry-run", "--json"]);
    assert_eq!((json.code, json.json()["ok"].as_bool()), (2, Some(false)));
}
