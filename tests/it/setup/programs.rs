//! The checks of programs: which copy, how old, where, and what one that hangs does.

use super::checks::{alone, check_with, checks_of, says};
use super::{BUNDLE, SETTINGS, createos, machine};
use crate::support::{Herdr, PATH, Pty, User, program};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::time::Duration;

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
    // The actions use the same one: the old one would end with 97, and says what it was asked in a file.
    let log = good.path().join("asked");
    for name in ["createos", "herdr"] {
        let text = format!("#!/bin/sh\necho {name} \"$@\" >> '{}'\nexit 97\n", log.display());
        program(&good, &format!("old/{name}"), &text);
    }
    let listed = good.run(&["herdr", "boxes"]);
    assert!(!listed.stderr.contains("97"), "{listed:?}");
    assert!(
        !log.exists(),
        "an action asked the other one: {}",
        std::fs::read_to_string(&log).unwrap_or_default()
    );
    old("createos", "v0.0.20");
    old("herdr", "0.7.0");
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
