//! The one document of `--json`, annotations, and exit codes.

use super::machine;
use crate::support::{Herdr, Home, User};

#[test]
fn the_document_is_one_whatever_happens() {
    let home = machine(User::Me);
    let cases: [(&[&str], i32, &str); 9] = [
        (&["setup", "--doctor", "--json"], 1, ""),
        (&["setup", "--json", "--agent", "bash"], 2, "unknown agent"),
        (&["setup", "--json", "--no-such-flag"], 2, "no-such-flag"),
        (&["setup", "--doctor", "--json=1"], 2, "unexpected value '1' for '--json'"),
        (&["setup", "--json", "--doctor", "--undo"], 2, "cannot be used with"),
        (&["setup", "--agent", "--json"], 2, "a value is required for '--agent"),
        (&["setup", "neovim", "--json"], 2, "invalid value 'neovim'"),
        (&["setup", "--json", "--json"], 2, "cannot be used multiple times"),
        (&["setup", "--json"], 1, "cannot be set up yet"),
    ];
    for (args, code, message) in cases {
        let outcome = home.run(args);
        let report = outcome.json();
        assert_eq!((outcome.code, report["schemaVersion"].as_u64()), (code, Some(1)), "{args:?}");
        assert_eq!(report["exitCode"], code, "{args:?}");
        assert_eq!(report["ok"], false, "{args:?}");
        let said = report["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{args:?}: {said}");
        assert_eq!(outcome.stderr, "", "{args:?}");
    }
}

#[test]
fn a_document_of_a_wrong_command_line_names_the_command() {
    let home = machine(User::Me);
    let command = |args: &[&str]| home.run(args).json()["command"].clone();
    assert_eq!(command(&["setup", "--doctor", "--json=1"]), "doctor");
    assert_eq!(command(&["setup", "--undo", "--json", "--nonsense"]), "undo");
    assert_eq!(command(&["setup", "--json", "--nonsense"]), "setup");
}

#[test]
fn a_word_that_means_another_command_is_answered_with_it() {
    let home = Home::new();
    for (word, meant) in [
        ("doctor", "createos-sandbox setup herdr --doctor"),
        ("install", "createos-sandbox setup herdr\n"),
        ("uninstall", "createos-sandbox setup herdr --undo"),
        ("uninstall", "createos-sandbox undo"),
        ("sync", "createos-sandbox herdr sync"),
    ] {
        let said = home.run(&[word]).fails(2, "unrecognized subcommand");
        assert!(said.stderr.contains(meant), "{word}: {}", said.stderr);
    }
    let other = home.run(&["herdr", "doctor"]).fails(2, "unrecognized subcommand");
    assert!(!other.stderr.contains("setup herdr"), "{}", other.stderr);
}

#[test]
fn strict_makes_warnings_fail_and_a_workflow_gets_annotations() {
    let home = machine(User::Me).var("GITHUB_ACTIONS", "true").var("OPENAI_API_KEY", "x");
    let _herdr = Herdr::in_home(&home);
    let doctor = home.run(&["setup", "--doctor"]).success();
    assert!(!doctor.stdout.contains("::error"), "{}", doctor.stdout);
    let strict = home.run(&["setup", "--doctor", "--strict"]);
    assert_eq!(strict.code, 1);
    assert!(strict.stdout.contains("::error title=createos-sandbox agent-env::"), "{}", strict.stdout);
    let json = home.run(&["setup", "--doctor", "--strict", "--json"]);
    assert!(json.stderr.starts_with("::error title=createos-sandbox agent-env::"), "{}", json.stderr);
    assert_eq!(json.json()["exitCode"], 1);
}
