//! What is on the screens, and what is typed there: panes, popups, toasts.

use super::{CALM, LONG, World, processes::running};
use crate::support::{eventually, outcome, printed, real_herdr, rest};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The titles of its popups, and the word of each one's process.
const POPUPS: [(&str, &str); 4] = [
    ("Start an agent", "ask-agent"),
    ("CreateOS Sandbox", "message"),
    ("Delete this box?", "ask-delete"),
    ("Let ignored files leave?", "ask-trust"),
];

impl World {
    /// Every pane.
    pub fn panes(&self) -> Vec<Value> {
        self.herdr(&["pane", "list"])["panes"].as_array().expect("panes").clone()
    }

    /// The ids of every pane.
    pub fn pane_ids(&self) -> Vec<String> {
        self.panes().iter().map(|pane| pane["pane_id"].as_str().expect("an id").to_owned()).collect()
    }

    /// A pane's name.
    pub fn label(&self, pane: &str) -> String {
        let panes = self.panes();
        let found = panes.iter().find(|shown| shown["pane_id"] == pane);
        found.and_then(|shown| shown["label"].as_str()).unwrap_or_default().to_owned()
    }

    /// What a pane shows.
    pub fn screen(&self, pane: &str) -> String {
        let herdr = self.home.path().join("bin/herdr");
        let screen = outcome(self.home.command_of(&herdr, &["pane", "read", pane])).stdout;
        if real_herdr().is_none() {
            printed::are_run_on_screens(&screen);
        }
        screen
    }

    /// Waits until a pane shows this, however narrow it is.
    #[track_caller]
    pub fn sees(&self, pane: &str, text: &str) {
        let began = Instant::now();
        loop {
            let look = Instant::now();
            let screen = self.screen(pane);
            if unbroken(&screen).contains(&unbroken(text)) {
                return;
            }
            assert!(began.elapsed() < LONG, "[{text}] is not on the screen of {pane}:\n{screen}");
            rest(look);
        }
    }

    /// Types a line into a pane.
    pub fn types(&self, pane: &str, line: &str) {
        self.herdr(&["pane", "send-text", pane, line]);
        self.herdr(&["pane", "send-keys", pane, "enter"]);
    }

    /// Types an echo until its answer is there: what is typed before an attach reads is dropped.
    #[track_caller]
    pub fn answers(&self, pane: &str, one: &str, two: &str) {
        let began = Instant::now();
        while !self.screen(pane).contains(&format!("{one}{two}")) {
            assert!(began.elapsed() < LONG, "no shell answers in {pane}:\n{}", self.screen(pane));
            self.types(pane, &format!("echo {one}''{two}"));
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Presses Enter on a holding screen until it brings the agent back.
    #[track_caller]
    pub fn comes_back(&self, pane: &str) {
        // However its lines break.
        let letters = || self.screen(pane).split_whitespace().collect::<String>();
        let count = || letters().matches("bringingitback").count();
        // A local box is painted over the words.
        let holds = || letters().contains("closethispane");
        let (before, began) = (count(), Instant::now());
        while count() == before && holds() {
            assert!(began.elapsed() < LONG, "nothing comes back in {pane}:\n{}", self.screen(pane));
            self.key(pane, "enter");
            // A key that came too early makes the screen wait for another second.
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Presses one key in a pane, when it counts on a holding screen.
    pub fn key(&self, pane: &str, key: &str) {
        std::thread::sleep(CALM);
        self.herdr(&["pane", "send-keys", pane, key]);
    }

    /// What the popup shows, when one is open.
    pub fn popup(&self) -> Option<String> {
        if let Some(hands) = self.hands() {
            let (title, _) = POPUPS.iter().find(|(_, word)| running(word, self.home.path()))?;
            return hands.framed(title);
        }
        let herdr = self.home.path().join("bin/herdr");
        let outcome = outcome(self.home.command_of(&herdr, &["stand-in", "popup"]));
        if outcome.code != 0 {
            return None;
        }
        printed::are_run_on_screens(&outcome.stdout);
        Some(outcome.stdout)
    }

    /// Waits until no popup is open.
    #[track_caller]
    pub fn popup_closes(&self) {
        let open = || match real_herdr() {
            Some(_) => POPUPS.iter().any(|(_, word)| running(word, self.home.path())),
            None => self.popup().is_some(),
        };
        eventually("the popup closes", LONG, || !open());
    }

    /// Waits until a toast says this.
    #[track_caller]
    pub fn toasts(&self, text: &str) {
        eventually(&format!("a toast says {text}"), LONG, || match self.hands() {
            Some(hands) => hands.screen().contains(text),
            None => std::fs::read_to_string(self.home.path().join(".herdr-stand-in/toasts"))
                .is_ok_and(|toasts| toasts.contains(text)),
        });
    }

    /// Waits until the popup shows this.
    #[track_caller]
    pub fn popup_says(&self, text: &str) {
        eventually(&format!("the popup says {text}"), LONG, || {
            self.popup().is_some_and(|popup| unbroken(&popup).contains(&unbroken(text)))
        });
    }

    /// Types into the popup, when that counts.
    pub fn types_in_popup(&self, text: &str) {
        std::thread::sleep(CALM);
        match self.hands() {
            Some(mut hands) => hands.types(text),
            None => drop(self.herdr(&["stand-in", "type-popup", text])),
        }
    }
}

/// Text without its blanks and line ends, wherever a terminal broke it.
pub fn unbroken(text: &str) -> String {
    text.split_whitespace().collect()
}
