//! Each check of the doctor in each of its states, as the document has them.

use super::{BUNDLE, CONFIG, createos, machine};
use crate::support::{Herdr, Home, User, outcome, program};
use serde_json::{Value, json};
use std::process::Command;

/// A home on whose PATH nothing else is: a good copy of a program further on would be taken.
pub(super) fn alone() -> Home {
    let home = Home::new().with_bin();
    let path = home.path().join("bin").display().to_string();
    let home = home.var("PATH", path);
    createos(&home, "v0.0.29", true);
    home
}

/// Every check with this id, by a doctor with these flags.
pub(super) fn checks_of(mut doctor: Command, id: &str) -> Vec<Value> {
    doctor.args(["setup", "--doctor", "--json"]);
    let report = outcome(doctor).json();
    let all = report["checks"].as_array().expect("checks").clone();
    all.into_iter().filter(|check| check["id"] == id).collect()
}

pub(super) fn check_with(home: &Home, id: &str, flags: &[&str]) -> Value {
    let mut doctor = home.command(&[]);
    doctor.args(["setup", "--doctor", "--json"]).args(flags);
    let report = outcome(doctor).json();
    let all = report["checks"].as_array().expect("checks").clone();
    all.into_iter().find(|check| check["id"] == id).expect("the check")
}

/// Status and sentence of the first check with this id.
#[track_caller]
pub(super) fn says(home: &Home, id: &str, status: &str, words: &str) -> Value {
    let check = check_with(home, id, &[]);
    assert_eq!(check["status"], status, "{check}");
    assert!(check["message"].as_str().expect("a sentence").contains(words), "[{words}] is not in {check}");
    check
}

#[test]
fn the_names_of_the_checks_and_their_parts_are_stable() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let report = home.run(&["setup", "--doctor", "--json"]).success().json();
    let ids: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap()).collect();
    let expected = [
        "os",
        "createos",
        "session",
        "herdr",
        "git",
        "bun",
        "plugin",
        "config",
        "herdr-server",
        "herdr-config",
        "shape",
        "keys",
        "config-owner",
        "egress",
        "agent-env",
        "notices",
        "local-sandbox",
        "boxes",
        "shim",
        "paths",
    ];
    assert_eq!(ids, expected);
    let required = |check: &Value| check["required"] == true;
    let required: Vec<&str> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| required(c))
        .map(|c| c["id"].as_str().unwrap())
        .collect();
    assert_eq!(required, ["os", "createos", "session", "herdr", "git"]);
    let _ = home.run(&["setup"]).success();
    let report = home.run(&["setup", "--doctor", "--json"]).success().json();
    for check in report["checks"].as_array().unwrap() {
        assert!(
            ["ok", "warn", "note", "fail", "skip"].contains(&check["status"].as_str().unwrap()),
            "{check}"
        );
        assert!(check["message"].is_string() && check["fixable"].is_boolean(), "{check}");
        let is_required = ["os", "createos", "session", "herdr", "git", "plugin", "config"]
            .contains(&check["id"].as_str().unwrap());
        assert_eq!(check["required"], is_required, "once set up: {check}");
    }
}

#[test]
fn the_server_is_asked_whether_it_understands_the_client() {
    let home = machine(User::Me);
    let mut herdr = Herdr::in_home(&home);
    says(&home, "herdr-server", "ok", "not running");
    if !herdr.is_stand_in() {
        return;
    }
    herdr.script("server", json!({ "reload": "applied" }));
    says(&home, "herdr-server", "ok", "running");
    herdr.script("server", json!({ "reload": "applied", "compatible": false }));
    let check = says(&home, "herdr-server", "warn", "another version");
    assert!(check["fix"].as_str().unwrap().contains("herdr server stop"), "{check}");
}

#[test]
fn herdrs_own_words_about_the_file_are_passed_on() {
    let home = machine(User::Me);
    let mut herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    says(&home, "herdr-config", "ok", "nothing to say");
    home.write(CONFIG, "[keys\n");
    says(&home, "herdr-config", "warn", "Herdr ignores the whole file: config parse error");
    if !herdr.is_stand_in() {
        return;
    }
    home.write(CONFIG, "[ui]\n");
    herdr.script(
        "diagnostics",
        json!([{ "text": "unknown config key a; ignoring key" }, { "text": "another" }]),
    );
    let check = says(&home, "herdr-config", "warn", "unknown config key a; ignoring key, and 1 more");
    assert_eq!(check["fix"], "herdr config check");
}

