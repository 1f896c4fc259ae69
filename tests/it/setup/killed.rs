//! Killed at every write point: the next run finishes it or takes it back, no file is ever half written, and the
//! whole home is as it was before. The points exist in debug builds only.

use super::{CONFIG, SETTINGS, contents, machine, seen_once};
use crate::support::{Herdr, Home, User, on_github, outcome};
use std::os::unix::fs::symlink;

const MINE: &str = "# mine\n[ui]\nx = 1\n\n[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"";
const KILLED: i32 = 128 + 9;

/// A home with bindings of the user's own.
fn ready() -> Home {
    let home = machine(User::Me);
    home.write(CONFIG, MINE);
    home
}

/// Runs it and kills it at this point; false when it came to its end before.
fn killed(home: &Home, at: u32, args: &[&str]) -> bool {
    let mut command = home.command(args);
    command.env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
    let ended = outcome(command);
    assert!(ended.code == 0 || ended.code == KILLED, "point {at}: {ended:?}");
    ended.code == KILLED
}

/// The texts that `config.toml` and `config.json` have after a setup.
fn finished(args: &[&str]) -> (String, String) {
    let home = ready();
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(args).success();
    (home.read(CONFIG), home.read(SETTINGS))
}

#[test]
fn every_point_can_be_finished_and_every_point_can_be_undone() {
    let finished = finished(&["setup"]);
    let mut points = 0;
    for at in 1.. {
        let home = ready();
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        let before = contents(home.path());
        let was_killed = killed(&home, at, &["setup"]);
        let config = home.read(CONFIG);
        assert!(config == MINE || config == finished.0, "half written at point {at}: {config}");
        if at % 2 == 0 {
            let _ = home.run(&["setup"]).success();
            assert_eq!((home.read(CONFIG), home.read(SETTINGS)), finished, "finished after point {at}");
            assert_eq!(herdr.registry().len(), 1);
        }
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(contents(home.path()), before, "undone after point {at}");
        if !was_killed {
            break;
        }
        points += 1;
    }
    assert!(points >= 10, "only {points} points");
}

#[test]
fn an_undo_that_was_killed_is_finished_by_the_next_one() {
    let mut points = 0;
    for at in 1.. {
        let home = ready();
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        let before = contents(home.path());
        let _ = home.run(&["setup"]).success();
        let was_killed = killed(&home, at, &["setup", "--undo"]);
        let config = home.read(CONFIG);
        assert!(
            config == MINE || config.contains("createos.sandbox.delete"),
            "half written at point {at}: {config}"
        );
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(contents(home.path()), before, "after point {at}");
        if !was_killed {
            break;
        }
        points += 1;
    }
    assert!(points > 5, "only {points} points");
}

/// Settings that are rewritten with a backup, a linked file whose folder is not there yet, a plugin from GitHub that
/// is replaced: every third point each, beginning with another one.
#[test]
fn the_longest_setup_can_be_undone_from_its_points() {
    let args = ["setup", "--force", "--agent", "pi"];
    let mut points = 0;
    for at in (1..).step_by(3) {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        let manifest =
            "id = \"createos.sandbox\"\nname = \"x\"\nversion = \"1.0.0\"\nmin_herdr_version = \"0.7.5\"\n";
        on_github(&home, "acme", "plug", &[("herdr-plugin.toml", manifest)]);
        let _ = herdr.run(&["plugin", "install", "acme/plug", "--yes"]).success();
        home.write(SETTINGS, "{\"agent\":\"codex\"}");
        symlink("../../dotfiles/herdr/config.toml", home.path().join(CONFIG)).unwrap();
        let before = settled(&home);
        let was_killed = killed(&home, at, &args);
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(settled(&home), before, "after point {at}");
        assert_eq!(herdr.registry()[0]["source"]["repo"], "plug", "after point {at}");
        if !was_killed {
            break;
        }
        points += 1;
    }
    assert!(points >= 5, "only {points} points");
}

/// Without what differs from one install to the next: the record of it, and the checkout.
fn settled(home: &Home) -> Vec<(String, String)> {
    let is_herdrs = |name: &str| name.ends_with("plugins.json") || name.contains("plugins/github");
    contents(home.path()).into_iter().filter(|(name, _)| !is_herdrs(name)).collect()
}

#[test]
fn a_failure_that_is_killed_while_it_is_taken_back_can_be_undone() {
    for at in 1.. {
        let home = ready();
        let mut herdr = Herdr::in_home(&home);
        if !herdr.is_stand_in() {
            return;
        }
        seen_once(&home, &herdr);
        let before = contents(home.path());
        herdr.script(
            "diagnostics",
            serde_json::json!([{ "text": "no such thing", "when": "createos.sandbox.start" }]),
        );
        let mut command = home.command(&["setup"]);
        command.env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
        let code = outcome(command).code;
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(contents(home.path()), before, "after point {at}");
        if code == 1 {
            assert!(at > 10, "only {at} points");
            return;
        }
        assert_eq!(code, KILLED, "point {at}");
    }
}
