//! What the state file holds, and its version.

use super::record::{Phase, Record, RecordId};
use crate::createos::{BoxId, BoxName, ProviderKind};
use crate::herdr::{Pane, TerminalId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The version that we write. A file of a newer one is not touched.
pub(super) const VERSION: u32 = 1;
/// How many boxes that we once made are remembered, the newest: for `prune`, and read by every action.
const REMEMBERED: usize = 1_000;

/// How many answers are remembered, the newest.
const ANSWERS: usize = 200;

/// A box that was once in this state folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Made {
    pub(crate) name: BoxName,
    /// Who made it; none of one that was remembered by an earlier version.
    pub(crate) provider: Option<ProviderKind>,
    /// Its id; none of a box whose create call was begun and of which nothing was seen since.
    pub(crate) id: Option<BoxId>,
}

/// A file of a repository that counts only after a yes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Asks {
    /// `.worktreeinclude`.
    #[default]
    Include,
    /// `.createos-sandbox.toml`.
    Project,
}

impl Asks {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the user said to such a file, for exactly one content in one worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    #[serde(default, skip_serializing_if = "Asks::is_default")]
    pub(crate) of: Asks,
    /// The worktree's top folder.
    pub(crate) worktree: PathBuf,
    /// The hash of the worktree and the content.
    pub(crate) hash: String,
    /// It counts.
    pub(crate) yes: bool,
}

/// Everything that the actions remember.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) version: u32,
    /// Four characters in every box name of this installation.
    pub(crate) installation: String,
    /// Mappings of the earlier plugin were looked for; what an earlier version wrote down.
    #[serde(default, rename = "tookOver")]
    pub(crate) took_over: bool,
    /// Tells the file of the earlier plugin whose mappings were taken over from one that was changed since.
    #[serde(rename = "tookOverFrom")]
    pub(crate) took_over_from: Option<String>,
    /// Its boxes that were taken over: what became of them here is not undone by their line there.
    #[serde(default, rename = "takenOver")]
    pub(crate) taken_over: Vec<BoxId>,
    /// Reservations and mappings, oldest first.
    #[serde(default)]
    pub(crate) records: Vec<Record>,
    /// Boxes that were made from here, oldest first.
    #[serde(default)]
    pub(crate) made: Vec<Made>,
    /// What was said to files of repositories, the newest last.
    #[serde(default)]
    pub(crate) answers: Vec<Answer>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            installation: crate::random::letters(4),
            took_over: false,
            took_over_from: None,
            taken_over: Vec::new(),
            records: Vec::new(),
            made: Vec::new(),
            answers: Vec::new(),
        }
    }
}

impl State {
    pub(crate) fn record(&self, id: &RecordId) -> Option<&Record> {
        self.records.iter().find(|record| record.id == *id)
    }

    /// A record by its id, to be changed.
    pub(crate) fn record_mut(&mut self, id: &RecordId) -> Option<&mut Record> {
        self.records.iter_mut().find(|record| record.id == *id)
    }

    pub(crate) fn forget(&mut self, id: &RecordId) {
        self.records.retain(|record| record.id != *id);
    }

    /// The boxes that were made from here.
    pub(crate) fn ours(&self) -> HashSet<BoxId> {
        let made = self.made.iter().filter_map(|made| made.id.clone());
        made.chain(self.records.iter().filter_map(|record| record.box_id.clone())).collect()
    }

    /// Remembers that the box of a record was made here, or may have been.
    pub(crate) fn remember(&mut self, record: &Record) {
        let Record { name, box_id: id, provider, .. } = record;
        if !self.made.iter().any(|made| made.name == *name && made.id == *id) {
            self.made.push(Made { name: name.clone(), provider: Some(*provider), id: id.clone() });
            let too_many = self.made.len().saturating_sub(REMEMBERED);
            self.made.drain(..too_many);
        }
    }

    /// Whether there is an answer for exactly this.
    pub(crate) fn is_answered(&self, of: Asks, worktree: &Path, hash: &str) -> bool {
        self.answers
            .iter()
            .any(|answer| answer.of == of && answer.worktree == worktree && answer.hash == hash)
    }

