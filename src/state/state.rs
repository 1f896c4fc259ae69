//! What the state file holds, and its version.

use super::record::{Phase, Record, RecordId};
use crate::createos::{BoxId, BoxName};
use crate::herdr::{PaneId, TerminalId};
use serde::{Deserialize, Serialize};

/// The version that we write. A file of a newer one is not touched.
pub(super) const VERSION: u32 = 1;
/// How many boxes that we once made are remembered for `prune`.
const REMEMBERED: usize = 5_000;

/// A box that was once in this state folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Its name.
    pub(crate) name: BoxName,
    /// Its id.
    pub(crate) id: BoxId,
}

/// Everything that the actions remember.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    /// The format's version.
    pub(crate) version: u32,
    /// Four characters in every box name of this installation.
    pub(crate) installation: String,
    /// Mappings of the plugin of record were looked for.
    #[serde(default, rename = "tookOver")]
    pub(crate) took_over: bool,
    /// Reservations and mappings, oldest first.
    #[serde(default)]
    pub(crate) records: Vec<Record>,
    /// Boxes that were made from here, oldest first.
    #[serde(default)]
    pub(crate) made: Vec<Made>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            installation: super::random::letters(4),
            took_over: false,
            records: Vec::new(),
            made: Vec::new(),
        }
    }
}

impl State {
    /// A record by its id.
    pub(crate) fn record(&self, id: &RecordId) -> Option<&Record> {
        self.records.iter().find(|record| record.id == *id)
    }

    /// A record by its id, to be changed.
    pub(crate) fn record_mut(&mut self, id: &RecordId) -> Option<&mut Record> {
        self.records.iter_mut().find(|record| record.id == *id)
    }

    /// Forgets a record.
    pub(crate) fn forget(&mut self, id: &RecordId) {
        self.records.retain(|record| record.id != *id);
    }

    /// Remembers that a box was made here.
    pub(crate) fn remember(&mut self, name: &BoxName, id: &BoxId) {
        if !self.made.iter().any(|made| made.id == *id) {
            self.made.push(Made { name: name.clone(), id: id.clone() });
            let too_many = self.made.len().saturating_sub(REMEMBERED);
            self.made.drain(..too_many);
        }
    }

    /// The mapping that a terminal shows.
    pub(crate) fn of_terminal(&self, socket: &str, terminal: &TerminalId) -> Option<&Record> {
        let shows = |record: &&Record| record.socket == socket && record.terminal.as_ref() == Some(terminal);
        self.records
            .iter()
            .find(|record| record.phase == Phase::Ready && shows(record))
            .or_else(|| self.records.iter().find(shows))
    }

    /// Binds records to the panes that are there now, after a restart: this is the one time at which a
    /// stored pane id is believed. Gives the ids of the records that no pane shows any more.
    pub(crate) fn rebind(&mut self, socket: &str, panes: &[(PaneId, TerminalId)]) -> Vec<RecordId> {
        let mut orphans = Vec::new();
        for record in self.records.iter_mut().filter(|record| record.socket == socket) {
            let alive = record.terminal.as_ref().is_some_and(|own| panes.iter().any(|(_, t)| t == own));
            if alive {
                continue;
            }
            let listed = panes.iter().find(|(pane, _)| record.pane.as_ref() == Some(pane));
            match listed {
                Some((_, terminal)) => record.terminal = Some(terminal.clone()),
                None => {
                    record.terminal = None;
                    orphans.push(record.id.clone());
                }
            }
        }
        orphans
    }
}
