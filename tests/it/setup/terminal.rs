//! A person at a terminal: the plan is shown, one question is asked.

use super::{CONFIG, machine, tree};
use crate::support::{Herdr, Pty, Terminal, User};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn the_plan_is_shown_and_no_means_nothing_changes() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let before = tree(home.path());
    for (answer, code) in [("n", 1), ("\x03", 130)] {
        let mut terminal = Pty::spawn(home.command(&["setup"]), 60, 120);
        terminal.expect("Continue?", LIMIT);
        assert!(terminal.text().contains("ctrl+b shift+s  start"), "{}", terminal.text());
        assert!(!terminal.text().contains("+key = "), "{}", terminal.text());
        terminal.send("d");
        terminal.expect("+key = \"prefix+shift+s\"", LIMIT);
        terminal.expect("[Y/n/k/t]", LIMIT);
        terminal.send(answer);
        let status = terminal.wait(LIMIT);
        assert_eq!(status.code(), Some(code), "{}", terminal.text());
        // The question hides the cursor; it is given back.
        terminal.expect("\x1b[?25h", LIMIT);
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
    terminal.expect("press ctrl+b, then shift+s", LIMIT);
    assert!(terminal.wait(LIMIT).success(), "{}", terminal.text());
    assert!(home.read(CONFIG).contains("createos.sandbox.start"));
}

/// The usual first setup, with a chord that is taken: title, keys and question are on one screen.
#[test]
fn the_plan_and_its_question_are_on_one_screen() {
    for (rows, columns) in [(24, 80), (36, 45)] {
        let home = machine(User::Me);
        let _herdr = Herdr::in_home(&home);
        home.write(
            CONFIG,
            "[ui]\n[[keys.command]]\nkey = \"prefix+shift+c\"\ntype = \"shell\"\ncommand = \"cargo watch\"\n",
        );
        let mut asks = Pty::spawn(home.command(&["setup"]), rows, columns);
        asks.expect("[Y/n/d/k/t]", LIMIT);
        let mut terminal = Terminal::new(rows, columns, 0);
        terminal.process(&asks.bytes());
        let shown = terminal.screen().contents();
        for part in ["Setting up Herdr", "ctrl+b shift+s  start", "ctrl+b alt+c    attach", "Continue?"] {
            assert!(shown.contains(part), "{part} is not in sight at {rows}x{columns}:\n{shown}");
        }
        let words: Vec<&str> = shown.split_whitespace().collect();
        for word in ["bundled", "bindings", "first,", "instead", "notices", "tell", "did"] {
            assert!(words.contains(&word), "{word} is broken at {rows}x{columns}:\n{shown}");
        }
        asks.send("n");
        assert_eq!(asks.wait(LIMIT).code(), Some(1));
    }
}

/// Herdr's own close_tab is given away only by who says so, and so are its notices turned on.
#[test]
fn the_question_offers_to_keep_herdrs_key_and_to_turn_its_notices_on() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "ui = { theme = \"x\" }\n");
    let mut terminal = Pty::spawn(home.command(&["setup"]), 60, 160);
    terminal.expect("t  turns Herdr's notices on", LIMIT);
    terminal.expect("[Y/n/d/k/t]", LIMIT);
    let text = terminal.text();
    assert!(text.contains("k  keeps Herdr's close_tab: delete gets prefix+alt+x"), "{text}");
    assert!(
        text.contains("prefix+shift+x runs delete, which asks first, instead of Herdr's own close_tab"),
        "{text}"
    );
    let way_back = "createos-sandbox setup herdr --key delete=prefix+alt+x";
    assert!(text.contains(&format!("to keep close_tab: {way_back}")), "{text}");
    terminal.send("k");
    terminal.expect("[Y/n/d/t]", LIMIT);
    terminal.send("t");
    terminal.expect("[Y/n/d] ", LIMIT);
    terminal.send("y");
    terminal.expect("Take it all back", LIMIT);
    assert!(terminal.wait(LIMIT).success(), "{}", terminal.text());
    let now = home.read(CONFIG);
    assert!(now.starts_with("ui = { theme = \"x\", toast = { delivery = \"herdr\" } }\n"), "{now}");
    assert!(now.contains("key = \"prefix+alt+x\"") && !now.contains("prefix+shift+x"), "{now}");
    assert!(!terminal.text().contains("has no key now"), "{}", terminal.text());
    // Enter alone takes the published chord; the last words name the way back, and it works.
    let _ = home.run(&["setup", "--undo"]).success();
    let mut terminal = Pty::spawn(home.command(&["setup"]), 60, 160);
    terminal.expect("Continue?", LIMIT);
    terminal.send("\r");
    terminal.expect("Take it all back", LIMIT);
    assert!(terminal.text().contains(&format!("delete another one: {way_back}")), "{}", terminal.text());
    assert!(home.read(CONFIG).starts_with("ui = { theme = \"x\" }\n"), "{}", home.read(CONFIG));
    let words: Vec<&str> = way_back.split(' ').skip(1).collect();
    let _ = home.run(&words).success();
    assert!(!home.read(CONFIG).contains("prefix+shift+x"), "{}", home.read(CONFIG));
}

