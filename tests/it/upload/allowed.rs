//! Names that are let through on purpose: `allowFiles`, and `.worktreeinclude` after a yes.

use super::secrets::Maker;
use super::{CONFIG, dry_run, leaves, repo, rows, stays};
use crate::support::{Herdr, Home, Pty, Repo};
use serde_json::{Value, json};
use std::time::Duration;

/// What lets each file through that a filter would keep: the entry, or true for the include.
fn let_through(document: &Value) -> Vec<(String, Value)> {
    let leaves = document["leaves"].as_array().unwrap().iter();
    let lifted = leaves.filter_map(|file| {
        let by = if file["included"] == true { &file["included"] } else { &file["allowed"] };
        (!by.is_null()).then(|| (file["path"].as_str().unwrap().to_owned(), by.clone()))
    });
    lifted.collect()
}

fn allow(home: &Home, settings: Value) {
    home.write(CONFIG, settings.to_string());
}

#[test]
fn allow_files_lifts_names_and_the_ignore_rules_and_says_so() {
    let home = Home::new();
    let files =
        [".npmrc", "t/ca.pem", "t/u/key.pem", "Cargo.lock", "docs/.env", "web/.htpasswd", "lib/.npmrc"];
    let repo = repo(&home, &files);
    let token = Maker::new(11).make("gh~p_{b62:30}{crc}");
    repo.write(".gitignore", "Cargo.lock\n*.tmp\n").write(".envrc", &token).write("junk.tmp", "x");
    let root = repo.root().display().to_string();
    allow(
        &home,
        json!({
            "excludes": ["docs/"],
            "allowFiles": {
                root.as_str(): [".npmrc", "t/*.pem", "Cargo.lock", "docs/.env", ".envrc", "gone.pem", "junk.tmp"],
                "*": ["web/.htpasswd", "lib/*"],
                "/somewhere/else": ["t/u/key.pem"],
            },
        }),
    );
    let document = dry_run(&home, &repo);
    let lifted = [
        (".npmrc", ".npmrc"),
        ("Cargo.lock", "Cargo.lock"),
        ("t/ca.pem", "t/*.pem"),
        ("web/.htpasswd", "web/.htpasswd"),
    ];
    assert_eq!(let_through(&document), lifted.map(|(path, by)| (path.to_owned(), json!(by))));
    let expected = rows([
        // An exclude is never lifted, a secret needs allowSecrets too, and every worktree is no worktree for a published name.
        (".envrc", "secret: github-token"),
        ("docs/.env", "excluded: docs/"),
        ("lib/.npmrc", "denied: .npmrc"),
        ("t/u/key.pem", "denied: *.pem"),
    ]);
    assert_eq!(stays(&document), expected);
    let warned: Vec<_> =
        document["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let idle = |entry: &str| format!("allowFiles: \"{entry}\" lifts nothing here");
    assert_eq!(warned, ["docs/.env", "gone.pem", "junk.tmp"].map(idle));

    let shown = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).success();
    assert!(shown.stdout.contains("t/ca.pem    (allowed: allowFiles t/*.pem)"), "{shown:?}");
    assert!(shown.stderr.contains("warning: allowFiles: \"gone.pem\" lifts nothing here"), "{shown:?}");
}

#[test]
fn a_published_name_is_let_through_in_a_named_worktree_only() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", ".npmrc"]);
    allow(&home, json!({ "allowFiles": { "*": [".npmrc"] } }));
    let refused = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).fails(2, "allowFiles");
    assert!(refused.stderr.contains("name its worktree in place of *"), "{refused:?}");
    allow(&home, json!({ "allowSecrets": [".npmrc"], "allowFiles": { "~/other": [".npmrc"] } }));
    let document = dry_run(&home, &repo);
    assert_eq!(stays(&document), rows([(".npmrc", "denied: .npmrc")]));
    let warning = document["warnings"][0].as_str().unwrap();
    assert!(warning.contains("its name stays home; let it through with allowFiles"), "{warning}");
    allow(&home, json!({ "allowFiles": { "~/repo": [".npmrc"] } }));
    assert_eq!(leaves(&dry_run(&home, &repo)), [".npmrc", "a.txt"]);
}

#[test]
fn setup_and_the_doctor_say_which_names_are_let_through() {
    let home = Home::new().with_bin();
    let _herdr = Herdr::in_home(&home);
    let repo = repo(&home, &["a.txt", ".npmrc"]);
    let root = repo.root().display().to_string();
    allow(
        &home,
        json!({ "allowFiles": { root.as_str(): [".npmrc", "t/x.pem"], "/gone": ["a.pem"], "*": ["web/.htpasswd"] } }),
    );
    let document = home.run(&["setup", "herdr", "--doctor", "--json"]).json();
    let checks = document["checks"].as_array().unwrap().iter();
    let own: Vec<_> = checks.filter(|check| check["id"] == "allow-files").collect();
    let text = |at: usize| own[at]["message"].as_str().unwrap();
    assert_eq!(own.len(), 3, "{own:#?}");
    assert!(
        text(0).contains(".npmrc, t/x.pem") && text(0).contains("\"t/x.pem\" lifts nothing here"),
        "{own:#?}"
    );
    assert!(text(1).contains("/gone is not there"), "{own:#?}");
    assert_eq!(
        (&own[0]["status"], &own[1]["status"], &own[2]["status"]),
        (&json!("warn"), &json!("warn"), &json!("note"))
    );
    let planned = home.run(&["setup", "herdr", "--dry-run", "--json", "--provider", "local"]).json();
    assert!(planned["kept"].to_string().contains("web/.htpasswd"), "{planned}");
}

