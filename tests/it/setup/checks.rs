//! Each check of the doctor in each of its states, as the document has them.

use super::{BUNDLE, CONFIG, SETTINGS, createos, machine};
use crate::support::{Herdr, Home, PATH, Pty, User, outcome, program};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

/// A home on whose PATH nothing else is: a good copy of a program further on would be taken.
fn alone() -> Home {
    let home = Home::new().with_bin();
    let path = home.path().join("bin").display().to_string();
    let home = home.var("PATH", path);
    createos(&home, "v0.0.29", true);
    home
}

/// Every check with this id, by a doctor with these flags.
fn checks_of(mut doctor: Command, id: &str) -> Vec<Value> {
    doctor.args(["setup", "--doctor", "--json"]);
    let report = outcome(doctor).json();
    let all = report["checks"].as_array().expect("checks").clone();
    all.into_iter().filter(|check| check["id"] == id).collect()
}

fn check_with(home: &Home, id: &str, flags: &[&str]) -> Value {
    let mut doctor = home.command(&[]);
    doctor.args(["setup", "--doctor", "--json"]).args(flags);
    let report = outcome(doctor).json();
    let all = report["checks"].as_array().expect("checks").clone();
    all.into_iter().find(|check| check["id"] == id).expect("the check")
}

/// Status and sentence of the first check with this id.
#[track_caller]
fn says(home: &Home, id: &str, status: &str, words: &str) -> Value {
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
        "mappings",
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
fn programs_are_required_by_their_versions() {
    let home = alone();
    let mut herdr = Herdr::in_home(&home);
    for (version, status) in
        [("v0.0.25", "fail"), ("v0.0.26", "ok"), ("v0.1", "ok"), ("dev", "ok"), ("nightly", "ok")]
    {
        createos(&home, version, true);
        assert_eq!(check_with(&home, "createos", &[])["status"], status, "{version}");
    }
    for (version, status) in [("2.30.9", "fail"), ("2.31.0", "ok"), ("2.39.5 (Apple Git-154)", "ok")] {
        program(&home, "bin/git", &format!("#!/bin/sh\necho 'git version {version}'\n"));
        assert_eq!(check_with(&home, "git", &[])["status"], status, "{version}");
    }
    if herdr.is_stand_in() {
        for (version, status) in [("0.7.4", "fail"), ("0.7.5-preview.1", "ok"), ("0.10.0", "ok")] {
            herdr.script("version", version.into());
            let check = check_with(&home, "herdr", &[]);
            assert_eq!(check["status"], status, "{version}");
            assert_eq!(check["needed"].is_null(), status == "ok");
        }
    }
}

#[test]
fn bun_is_required_only_by_a_plugin_that_runs_on_it() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let check = check_with(&home, "bun", &[]);
    assert_eq!((&check["status"], &check["required"]), (&"skip".into(), &false.into()));
    program(&home, "bin/bun", "#!/bin/sh\nexit 3\n");
    let check = check_with(&home, "bun", &["--source", "github"]);
    assert_eq!((&check["status"], &check["required"]), (&"fail".into(), &true.into()), "{check}");
    let refused = home.run(&["setup", "--source", "github"]).fails(1, "cannot be set up yet");
    assert!(refused.stderr.contains("bun --version ended with 3"), "{}", refused.stderr);
    // One that is there already and runs on Bun counts as well.
    let manifest = "id = \"createos.sandbox\"\nname = \"x\"\nversion = \"1.0.0\"\nmin_herdr_version = \"0.7.5\"\n\
                    platforms = [\"linux\"]\n[[actions]]\nid = \"start\"\ntitle = \"S\"\ncommand = [\"bun\", \"x.ts\"]\n";
    home.write("theirs/herdr-plugin.toml", manifest);
    let _ = herdr.run(&["plugin", "link", "theirs"]).success();
    assert_eq!(check_with(&home, "bun", &[])["status"], "fail");
}

#[test]
fn a_session_is_mended_by_a_login_on_a_terminal_and_by_a_key_without_one() {
    let home = machine(User::Me);
    createos(&home, "v0.0.29", false);
    let _herdr = Herdr::in_home(&home);
    let check = says(&home, "session", "fail", "createos is not signed in: your session has expired");
    assert_eq!(check["fix"], "put a key into CREATEOS_API_KEY, or on a terminal: createos login");
    let mut terminal = Pty::spawn(home.command(&["setup", "--doctor"]), 60, 120);
    terminal.expect("Nothing was changed.", Duration::from_secs(60));
    assert_eq!(terminal.wait(Duration::from_secs(60)).code(), Some(1));
    assert!(terminal.text().contains("fix: createos login"), "{}", terminal.text());
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
        "prefix+shift+x deletes a sandbox, after a question, here; Herdr's close_tab has no key"
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
    home.write(&path, ours.replace("pause the sandbox", "pause the box"));
    says(&home, "plugin", "warn", "its manifest is of another version");
    let _ = home.run(&["setup"]).success();
    assert_eq!(home.read(&path), ours);
}

