//! Every screen of ours at the widths that panes have: nothing of it is lost, whatever column a line ends in.

use super::delete::ask_delete;
use super::narrow::start_in_a_small_pane;
use super::world::{CALM, LONG, World, typed};
use crate::support::{Pty, Terminal, eventually};

pub(crate) const ROWS: u16 = 60;

/// What a screen of so many columns shows, without its blanks and line ends.
pub(crate) fn letters(pty: &Pty, columns: u16) -> String {
    let mut terminal = Terminal::new(ROWS, columns, 0);
    terminal.process(&pty.bytes());
    terminal.screen().contents().split_whitespace().collect()
}

#[track_caller]
pub(crate) fn shows(pty: &Pty, columns: u16, text: &str) {
    let text: String = text.split_whitespace().collect();
    let began = std::time::Instant::now();
    while !letters(pty, columns).contains(&text) {
        let seen = letters(pty, columns);
        assert!(began.elapsed() < LONG, "[{text}] is not on {columns} columns:\n{seen}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The start, its holding screen, the popups, the review and the list, each with what has to be readable there.
fn every_screen(columns: u16) {
    let world = World::new();
    let size = (ROWS, columns);
    let mut pane = start_in_a_small_pane(&world, size);
    pane.expect("detaches", LONG);
    let name = world.box_name();
    let id = world.records()[0]["boxId"].as_str().expect("an id").to_owned();
    shows(&pane, columns, &format!("Shell in {name} s-2vcpu-4gb, pauses after 30m"));
    shows(&pane, columns, &format!("1/5 create {id}"));
    shows(&pane, columns, "3/5 prepare starting point kept");
    shows(&pane, columns, "attached. Ctrl-] detaches");

    let line: String = ('a'..='z').cycle().take(usize::from(columns) - 1).collect();
    world.in_box(&id, &format!("cd /workspace && echo {line} >> README.md && echo {line}{line} > new.txt"));
    let first = world.pane_ids()[0].clone();
    let mut review = Pty::spawn(typed(&world, &first, &["herdr", "review", &name]), ROWS, columns);
    review.expect("y apply to", LONG);
    shows(&review, columns, "changed README.md");
    shows(&review, columns, &format!("+{line}"));
    shows(&review, columns, &format!("+{line}{line}"));
    std::thread::sleep(CALM);
    review.send("q");
    assert!(review.wait(LONG).success(), "{}", review.text());

    let mut message = typed(&world, &first, &["herdr", "message"]);
    let command = "createos-sandbox setup herdr --egress github.com --egress api.example.com --force";
    message.env("CREATEOS_SANDBOX_MESSAGE", format!("start\n\nerror: no way out\nhelp: run: {command}"));
    let message = Pty::spawn(message, ROWS, columns);
    shows(&message, columns, &format!("start error: no way out help: run: {command} any key closes this"));

    let question = ask_delete(&world, &first, size);
    shows(&question, columns, &format!("Delete this box for ever? box {name} (Shell) worktree ~/shop"));
    shows(&question, columns, "any other key keep it");

    world
        .repo
        .write(".gitignore", "*.local\n")
        .write(".worktreeinclude", "*.local\n")
        .write("mine.local", "x");
    let trust = Pty::spawn(typed(&world, &first, &["herdr", "ask-trust"]), ROWS, columns);
    let asked = ".worktreeinclude of ~/shop names 1 file that git ignores, 1 B. \
                 They would go into the box, which may be in the cloud: mine.local";
    shows(&trust, columns, asked);
    shows(&trust, columns, "y let them leave with the rest any other key keep them home");

    let mut list = Pty::spawn(world.home.command(&["herdr", "boxes"]), ROWS, columns);
    shows(&list, columns, "1 box Enter attach d delete j k move q quit");
    shows(&list, columns, &name);
    list.send("q");
    assert!(list.wait(LONG).success());

    pane.send("exit 7\r");
    pane.expect("close this pane", LONG);
    shows(&pane, columns, &format!("Shell in {name}: the agent has ended, exit code 7."));
    shows(&pane, columns, "Enter resume and reattach s a shell on THIS machine, in ~/shop q close this pane");
    std::thread::sleep(CALM);
    pane.send("q");
    assert!(pane.wait(LONG).success());
    eventually("the box stays", LONG, || world.boxes().len() == 1);
}

#[test]
fn nothing_is_lost_in_a_pane_of_forty_five_columns() {
    every_screen(45);
}

#[test]
fn nothing_is_lost_in_a_pane_of_twenty_five_columns() {
    every_screen(25);
}
