//! What is left behind by what was done: the state file, and the calls of both programs.

use super::{LONG, World};
use crate::support::eventually;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The plugin's state folder, below the home.
const STATE: &str = ".local/state/herdr/plugins/createos.sandbox";

impl World {
    /// The plugin's state folder.
    pub fn state_folder(&self) -> PathBuf {
        self.home.path().join(STATE)
    }

    /// The state file.
    pub fn state(&self) -> Value {
        match std::fs::read(self.state_folder().join("state.json")) {
            Ok(bytes) => serde_json::from_slice(&bytes).expect("the state is JSON"),
            Err(_) => json!({ "records": [] }),
        }
    }

    /// Changes the state file behind everybody's back.
    pub fn edit_state(&self, change: impl FnOnce(&mut Value)) {
        // A pane's process may be writing what it has read before.
        let lock = std::fs::File::create(self.state_folder().join("state.lock")).expect("the lock");
        lock.lock().expect("it is free sometime");
        let mut state = self.state();
        change(&mut state);
        // Whole or not at all: a pane's process may be reading it.
        let staged = self.home.write(&format!("{STATE}/edited.json"), state.to_string());
        std::fs::rename(staged, self.state_folder().join("state.json")).expect("a rename");
    }

    /// The records in the state file.
    pub fn records(&self) -> Vec<Value> {
        self.state()["records"].as_array().expect("records").clone()
    }

    /// The name of the first record's box.
    #[track_caller]
    pub fn box_name(&self) -> String {
        self.records()[0]["box"].as_str().expect("a name").to_owned()
    }

    /// The id of the pane that shows it.
    #[track_caller]
    pub fn box_pane(&self) -> String {
        self.records()[0]["pane"].as_str().expect("a pane").to_owned()
    }

    /// Waits until the only record's box is shown in another pane than this one; that pane.
    #[track_caller]
    pub fn shown_elsewhere(&self, pane: &str) -> String {
        let shown = || self.records()[0]["pane"].as_str().map(str::to_owned);
        eventually("another pane shows it", LONG, || shown().is_some_and(|shown| shown != pane));
        shown().expect("it was just there")
    }

    /// The calls of the createos program so far. A line without its end is still being written.
    pub fn calls(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.path().join(".createos-stand-in/calls"));
        let text = text.unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).expect("a call")).collect()
    }

    /// The argv of every call of this verb.
    pub fn calls_of(&self, verb: &str) -> Vec<Vec<String>> {
        let argv =
            |call: &Value| -> Vec<String> { serde_json::from_value(call["argv"].clone()).expect("words") };
        let is = |argv: &Vec<String>| {
            argv.iter()
                .position(|word| word == "sandbox")
                .is_some_and(|at| argv.get(at + 1) == Some(&verb.to_owned()))
        };
        self.calls().iter().map(argv).filter(is).collect()
    }

    /// The argv of every start of an agent.
    pub fn agent_starts(&self) -> Vec<Vec<String>> {
        let is =
            |argv: &Vec<String>| ["start", "--pty"].iter().all(|word| argv.iter().any(|own| own == word));
        self.calls_of("process").into_iter().filter(is).collect()
    }

    /// What our own program asked of Herdr so far, each as one line. Only the stand-in records.
    pub fn asked_of_herdr(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.home.path().join(".herdr-stand-in/ours"));
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// What holds for every call, whatever a test is about.
    pub fn assert_calls(&self) {
        let typed = |call: &&String| {
            ["pane run", "pane send", "agent prompt", "agent send"].iter().any(|word| call.starts_with(word))
        };
        let typed: Vec<_> = self.asked_of_herdr().iter().filter(typed).cloned().collect();
        assert!(typed.is_empty(), "typed into a terminal: {typed:?}");
        for call in self.calls() {
            // The program would load a `.env` that is there.
            assert_eq!(call["cwd"], "/", "{call}");
            assert_eq!(call["do_not_track"], "1", "{call}");
            let has = |word: &str| call["argv"].as_array().is_some_and(|argv| argv.contains(&json!(word)));
            assert!(has("attach") || call["herdr_agent"].is_null() && call["output"].is_null(), "{call}");
            // docs/measured/createos-cli.md 1: whoever is given nothing to read must not wait for it.
            let reads = has("attach") || has("sync") || has("push");
            assert!(reads || call["stdin"] == "/dev/null", "{call}");
        }
    }
}
