//! A person at a Herdr: its keys, and its screen. At a real one the client runs on a terminal of ours.

use crate::support::{Home, Pty, Terminal, eventually};
use std::time::Duration;

/// The letter of each action's key, behind the prefix and shift.
const KEYS: [(&str, char); 10] = [
    ("start", 'S'),
    ("attach", 'C'),
    ("sync", 'Y'),
    ("apply", 'A'),
    ("info", 'I'),
    ("delete", 'X'),
    ("review", 'V'),
    ("undo", 'U'),
    ("pause", 'Z'),
    ("resume", 'M'),
];
/// Herdr's prefix key, ctrl+b.
const PREFIX: &str = "\x02";
/// The client's size.
const SIZE: (u16, u16) = (40, 120);

/// `config.toml` with a key for every action, no welcome, and no questions to Herdr's makers.
pub fn keys() -> String {
    let bound = KEYS.map(|(action, letter)| {
        let letter = letter.to_ascii_lowercase();
        format!(
            "[[keys.command]]\nkey = \"prefix+shift+{letter}\"\ntype = \"plugin_action\"\n\
             command = \"createos.sandbox.{action}\"\n\n"
        )
    });
    format!(
        "onboarding = false\n\n{}[update]\nversion_check = false\nmanifest_check = false\n\n",
        bound.concat()
    )
}

/// The client of a real Herdr.
pub struct Hands {
    client: Pty,
}

impl Hands {
    /// Attaches a client to the server of this home, and waits until it shows the session.
    #[track_caller]
    pub fn attach(home: &Home) -> Self {
        let command = home.command_of(&home.path().join("bin/herdr"), &[]);
        let hands = Self { client: Pty::spawn(command, SIZE.0, SIZE.1) };
        eventually("the client shows the session", Duration::from_secs(60), || {
            hands.screen().contains("spaces")
        });
        hands
    }

    /// Presses an action's key.
    #[track_caller]
    pub fn press(&mut self, action: &str) {
        let key = KEYS.iter().find(|(bound, _)| *bound == action).expect("the action has a key");
        self.types(PREFIX);
        self.types(&key.1.to_string());
    }

    /// Types to whatever has the keyboard.
    pub fn types(&mut self, text: &str) {
        self.client.send(text);
    }

    /// What the client shows, a row a line.
    pub fn screen(&self) -> String {
        self.parsed().screen().contents()
    }

    /// What stands in the frame with this title.
    pub fn framed(&self, title: &str) -> Option<String> {
        let parsed = self.parsed();
        let screen = parsed.screen();
        let rows: Vec<Vec<char>> =
            screen.rows(0, screen.size().1).map(|row| row.chars().collect::<Vec<_>>()).collect();
        let head: Vec<char> = format!("┌ {title} ").chars().collect();
        let (top, left) = rows.iter().enumerate().find_map(|(at, row)| {
            let left = row.windows(head.len()).rposition(|window| window == head)?;
            Some((at, left))
        })?;
        let right = left + rows[top][left..].iter().position(|c| *c == '┐')?;
        let inner = rows[top + 1..].iter().take_while(|row| row.get(left) == Some(&'│'));
        let lines = inner.map(|row| row[left + 1..right.min(row.len())].iter().collect::<String>());
        Some(lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n"))
    }

    fn parsed(&self) -> Terminal {
        let mut parser = Terminal::new(SIZE.0, SIZE.1, 0);
        parser.process(&self.client.bytes());
        parser
    }
}
