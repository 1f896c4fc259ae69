//! `cos shell`, on a terminal.

use super::Cos;
use crate::support::{Pty, eventually};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_shell_has_a_box_of_its_own_that_goes_with_it() {
    let cos = Cos::local();
    let mut shell = Pty::spawn(cos.command(&["shell", "-v", "A=set"]), 24, 100);
    eventually("the shell is there", LONG, || shell.text().contains("it goes with this shell"));
    shell.send("echo $A-$((40 + 2)); tty; exit 5\r");
    eventually("it has heard", LONG, || shell.text().contains("set-42"));
    assert_eq!(shell.wait(LONG).code(), Some(5));
    cos.has_nothing_left();
}

#[test]
fn a_terminal_that_goes_away_takes_the_box_with_it() {
    let cos = Cos::local();
    let mut shell = Pty::spawn(cos.command(&["shell"]), 24, 100);
    eventually("the shell is there", LONG, || shell.text().contains("it goes with this shell"));
    shell.send("trap '' HUP; echo rea''dy; sleep 1000\r");
    eventually("it has heard", LONG, || shell.text().contains("ready"));
    drop(shell);
    // The terminal's end, or the next call that finds what a killed one has left.
    eventually("the box goes", LONG, || {
        let _ = cos.run(&["status"]).success();
        cos.boxes().is_empty() && cos.records().is_empty()
    });
}

#[test]
fn without_a_terminal_it_says_what_to_type_and_makes_nothing() {
    let cos = Cos::local();
    let told = cos.run(&["shell"]).fails(1, "a shell needs a terminal");
    assert!(told.stderr.contains("createos-sandbox cos shell"), "{told:?}");
    cos.has_nothing_left();
}
