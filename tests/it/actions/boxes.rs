//! The list of boxes on a terminal: its frame at every size, and what may reach the terminal.

use super::world::{LONG, World};
use crate::support::{Pty, Terminal, eventually};
use serde_json::json;
use std::time::{Duration, Instant};

/// Where each frame begins.
const HOME: &str = "\u{1b}[H";
/// What the list may tell a terminal; the terminal itself makes two ends of each line's end.
const SEQUENCES: [&str; 8] =
    ["\u{1b}[?1049h", "\u{1b}[?25l", HOME, "\u{1b}[K", "\u{1b}[J", "\u{1b}[7m", "\u{1b}[0m", "\r\r\n"];

/// The rows that the last two whole frames leave on a screen of this size; none when they push something out of
/// it, as frames of before a change of the size do.
fn rows(list: &Pty, (rows, columns): (u16, u16)) -> Vec<String> {
    let text = list.text();
    let frames: Vec<_> = text.split(HOME).collect();
    let mut terminal = Terminal::new(rows, columns, 1_000);
    for frame in frames.iter().rev().skip(1).take(2).rev() {
        terminal.process(format!("{HOME}{frame}").as_bytes());
    }
    if frames.len() < 4 || terminal.lost_rows() > 0 {
        return Vec::new();
    }
    terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
}

/// The output without the sequences of ours: what is left has no controls.
fn plain(text: &str) -> String {
    let mut text = text.to_owned();
    for row in 1..=40 {
        text = text.replace(&format!("\u{1b}[{row};1H"), "");
    }
    SEQUENCES.iter().fold(text, |text, sequence| text.replace(sequence, ""))
}

#[test]
fn the_list_fits_every_size_in_place_and_esc_gives_the_screen_back() {
    let mut world = World::new();
    let (_, pane) = world.start();
    let name = world.box_name();
    world.script("other_rows", json!(30));
    let mut list = Pty::spawn(world.home.command(&["herdr", "boxes"]), 24, 100);
    let keys = "31 boxes   Enter attach   d delete   j k move   q quit";
    for (size, head, count) in [
        ((24, 100), "BOX STATUS AUTO-PAUSE PANE WORKTREE", 21),
        ((10, 60), "BOX STATUS PANE WORKTREE", 7),
        ((40, 120), "BOX STATUS AUTO-PAUSE PANE WORKTREE", 31),
        ((24, 72), "BOX STATUS AUTO-PAUSE PANE WORKTREE", 21),
    ] {
        list.resize(size.0, size.1);
        let words = |row: &String| row.split_whitespace().collect::<Vec<_>>().join(" ");
        let auto_pause = if size.1 < 72 { "" } else { " 30m" };
        let own = format!("{name} running{auto_pause} {pane} ~/shop");
        let fits = || {
            let seen = rows(&list, size);
            seen.iter().take_while(|row| !row.is_empty()).count() == count + 1
                && (words(&seen[0]), words(&seen[1])) == (head.to_owned(), own.clone())
                && seen[usize::from(size.0) - 1] == keys
        };
        let began = Instant::now();
        while !fits() {
            assert!(began.elapsed() < LONG, "at {size:?}:\n{}", rows(&list, size).join("\n"));
            std::thread::sleep(Duration::from_millis(50));
        }
        // The last of them is reached at every size.
        list.send("j".repeat(30));
        let last = || rows(&list, size).iter().any(|row| row.starts_with("other-29"));
        eventually("the last row is there", LONG, last);
        list.send("k".repeat(30));
    }
    list.resize(2, 60);
    eventually("two rows are enough for the keys", LONG, || {
        rows(&list, (2, 60)).last() == Some(&keys.into())
    });
    list.resize(24, 72);
    let text = plain(&list.text());
    let strange: String = text.chars().filter(|c| c.is_control() || *c == '\u{202e}').collect();
    assert_eq!(strange, "", "a name reached the terminal as it is");
    for shown in ["x\\x1b[2J0\\u{202e}", "two\\x0d\\x0alines2\\u{9b}31m", "箱4箱4箱4"] {
        assert!(text.contains(shown), "{shown}");
    }

    list.send("\u{1b}");
    assert!(list.wait(LONG).success());
    // What it wrote last may still be on its way to us.
    eventually("the screen is as it was, with its cursor", LONG, || {
        let mut terminal = Terminal::new(24, 72, 0);
        terminal.process(b"$ boxes\r\n");
        terminal.process(&list.bytes());
        terminal.screen().contents() == "$ boxes" && !terminal.screen().hide_cursor()
    });
}

#[test]
fn the_list_outlives_a_provider_that_fails_for_a_while() {
    let mut world = World::new();
    let _ = world.start();
    let name = world.box_name();
    let mut list = Pty::spawn(world.home.command(&["herdr", "boxes"]), 24, 100);
    list.expect(&name, LONG);
    let shows = |text: &str| rows(&list, (24, 100)).join("\n").contains(text);
    world.script("fail", json!([{ "verb": "list", "code": "server_error", "message": "the moon is down" }]));
    eventually("it says so", LONG, || shows("createos boxes cannot be listed") && shows("the moon is down"));
    assert!(shows(&name), "what was there stays on the screen");
    world.script("fail", json!([]));
    eventually("it goes on", LONG, || !shows("the moon is down") && shows("1 box   Enter attach"));
    let (state, kept) = (world.state_folder().join("state.json"), world.state_folder().join("kept"));
    std::fs::rename(&state, &kept).expect("a rename");
    std::fs::create_dir(&state).expect("a folder where the state should be");
    eventually("it says so", LONG, || shows("error: ") && shows(&name));
    std::fs::remove_dir(&state).expect("it is empty");
    std::fs::rename(&kept, &state).expect("a rename");
    eventually("it goes on", LONG, || !shows("error: ") && shows("1 box   Enter attach"));
    list.send("q");
    assert!(list.wait(LONG).success());
}