#[test]
fn keys_are_bound_missing_or_taken_by_somebody() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    says(&home, "keys", "skip", "not set up yet");
    let _ = home.run(&["setup", "--no-keys"]).success();
    home.write(CONFIG, "[[keys.command]]\nkey = \"prefix+shift+a\"\ncommand = \"lazygit\"\n");
    let check = says(&home, "keys", "warn", "0 of 6 bound; ");
    assert!(
        check["message"]
            .as_str()
            .unwrap()
            .contains("apply has no key: prefix+shift+a is yours (lazygit, line 1)"),
        "{check}"
    );
    assert!(
        check["fix"]
            .as_str()
            .unwrap()
            .contains("\nit will bind prefix+shift+s, prefix+shift+c, prefix+shift+y, prefix+alt+a"),
        "{check}"
    );
    assert_eq!(check["fixable"], true);
    let _ = home.run(&["setup"]).success();
    let all = checks_of(home.command(&[]), "keys");
    assert_eq!((&all[0]["status"], &all[0]["message"]), (&"ok".into(), &"6 of 6 bound".into()));
    assert_eq!(
        all[1]["message"],
        "prefix+shift+x deletes a box, after a question, here; Herdr's close_tab has no key"
    );
    // The fix works, and then nothing is displaced.
    let fix = all[1]["fix"].as_str().unwrap().to_owned();
    let words: Vec<&str> = fix.split(' ').skip(1).collect();
    let _ = home.run(&words).success();
    let all = checks_of(home.command(&[]), "keys");
    assert_eq!(all.len(), 1, "{all:?}");
    // A comment binds nothing, and neither does an entry of another type.
    home.write(CONFIG, "# command = \"createos.sandbox.start\"\n[[keys.command]]\nkey = \"prefix+shift+s\"\ncommand = \"createos.sandbox.start\"\n");
    says(&home, "keys", "warn", "0 of 6 bound; start has no key: prefix+shift+s is yours");
}

#[test]
fn an_entry_that_herdr_does_not_bind_is_no_binding_and_stays_beside_a_live_one() {
    let dead = [
        ("prefix+shift+x", "[keys]\nclose_tab = \"prefix+shift+x\"\n", "key = \"prefix+shift+x\"\n"),
        ("names none", "", ""),
        ("names none", "", "key = \"\"\n"),
        ("prefix+delete", "", "key = \"prefix+delete\"\n"),
    ];
    for (said, head, key) in dead {
        let home = machine(User::Me);
        let _herdr = Herdr::in_home(&home);
        let _ = home.run(&["setup", "--no-keys"]).success();
        let file = format!(
            "{head}[[keys.command]]\n{key}type = \"plugin_action\"\ncommand = \"createos.sandbox.delete\"\n"
        );
        home.write(CONFIG, &file);
        let check = says(&home, "keys", "warn", "0 of 6 bound");
        let message = check["message"].as_str().unwrap().to_owned();
        assert!(message.contains("delete has no key: ") && message.contains(said), "{message}");
        // The fix that is printed makes it live, wherever a chord is free, and leaves the entry alone.
        let fix = check["fix"].as_str().unwrap().lines().next().unwrap().to_owned();
        let words: Vec<&str> = fix.split(' ').skip(1).collect();
        let setup = home.run(&words).success().stdout;
        let free = if head.is_empty() { "prefix+shift+x" } else { "prefix+alt+x" };
        let now = home.read(CONFIG);
        assert!(now.starts_with(&file) && now.contains(&format!("key = \"{free}\"")), "{setup}\n{now}");
        assert_eq!(checks_of(home.command(&[]), "keys")[0]["message"], "6 of 6 bound");
        // Another chord can be had, too, and undo gives the file back.
        let _ = home.run(&["setup", "--key", "delete=prefix+shift+z"]).success();
        assert!(home.read(CONFIG).contains("key = \"prefix+shift+z\""));
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.read(CONFIG), file);
        let _ = home.run(&["setup", "--key", "delete=prefix+shift+z"]).success();
        let now = home.read(CONFIG);
        assert!(now.starts_with(&file) && now.contains("key = \"prefix+shift+z\""), "{now}");
    }
}