#[test]
fn with_yes_on_the_command_line_nothing_is_asked() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mut terminal = Pty::spawn(home.command(&["setup", "--yes"]), 60, 120);
    assert!(terminal.wait(LIMIT).success(), "{}", terminal.text());
    assert!(!terminal.text().contains("Continue?"), "{}", terminal.text());
}

/// A second question is ended by Ctrl-C as the first one is, and elsewhere Ctrl-C ends the program as always.
#[test]
fn ctrl_c_at_any_question_changes_nothing_and_ends_with_130() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "--yes"]).success();
    let before = tree(home.path());
    let mut terminal = Pty::spawn(home.command(&["setup", "--undo"]), 60, 120);
    terminal.expect("Take it back?", LIMIT);
    terminal.send("\x03");
    assert_eq!(terminal.wait(LIMIT).code(), Some(130), "{}", terminal.text());
    terminal.expect("stopped at the question", LIMIT);
    assert_eq!(tree(home.path()), before);
}

/// On a terminal that is too narrow for a line its path stands below it in one piece, and words keep their column.
#[test]
fn the_doctor_keeps_its_columns_on_a_narrow_terminal() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mut terminal = Pty::spawn(home.command(&["setup", "herdr", "--doctor"]), 24, 60);
    terminal.expect("Nothing was changed.", LIMIT);
    assert!(terminal.wait(LIMIT).success(), "{}", terminal.text());
    let text = terminal.text().replace("\r\n", "\n");
    let column = " ".repeat(23);
    let path = "~/.config/herdr/plugins/config/createos.sandbox/config.json";
    let config = format!("  config         there is none, so the defaults apply\n{column}{path}\n");
    assert!(text.contains(&config), "{text}");
    let egress = format!("  egress         open: a box may reach anything (no\n{column}egress list)\n");
    assert!(text.contains(&egress), "{text}");
}

/// As the terminal shows it, which breaks what is too wide: paths and commands, and no word.
#[test]
fn the_doctor_breaks_no_word_and_tells_faults_again_at_the_end() {
    for columns in [80, 40] {
        let home = machine(User::Me);
        let _herdr = Herdr::in_home(&home);
        home.write(CONFIG, "[[keys.command]]\n");
        let mut command = home.command(&["setup", "herdr", "--doctor"]);
        command.env("ANTHROPIC_API_KEY", "not-a-key").env("NO_COLOR", "1");
        let doctor = Pty::spawn(command, 24, columns);
        doctor.expect("changed.", LIMIT);
        let mut terminal = Terminal::new(24, columns, 0);
        terminal.process(&doctor.bytes());
        let end = terminal.screen().contents();
        assert!(end.contains("ANTHROPIC_API_KEY"), "the fault is in sight at the end:\n{end}");
        let all = doctor.text().replace("\r\n", "\n");
        let fault = "sign the agent in inside its own pane, the first time that it starts";
        assert_eq!(plain_words(&all).matches(fault).count(), 2, "{all}");
        for line in all.lines().filter(|line| line.chars().count() > usize::from(columns)) {
            let is_path_or_command = line.contains('/') || line.contains("createos-sandbox ");
            assert!(is_path_or_command, "a word may break at {columns} columns: {line}");
        }
    }
}

/// The words of a text, a blank between each.
fn plain_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