    /// The content to which the user said yes.
    pub(crate) fn yes_to(&self, of: Asks, worktree: &Path) -> Option<&str> {
        let answer = self.answers.iter().find(|answer| answer.of == of && answer.worktree == worktree);
        answer.filter(|answer| answer.yes).map(|answer| answer.hash.as_str())
    }

    /// Remembers an answer in place of an earlier one for the worktree's file.
    pub(crate) fn answer(&mut self, of: Asks, worktree: &Path, hash: &str, yes: bool) {
        self.answers.retain(|answer| answer.of != of || answer.worktree != worktree);
        self.answers.push(Answer { of, worktree: worktree.to_path_buf(), hash: hash.into(), yes });
        let too_many = self.answers.len().saturating_sub(ANSWERS);
        self.answers.drain(..too_many);
    }

    /// Gives mappings that were taken over to this session of Herdr where one of its panes proves that they are its
    /// own: the pane of that id is in the worktree, and shows nothing else. How many.
    pub(crate) fn prove(&mut self, socket: &str, panes: &[Pane]) -> usize {
        let shown: Vec<TerminalId> = self
            .records
            .iter()
            .filter(|record| record.socket == socket)
            .filter_map(|record| record.terminal.clone())
            .collect();
        let mut count = 0;
        for record in self.records.iter_mut().filter(|record| record.is_of_any_session()) {
            let is_its = |pane: &&Pane| {
                record.pane.as_ref() == Some(&pane.id)
                    && pane.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&record.worktree))
                    && !shown.contains(&pane.terminal)
            };
            if let Some(pane) = panes.iter().find(is_its) {
                socket.clone_into(&mut record.socket);
                record.terminal = Some(pane.terminal.clone());
                count += 1;
            }
        }
        count
    }

    /// The mapping that a terminal shows.
    pub(crate) fn of_terminal(&self, socket: &str, terminal: &TerminalId) -> Option<&Record> {
        let shows = |record: &&Record| record.socket == socket && record.terminal.as_ref() == Some(terminal);
        self.records
            .iter()
            .find(|record| record.phase == Phase::Ready && shows(record))
            .or_else(|| self.records.iter().find(shows))
    }

    /// Says which pane shows a record. Ids are given anew: what else was last seen in a pane of this id was
    /// in an earlier one, and its id is forgotten, lest it is believed after a restart.
    pub(crate) fn bind(&mut self, id: &RecordId, socket: &str, pane: &Pane) {
        for record in &mut self.records {
            if record.id == *id {
                socket.clone_into(&mut record.socket);
                record.terminal = Some(pane.terminal.clone());
                record.pane = Some(pane.id.clone());
            } else if record.socket == socket && record.pane.as_ref() == Some(&pane.id) {
                record.pane = None;
            }
        }
    }

    /// Binds records to the panes that are there now, after a restart: this is the one time at which a
    /// stored pane id is believed, and only of a pane in the mapping's worktree that shows nothing else: ids are
    /// given anew. Gives the ids of the records that no pane shows any more; their pane id is forgotten, lest it
    /// is believed later.
    ///
    /// `before` is the state of a moment before `panes` were listed: a record that was bound since is in a pane
    /// that the list cannot know, and is left alone.
    pub(crate) fn rebind(&mut self, socket: &str, panes: &[Pane], before: &Self) -> Vec<RecordId> {
        let mut taken: Vec<TerminalId> = Vec::new();
        let mut orphans = Vec::new();
        for record in self.records.iter().filter(|record| record.socket == socket) {
            let own = record.terminal.iter().filter(|own| panes.iter().any(|pane| pane.terminal == **own));
            taken.extend(own.cloned());
        }
        let old =
            |record: &Record| before.record(&record.id).is_some_and(|old| old.terminal == record.terminal);
        for record in self.records.iter_mut().filter(|record| record.socket == socket && old(record)) {
            if record.terminal.as_ref().is_some_and(|own| taken.contains(own)) {
                continue;
            }
            let shows = |pane: &&Pane| record.is_restored_in(pane) && !taken.contains(&pane.terminal);
            match panes.iter().find(shows) {
                Some(pane) => {
                    record.terminal = Some(pane.terminal.clone());
                    taken.push(pane.terminal.clone());
                }
                None => {
                    record.terminal = None;
                    record.pane = None;
                    orphans.push(record.id.clone());
                }
            }
        }
        orphans
    }
}