#[test]
fn a_plugin_that_is_gone_or_broken_fails_and_setup_mends_it() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    says(&home, "plugin", "skip", "not set up yet");
    let _ = home.run(&["setup"]).success();
    says(&home, "plugin", "ok", "bundled");
    std::fs::remove_file(home.path().join(BUNDLE).join("herdr-plugin.toml")).unwrap();
    assert_eq!(says(&home, "plugin", "fail", "its manifest is gone")["fixable"], true);
    let _ = home.run(&["setup"]).success();
    let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).success();
    says(&home, "plugin", "fail", "not registered any more");
    let _ = home.run(&["setup"]).success();
    says(&home, "plugin", "ok", "bundled");
    home.write(".config/herdr/plugins.json", "{");
    says(&home, "plugin", "fail", "registry cannot be read");
}

#[test]
fn a_plugin_that_would_start_nothing_fails_the_doctor_and_setup_mends_it() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    // Set up by a copy that goes away.
    let copy = home.path().join("bin/createos-sandbox");
    // By a program of its own: a descriptor of ours would keep the copy busy for a moment.
    let copied = Command::new("cp").arg(crate::support::binary()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let _ = outcome(home.command_of(&copy, &["setup", "--yes"])).success();
    says(&home, "plugin", "ok", "bundled");
    std::fs::rename(&copy, home.path().join("gone")).unwrap();
    let check = says(&home, "plugin", "fail", "no key works: its manifest starts");
    assert_eq!((&check["required"], &check["fixable"]), (&true.into(), &true.into()), "{check}");
    assert_eq!(home.run(&["setup", "--doctor"]).code, 1);
    // What is there and is something else is none either.
    program(&home, "bin/createos-sandbox", "#!/bin/sh\necho something else\n");
    says(&home, "plugin", "fail", "is not createos-sandbox");
    program(&home, "bin/createos-sandbox", "#!/bin/sh\nexit 3\n");
    says(&home, "plugin", "fail", "--version ended with 3");
    std::fs::remove_file(&copy).unwrap();
    let _ = home.run(&["setup"]).success();
    says(&home, "plugin", "ok", "bundled");
    // A manifest that is not ours any more: an action less breaks its key, other words do not.
    let path = format!("{BUNDLE}/herdr-plugin.toml");
    let ours = home.read(&path);
    home.write(&path, ours.replace("id = \"apply\"", "id = \"aply\""));
    says(&home, "plugin", "fail", "its manifest lacks: action apply");
    home.write(&path, ours.replace("pause the box", "let the box rest"));
    says(&home, "plugin", "warn", "its manifest is of another version");
    let _ = home.run(&["setup"]).success();
    assert_eq!(home.read(&path), ours);
}

#[test]
fn the_isolation_that_is_told_is_the_one_that_a_box_gets() {
    for user in User::all() {
        let home = machine(user).var("TMPDIR", "/tmp");
        let _herdr = Herdr::in_home(&home);
        let check = check_with(&home, "local-sandbox", &[]);
        let created = home.run(&["local", "sandbox", "create", "--shape", "s-1vcpu-1gb", "--name", "probe"]);
        assert_eq!(check["status"] == "ok", created.code == 0, "{check} {created:?}");
        assert_eq!(check["required"], false);
        let _ = home.run(&["local", "sandbox", "rm", "--yes", "probe"]);
    }
    // Where no folder can be made for it, that is the reason.
    let home = machine(User::Me).var("TMPDIR", "/nonexistent");
    let _herdr = Herdr::in_home(&home);
    says(&home, "local-sandbox", "warn", "");
}

#[test]
fn records_that_cannot_be_read_are_a_warning() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    says(&home, "boxes", "ok", "no pane is tied to a box");
    home.write(".local/state/herdr/plugins/createos.sandbox/state.json", "{");
    assert!(says(&home, "boxes", "warn", "")["path"].as_str().unwrap().contains("createos.sandbox"));
    // Herdr's own variable moves them.
    let home = machine(User::Me);
    let elsewhere = home.path().join("states");
    let home = home.var("XDG_STATE_HOME", elsewhere.to_str().unwrap());
    let _herdr = Herdr::in_home(&home);
    home.write("states/herdr/plugins/createos.sandbox/state.json", "{");
    says(&home, "boxes", "warn", "");
}
