//! `--force` on a `config.json` that is not valid: what protects is never loosened by a repair.

use super::{SETTINGS, machine};
use crate::support::{Herdr, User};

const LISTS: &str = r#"{"agent":"codex","egress":["github.com"],"excludes":["private/"],}"#;

#[test]
fn what_would_be_loosened_is_refused_and_the_file_stays() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    for (text, said) in [
        (LISTS, "trailing comma"),
        (r#"{"egresss":["github.com"]}"#, "unknown key \"egresss\""),
        (r#"{"egress":["https://github.com"]}"#, "https://github.com"),
        (r#"{"egress":["github.com"],"egress":[]}"#, "there twice"),
        (r#"{"excludes":["private/","a?b"]}"#, "a?b"),
        (r#"{"syncExcludes":"target"}"#, "expected a list of texts"),
        (r#"{"provider":"lokal"}"#, "lokal"),
    ] {
        home.write(SETTINGS, text);
        let refused = home.run(&["setup", "--force"]).fails(2, "--force would drop settings that protect");
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
        assert!(refused.stderr.contains("createos-sandbox setup herdr --reset"), "{}", refused.stderr);
        assert_eq!(home.read(SETTINGS), text);
        // The error that every action prints for such a file names no command that is refused.
        let kept = home.run(&["setup"]).fails(2, said);
        assert!(!kept.stderr.contains("--force"), "{}", kept.stderr);
        assert!(kept.stderr.contains("createos-sandbox setup herdr --reset"), "{}", kept.stderr);
    }
    assert!(!home.path().join(".local").exists(), "nothing was changed");
    let _ = home.run(&["setup", "--reset"]).success();
    assert!(!home.read(SETTINGS).contains("lokal"));
}

#[test]
fn a_flag_that_gives_the_setting_anew_lets_the_repair_go_on() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(SETTINGS, r#"{"agent":"codex","egresss":["github.com"]}"#);
    let _ = home.run(&["setup", "--force", "--egress", "github.com"]).success();
    let settings = home.read(SETTINGS);
    assert!(settings.contains("\"codex\"") && settings.contains("github.com"), "{settings}");
    home.write(SETTINGS, LISTS);
    let some = ["setup", "--force", "--egress", "none", "--exclude", "private/"];
    let refused = home.run(&some).fails(2, "--sync-exclude");
    assert!(!refused.stderr.contains("--egress HOST"), "{}", refused.stderr);
    let all = [&some[..], &["--sync-exclude", ".git", "--provider", "createos", "--network", "own"]].concat();
    let _ = home.run(&all).success();
    assert!(home.read(SETTINGS).contains("private/"));
}

#[test]
fn a_repair_that_loosens_nothing_keeps_lists_element_by_element() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(
        SETTINGS,
        r#"{"agnet":"pi","egress":["github.com","https://x.com"],"excludes":["private/","docs/**"],"allowSecrets":["a.pem","../b"]}"#,
    );
    let said = home.run(&["setup"]).fails(2, "unknown key \"agnet\"");
    assert!(said.stderr.contains("createos-sandbox setup herdr --force"), "{}", said.stderr);
    let setup = home.run(&["setup", "--force"]).success();
    for dropped in ["\"agnet\" is dropped", "https://x.com", "../b"] {
        assert!(setup.stdout.contains(dropped), "{dropped}: {}", setup.stdout);
    }
    let settings: serde_json::Value = serde_json::from_str(&home.read(SETTINGS)).unwrap();
    assert_eq!(settings["egress"], serde_json::json!(["github.com"]));
    assert_eq!(settings["excludes"], serde_json::json!(["private/", "docs/**"]));
    assert_eq!(settings["allowSecrets"], serde_json::json!(["a.pem"]));
}

#[test]
fn an_empty_file_is_said_to_be_empty_and_can_be_repaired() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(SETTINGS, "");
    let said = home.run(&["setup"]).fails(2, "config.json:1:1: the file is empty");
    assert!(said.stderr.contains("createos-sandbox setup herdr --force"), "{}", said.stderr);
    let _ = home.run(&["setup", "--force"]).success();
    assert!(home.read(SETTINGS).contains("claude-code"));
}
