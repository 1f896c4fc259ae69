//! `herdr upload`: what leaves a worktree and what stays home.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that fails may panic anywhere")]

mod allowed;
mod archive;
mod git;
mod index;
mod keys;
mod links;
mod names;
mod races;
mod secrets;
mod text;

use crate::support::{Home, PATH, Repo};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the plugin's settings are in a home.
const CONFIG: &str = ".config/herdr/plugins/config/createos.sandbox/config.json";

/// A repository with some files in it, committed.
fn repo(home: &Home, files: &[&str]) -> Repo {
    let repo = Repo::init(&home.path().join("repo"));
    for file in files {
        repo.write(file, format!("contents of {file}\n"));
    }
    repo.commit("first");
    home.own(home.path());
    repo
}

/// The dry run's document.
#[track_caller]
fn dry_run(home: &Home, repo: &Repo) -> Value {
    home.run_in(repo.root(), &["herdr", "upload", "--dry-run", "--json"]).success().json()
}

/// The paths that leave.
fn leaves(document: &Value) -> Vec<String> {
    let text = |file: &Value| file["path"].as_str().unwrap().to_owned();
    document["leaves"].as_array().unwrap().iter().map(text).collect()
}

/// The paths that stay, with `reason: rule`.
fn stays(document: &Value) -> BTreeMap<String, String> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let row = |one: &Value| (text(one, "path"), format!("{}: {}", text(one, "reason"), text(one, "rule")));
    document["stays"].as_array().unwrap().iter().map(row).collect()
}

/// What is expected to stay.
fn rows<const N: usize>(rows: [(&str, &str); N]) -> BTreeMap<String, String> {
    rows.map(|(path, why)| (path.to_owned(), why.to_owned())).into()
}

/// Writes the archive.
#[track_caller]
fn packed(home: &Home, repo: &Repo) -> PathBuf {
    let archive = home.path().join("a.tgz");
    let _ = home.run_in(repo.root(), &["herdr", "upload", "--output", archive.to_str().unwrap()]).success();
    archive
}

/// The archive's entries in their order, as the system's own tar lists them.
fn listed(archive: &Path) -> Vec<String> {
    tar(&["-tzf", archive.to_str().unwrap(), "--quoting-style=literal"]).lines().map(str::to_owned).collect()
}

/// The archive unpacked by the system's own tar, as a box does it.
fn unpacked(home: &Home, archive: &Path) -> PathBuf {
    let folder = home.path().join("unpacked");
    std::fs::create_dir_all(&folder).unwrap();
    tar(&["-xzf", archive.to_str().unwrap(), "-C", folder.to_str().unwrap()]);
    folder
}

fn tar(args: &[&str]) -> String {
    let output = Command::new("tar").args(args).env("PATH", PATH).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn four_filters_decide_in_their_order_and_say_why() {
    let home = Home::new();
    let repo = repo(
        &home,
        &[
            "a.txt",
            ".env",
            ".env.example",
            "fixtures/big.bin",
            "fixtures/x.pem",
            "keys/x.pem",
            "once.cfg",
            "v.mp4",
        ],
    );
    repo.write(".gitignore", "once.cfg\n*.tmp\n").write("junk.tmp", "").write("new.txt", "untracked");
    home.write(CONFIG, r#"{"excludes": ["fixtures/", "*.mp4"]}"#);
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), [".env.example", ".gitignore", "a.txt", "new.txt"]);
    let expected = rows([
        (".env", "denied: .env"),
        ("fixtures/big.bin", "excluded: fixtures/"),
        ("fixtures/x.pem", "excluded: fixtures/"),
        ("keys/x.pem", "denied: *.pem"),
        ("once.cfg", "ignored: git's ignore rules"),
        ("v.mp4", "excluded: *.mp4"),
    ]);
    assert_eq!(stays(&document), expected);
}

#[test]
fn names_that_the_published_list_lets_through_stay_home_too() {
    let home = Home::new();
    let denied = [
        ".ENV",
        "prod.env",
        ".env-prod",
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".cargo/credentials.toml",
        ".config/gh/hosts.yml",
        ".pgpass",
        ".vault-token",
        ".azure/accessTokens.json",
        ".dev.vars",
        ".streamlit/secrets.toml",
        ".oci/config",
        "office.ovpn",
        "id_ed25519_sk",
        "id_rsa.bak",
        "a.ppk",
        "a.kdbx",
        "application_default_credentials.json",
        ".htpasswd",
        ".terraform.d/credentials.tfrc.json",
        ".dockerconfigjson",
        "server.PEM",
        "terraform.tfstate.backup",
    ];
    // Builds need these, and most hold no secret: they are judged by their contents.
    let ordinary = [
        ".azure/pipelines.yml",
        ".bundle/config",
        ".env.ci",
        ".env.d.ts",
        ".env.test",
        ".m2/settings.xml",
        ".yarnrc.yml",
        "android/debug.keystore",
        "auth.json",
        "cmd/credentials/main.go",
        "nuget.config",
        "secrets.yaml",
        "src/credentials/mod.rs",
        "terraform.tfvars",
    ];
    let repo = repo(&home, &[&denied[..], &ordinary[..]].concat());
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ordinary);
    let stays = stays(&document);
    assert_eq!(stays.len(), denied.len());
    assert!(stays.values().all(|why| why.starts_with("denied: ")), "{stays:?}");
}

#[test]
fn a_wrong_exclude_stops_before_anything_is_read() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    home.write(CONFIG, r#"{"excludes": ["**/secret*"]}"#);
    let outcome = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).fails(2, "**/secret*");
    assert!(outcome.stderr.contains("*.mp4"), "it says what is accepted: {outcome:?}");
}

#[test]
fn what_to_do_must_be_said() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    let outcome = home.run_in(repo.root(), &["herdr", "upload"]).fails(2, "--dry-run");
    assert!(outcome.stderr.contains("--output"), "{outcome:?}");
    home.run_in(repo.root(), &["herdr", "upload", "--json", "--output", "-"]).fails(2, "").json();
}