/// Its readable records and boxes; nothing of a file that is not JSON.
pub(super) fn salvage(bytes: &[u8]) -> State {
    let mut state = State::default();
    let Ok(file) = serde_json::from_slice::<Value>(bytes) else { return state };
    state.records = readable(&file["records"]);
    state.made = readable(&file["made"]);
    state.taken_over = readable(&file["takenOver"]);
    state.answers = readable(&file["answers"]);
    state.took_over = file["tookOver"].as_bool().unwrap_or_default();
    if let Some(installation) = file["installation"].as_str().filter(|text| is_installation(text)) {
        state.installation = installation.into();
    }
    state
}

fn readable<T: DeserializeOwned>(list: &Value) -> Vec<T> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| serde_json::from_value(item.clone()).ok()).collect()
}

/// It becomes a part of names (docs/measured/createos-cli.md 4.1).
fn is_installation(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::PathBuf;

    #[test]
    fn a_box_that_got_its_pane_after_the_panes_were_listed_keeps_it() {
        let record = |id: &str, terminal: Option<&str>| -> Record {
            serde_json::from_value(serde_json::json!({
                "id": id, "phase": "ready", "socket": "/s", "provider": "local", "box": "hd-x", "agent": "shell",
                "local": "/w", "remote": "/workspace", "terminal": terminal, "pane": terminal.map(|_| "w1:p2"),
            }))
            .unwrap()
        };
        let old = record("00000001", Some("term_1"));
        let before = State {
            records: vec![old.clone(), record("00000002", None), record("00000003", Some("term_3"))],
            ..State::default()
        };
        let bound = [("00000002", "term_7"), ("00000003", "term_8"), ("00000004", "term_9")];
        let bound = bound.map(|(id, terminal)| record(id, Some(terminal)));
        let mut state = State { records: [vec![old.clone()], bound.to_vec()].concat(), ..State::default() };
        assert_eq!(state.rebind("/s", &[], &before), [old.id]);
        for (record, bound) in state.records[1..].iter().zip(&bound) {
            assert_eq!((&record.terminal, &record.pane), (&bound.terminal, &bound.pane));
        }
    }

    #[test]
    fn the_last_answer_for_a_worktree_is_kept() {
        let mut state = State::default();
        for number in 0..ANSWERS + 3 {
            state.answer(Asks::Include, &PathBuf::from(format!("/w/{number}")), "a", true);
        }
        state.answer(Asks::Include, Path::new("/w/50"), "b", false);
        assert_eq!(state.answers.len(), ANSWERS);
        assert_eq!(state.yes_to(Asks::Include, Path::new("/w/50")), None);
        assert_eq!(state.yes_to(Asks::Include, Path::new("/w/51")), Some("a"));
        assert!(!state.is_answered(Asks::Project, Path::new("/w/50"), "b"));
        let last = state.answers.last().unwrap();
        assert_eq!((last.worktree.as_path(), last.hash.as_str(), last.yes), (Path::new("/w/50"), "b", false));
        assert_eq!(state.answers.iter().filter(|answer| answer.worktree == Path::new("/w/50")).count(), 1);
    }

    #[test]
    fn a_bad_record_loses_no_other_and_not_whose_boxes_they_are() {
        let record = |name: &str, phase: &str| {
            json!({
                "id": "00000000", "phase": phase, "socket": "/s", "provider": "local", "box": name,
                "agent": "shell", "local": "/w", "remote": "/workspace",
            })
        };
        let file = json!({
            "version": 1, "installation": "ab3d", "tookOver": true,
            "records": [record("hd-a", "ready"), record("hd-b", "hibernating"), 7, record("hd-c", "leftover")],
            "made": [{ "name": "NO NAME" }, { "name": "hd-c" }],
        });
        let state = salvage(file.to_string().as_bytes());
        let names: Vec<_> = state.records.iter().map(|record| record.name.as_str()).collect();
        assert_eq!((names.as_slice(), state.made.len(), state.took_over), (&["hd-a", "hd-c"][..], 1, true));
        assert_eq!(state.installation, "ab3d");
        for bad in ["{\"records\":", "[]", "{\"records\":7,\"installation\":\"--ab\"}"] {
            let state = salvage(bad.as_bytes());
            assert!(state.records.is_empty() && is_installation(&state.installation), "{bad}");
        }
    }
}
