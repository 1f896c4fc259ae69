//! A person at a terminal: the plan is shown, one question is asked.

use super::{CONFIG, machine, tree};
use crate::support::{Herdr, Pty, User};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn the_plan_is_shown_and_no_means_nothing_changes() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let before = tree(home.path());
    for (answer, code) in [("n", Some(1)), ("\x03", None)] {
        let mut terminal = Pty::spawn(home.command(&["setup"]), 60, 120);
        terminal.expect("Continue?", LIMIT);
        assert!(terminal.text().contains("+key = \"prefix+shift+s\""), "{}", terminal.text());
        terminal.send(answer);
        let status = terminal.wait(LIMIT);
        match code {
            Some(code) => assert_eq!(status.code(), Some(code), "{}", terminal.text()),
            None => assert!(status.signal() == Some(2) || status.code() == Some(130), "{status:?}"),
        }
        assert_eq!(tree(home.path()), before, "{answer:?}");
    }
}

#[test]
fn yes_goes_on() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mut terminal = Pty::spawn(home.command(&["setup"]), 60, 120);
    terminal.expect("Continue?", LIMIT);
    terminal.send("y");
    terminal.expect("press prefix+shift+s", LIMIT);
    assert!(terminal.wait(LIMIT).success(), "{}", terminal.text());
    assert!(home.read(CONFIG).contains("createos.sandbox.start"));
}

#[test]
fn with_yes_on_the_command_line_nothing_is_asked() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mut terminal = Pty::spawn(home.command(&["setup", "--yes"]), 60, 120);
    assert!(terminal.wait(LIMIT).success(), "{}", terminal.text());
    assert!(!terminal.text().contains("Continue?"), "{}", terminal.text());
}