#[test]
fn each_program_is_chosen_once_and_another_one_first_on_path_is_a_warning() {
    let good = machine(User::Me);
    let path = format!("{0}/old:{0}/bin:{PATH}", good.path().display());
    let good = good.var("PATH", path);
    let herdr = Herdr::in_home(&good);
    if !herdr.is_stand_in() {
        return;
    }
    // Old ones come first; whoever asks them for more than their version fails.
    let old = |name: &str, version: &str| {
        let text = format!("#!/bin/sh\n[ \"$*\" = --version ] && echo '{name} {version}' && exit\nexit 97\n");
        program(&good, &format!("old/{name}"), &text);
    };
    old("createos", "v0.0.20");
    old("herdr", "0.7.0");
    says(&good, "session", "ok", "signed in");
    let all = checks_of(good.command(&[]), "createos");
    assert_eq!((&all[0]["status"], &all[0]["found"]), (&"ok".into(), &"0.0.29".into()), "{all:?}");
    assert_eq!(all[1]["message"], "PATH leads to ~/old/createos first, and ~/bin/createos is used here");
    assert_eq!((&all[1]["status"], &all[1]["fix"]), (&"warn".into(), &"put ~/bin before it on PATH".into()));
    assert_eq!(checks_of(good.command(&[]), "herdr")[1]["status"], "warn");
    says(&good, "herdr-config", "ok", "");
    let setup = good.run(&["setup"]).success();
    assert!(setup.stdout.contains("PATH leads to ~/old/herdr first"), "{}", setup.stdout);
    let recorded: Value = serde_json::from_str(&good.read(&format!("{BUNDLE}/programs.json"))).unwrap();
    for name in ["createos", "herdr"] {
        let path = good.path().join("bin").join(name);
        assert_eq!(recorded[name], path.to_str().unwrap(), "{recorded}");
    }
    // The actions use the same one: the old one would end with 97.
    let listed = good.run(&["herdr", "info"]);
    assert!(!listed.stderr.contains("97"), "{listed:?}");
    // Herdr's own variable decides for all of them.
    let old = good.path().join("old/herdr").display().to_string();
    let mut named = good.command(&[]);
    named.env("HERDR_BIN_PATH", old);
    assert_eq!(checks_of(named, "herdr")[0]["message"], "herdr 0.7.0 is too old; its panes show the agents");
}

#[test]
fn programs_that_are_recorded_have_to_be_there() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    says(&home, "paths", "skip", "nothing is recorded yet");
    let _ = home.run(&["setup"]).success();
    says(&home, "paths", "ok", "where they were");
    std::fs::rename(home.path().join("bin/createos"), home.path().join("createos")).unwrap();
    let check = says(&home, "paths", "warn", "createos at ~/bin/createos");
    assert_eq!(check["fixable"], true);
    let _ = home.run(&["setup", "--provider", "local"]).success();
    let _ = home.run(&["setup", "--force", "--provider", "local"]).success();
    says(&home, "paths", "ok", "where they were");
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
    says(&home, "mappings", "ok", "no pane is tied to a box");
    home.write(".local/state/herdr/plugins/createos.sandbox/state.json", "{");
    assert!(says(&home, "mappings", "warn", "")["path"].as_str().unwrap().contains("createos.sandbox"));
    // Herdr's own variable moves them.
    let home = machine(User::Me);
    let elsewhere = home.path().join("states");
    let home = home.var("XDG_STATE_HOME", elsewhere.to_str().unwrap());
    let _herdr = Herdr::in_home(&home);
    home.write("states/herdr/plugins/createos.sandbox/state.json", "{");
    says(&home, "mappings", "warn", "");
}

#[test]
fn the_link_under_the_official_name_has_to_come_first() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    says(&home, "shim", "skip", "not installed");
    let _ = home.run(&["shim", "install"]).success();
    says(&home, "shim", "warn", "its folder is not on PATH");
    let folder = home.path().join(".local/share/createos-sandbox/shim");
    let on = |path: String| {
        let mut doctor = home.command(&[]);
        doctor.env("PATH", path);
        checks_of(doctor, "shim")[0].clone()
    };
    let bin = home.path().join("bin");
    let behind = on(format!("{}:{}:{PATH}", bin.display(), folder.display()));
    assert_eq!(behind["message"], "~/bin/createos comes before the link on PATH");
    let first = on(format!("{}:{}:{PATH}", folder.display(), bin.display()));
    assert_eq!(first["status"], "ok", "{first}");
    std::fs::remove_file(folder.join("createos")).unwrap();
    symlink("/nonexistent/createos-sandbox", folder.join("createos")).unwrap();
    says(&home, "shim", "warn", "the link leads to /nonexistent/createos-sandbox, which is gone");
    let _ = home.run(&["shim", "remove"]).success();
    assert!(!home.path().join(".local/share/createos-sandbox").exists(), "nothing of ours is left");
}

#[test]
fn whatever_hangs_is_given_up_and_the_rest_is_told() {
    let home = alone();
    home.write(SETTINGS, "{}");
    for name in ["herdr", "createos", "git", "bun"] {
        program(&home, &format!("bin/{name}"), "#!/bin/sh\nexec /bin/sleep 600\n");
    }
    let report = home.run(&["setup", "--doctor", "--json"]).json();
    assert_eq!(report["exitCode"], 1);
    let said = |id: &str| {
        let all = report["checks"].as_array().unwrap();
        let check = all.iter().find(|check| check["id"] == id).unwrap();
        format!("{} {}", check["status"].as_str().unwrap(), check["message"].as_str().unwrap())
    };
    for id in ["createos", "session", "herdr", "git", "herdr-server", "herdr-config"] {
        assert!(said(id).contains("did not finish within "), "{id}: {}", said(id));
    }
    assert_eq!(said("config"), "ok agent claude-code, boxes on CreateOS");
}
