//! Two setups at once: the one that planned on what is not there any more steps back.

use super::{CONFIG, SETTINGS, machine, tree};
use crate::support::{Herdr, Pty, User};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn one_that_waited_at_its_question_leaves_the_others_setup_alone() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let mut waiting = Pty::spawn(home.command(&["setup"]), 40, 100);
    waiting.expect("Continue?", LIMIT);
    let _ = home.run(&["setup"]).success();
    let after = tree(&home.path().join(".local/share"));
    let keys = home.read(CONFIG);
    waiting.send("y\r");
    assert_eq!(waiting.wait(LIMIT).code(), Some(1), "{}", waiting.text());
    waiting.expect("set up by another run meanwhile", LIMIT);
    assert_eq!((tree(&home.path().join(".local/share")), home.read(CONFIG)), (after, keys));
    assert_eq!(herdr.registry().len(), 1);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(!home.path().join(SETTINGS).exists() && herdr.registry().is_empty());
}

#[test]
fn an_undo_that_waited_at_its_question_leaves_a_newer_setup_alone() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let mut waiting = Pty::spawn(home.command(&["setup", "--undo"]), 40, 100);
    waiting.expect("Take it back?", LIMIT);
    let _ = home.run(&["setup", "--force", "--agent", "pi"]).success();
    let settings = home.read(SETTINGS);
    waiting.send("y\r");
    assert_eq!(waiting.wait(LIMIT).code(), Some(1), "{}", waiting.text());
    assert_eq!(home.read(SETTINGS), settings);
    assert_eq!(herdr.registry().len(), 1);
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(!home.path().join(SETTINGS).exists());
}