/// A repository whose ignored files include what a box needs.
fn including(home: &Home) -> Repo {
    let repo = repo(home, &["a.txt"]);
    repo.write(".gitignore", "*.local\nout/\n.env*\nnode_modules/\n")
        .write(".worktreeinclude", "*.local\nout/keep.txt\n.env.local\n");
    repo.write("settings.local", "x")
        .write("out/keep.txt", "x")
        .write("out/other.txt", "x")
        .write(".env.local", "A=1");
    repo.write("deep/b.local", "x").write("untracked.txt", "x").write("node_modules/m/index.js", "x");
    let token = Maker::new(12).make("gh~p_{b62:30}{crc}");
    repo.write("token.local", token);
    repo
}

const NAMED: [&str; 3] = ["deep/b.local", "out/keep.txt", "settings.local"];

#[test]
fn what_an_include_names_leaves_only_after_a_yes_to_its_content() {
    let home = Home::new();
    let repo = including(&home);
    let trust = |args: &[&str]| home.run_in(repo.root(), &[&["trust"][..], args].concat());
    let always = [".gitignore", ".worktreeinclude", "a.txt", "untracked.txt"];
    let would = |document: &Value| -> Vec<String> {
        let stays = stays(document).into_iter();
        stays.filter(|(_, why)| why == "would-be-included: .worktreeinclude").map(|(path, _)| path).collect()
    };

    let before = dry_run(&home, &repo);
    assert_eq!(leaves(&before), always);
    assert_eq!(would(&before), ["deep/b.local", "out/keep.txt", "settings.local", "token.local"]);
    let shown = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).success();
    assert!(shown.stdout.contains("would be included"), "{shown:?}");
    assert!(shown.stdout.contains("createos-sandbox trust"), "{shown:?}");

    let refused = trust(&[]).fails(2, "there is nobody to ask");
    assert!(refused.stderr.contains("createos-sandbox trust --yes"), "{refused:?}");
    let said = trust(&["--yes"]).success();
    assert!(
        said.stdout.contains("names 4 files that git ignores") && said.stdout.contains("settings.local"),
        "{said:?}"
    );
    let after = dry_run(&home, &repo);
    assert_eq!(let_through(&after), NAMED.map(|path| (path.to_owned(), json!(true))));
    // Names and secrets still judge.
    let expected = rows([(".env.local", "denied: .env.*"), ("token.local", "secret: github-token")]);
    assert_eq!(stays(&after), expected);
    assert!(trust(&[]).success().stdout.contains("nothing to ask"));

    // Another content is another question, in another worktree too.
    repo.write(".worktreeinclude", "*.local\nout/\n");
    assert_eq!(leaves(&dry_run(&home, &repo)), always);
    repo.write(".worktreeinclude", "*.local\nout/keep.txt\n.env.local\n");
    assert_eq!(leaves(&dry_run(&home, &repo)).len(), always.len() + NAMED.len());
    let _ = trust(&["--revoke"]).success();
    assert_eq!(leaves(&dry_run(&home, &repo)), always);
}

#[test]
fn a_denied_name_that_is_ignored_needs_both_words() {
    let home = Home::new();
    let repo = including(&home);
    let root = repo.root().display().to_string();
    allow(&home, json!({ "allowFiles": { root.as_str(): [".env.local"] } }));
    assert!(!leaves(&dry_run(&home, &repo)).contains(&".env.local".to_owned()));
    let _ = home.run_in(repo.root(), &["trust", "--yes"]).success();
    assert_eq!(let_through(&dry_run(&home, &repo))[0], (".env.local".into(), json!(".env.local")));
}

#[test]
fn the_question_is_asked_on_a_terminal_and_no_is_the_default() {
    let home = Home::new();
    let repo = including(&home);
    let limit = Duration::from_secs(30);
    for (key, code, leave) in [("\r", 1, false), ("y", 0, true)] {
        let mut command = home.command(&["trust"]);
        command.current_dir(repo.root());
        let mut terminal = Pty::spawn(command, 40, 100);
        terminal.expect("Let them leave with the rest?", limit);
        terminal.send(key);
        assert_eq!(terminal.wait(limit).code(), Some(code), "{}", terminal.text());
        assert_eq!(leaves(&dry_run(&home, &repo)).contains(&"settings.local".to_owned()), leave);
    }
}

#[test]
fn a_link_or_a_folder_of_that_name_includes_nothing() {
    let home = Home::new();
    let repo = including(&home);
    std::fs::remove_file(repo.root().join(".worktreeinclude")).unwrap();
    repo.write("list", "*.local\n");
    std::os::unix::fs::symlink("list", repo.root().join(".worktreeinclude")).unwrap();
    assert!(stays(&dry_run(&home, &repo)).is_empty());
    std::fs::remove_file(repo.root().join(".worktreeinclude")).unwrap();
    repo.write(".worktreeinclude/a", "*.local\n");
    assert!(stays(&dry_run(&home, &repo)).is_empty());
    assert!(home.run_in(repo.root(), &["trust", "--yes"]).success().stdout.contains("nothing to ask"));
}
