//! Killed at every write point: the next run finishes it or takes it back, and no file is ever half written.
//! The points exist in debug builds only.

use super::{CONFIG, SETTINGS, machine};
use crate::support::{Herdr, User};

const MINE: &str = "# mine\n[ui]\nx = 1\n\n[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"";
const DATA: &str = ".local/share/createos-sandbox";
const KILLED: i32 = 128 + 9;

#[test]
fn every_point_can_be_finished_and_every_point_can_be_undone() {
    let finished = {
        let home = machine(User::Me);
        let _herdr = Herdr::in_home(&home);
        home.write(CONFIG, MINE);
        let _ = home.run(&["setup"]).success();
        (home.read(CONFIG), home.read(SETTINGS))
    };
    let mut points = 0;
    for at in 1.. {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        home.write(CONFIG, MINE);
        let mut command = home.command(&["setup"]);
        command.env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
        let code = crate::support::outcome(command).code;
        let config = home.read(CONFIG);
        assert!(config == MINE || config == finished.0, "half written at point {at}: {config}");
        if code == 0 {
            break;
        }
        assert_eq!(code, KILLED, "point {at}");
        points += 1;
        if at % 2 == 0 {
            let _ = home.run(&["setup"]).success();
            assert_eq!((home.read(CONFIG), home.read(SETTINGS)), finished, "finished after point {at}");
            assert_eq!(herdr.registry().len(), 1);
        }
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.read(CONFIG), MINE, "undone after point {at}");
        assert!(
            !home.path().join(SETTINGS).exists() && herdr.registry().is_empty(),
            "undone after point {at}"
        );
        let left: Vec<_> = std::fs::read_dir(home.path().join(".config/herdr"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with(".createos-sandbox"))
            .collect();
        assert!(left.is_empty(), "left after point {at}: {left:?}");
    }
    assert!(points >= 10, "only {points} points");
}

#[test]
fn an_undo_that_was_killed_is_finished_by_the_next_one() {
    for at in 1.. {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        home.write(CONFIG, MINE);
        let _ = home.run(&["setup"]).success();
        let mut command = home.command(&["setup", "--undo"]);
        command.env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
        let code = crate::support::outcome(command).code;
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.read(CONFIG), MINE, "after point {at}");
        assert!(!home.path().join(SETTINGS).exists() && herdr.registry().is_empty(), "after point {at}");
        assert!(!home.path().join(DATA).exists(), "copies are left after point {at}");
        if code == 0 {
            assert!(at > 5, "only {at} points");
            return;
        }
        assert_eq!(code, KILLED, "point {at}");
    }
}
