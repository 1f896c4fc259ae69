//! The changes that lead from what is there to what is wanted, or back. An empty plan is the proof that a second run
//! does nothing.

mod backup;
pub(super) mod config;
pub(super) mod keys;
pub(super) mod leftovers;
pub(super) mod plugin;
pub(super) mod stays;
pub(super) mod undo;

use crate::command::Command;
use crate::keys::Chord;
use crate::setup::change::{Change, Line};
use crate::setup::checks::check::{Check, Status};
use crate::setup::receipt::UserFile;
use serde::Serialize;

/// What is going to happen, and what is worth saying about it.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// In the order in which they are made.
    pub(crate) changes: Vec<Change>,
    /// What stays as it is although something else was asked for.
    pub(crate) kept: Vec<Line>,
    /// How many things are right already.
    pub(crate) right: usize,
    /// What a person should know, with the fix.
    pub(crate) warnings: Vec<Warning>,
    /// What a person should know about the keys.
    pub(crate) notes: Vec<String>,
    /// Bindings to paste, where they are not written.
    pub(crate) block: Option<String>,
    /// The chords of each action afterwards, in the order of the actions.
    pub(crate) chords: Vec<Bound>,
    /// An action that takes a default of Herdr's by this plan, unasked: its name, the field that loses its key, and
    /// what would take none.
    pub(crate) displaced: Option<Displaced>,
    /// Whether Herdr's notices are off, and could be turned on with this plan.
    pub(crate) notices_off: bool,
    /// The key that `prefix` stands for, where `config.toml` can be read.
    pub(crate) prefix: Option<String>,
}

/// An action's chords.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ReportedKey"))]
pub(crate) struct Bound {
    /// The action.
    pub(crate) action: String,
    /// The chords that start it; none when it has no key.
    pub(crate) chords: Vec<String>,
}

/// A default of Herdr's that one of our bindings takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Displaced {
    pub(crate) action: String,
    /// The name in `[keys]` of what has no key then.
    pub(crate) field: String,
    /// The chord that would take nothing from anybody; none when there is none.
    pub(crate) instead: Option<Chord>,
    /// The setup with it, to be typed.
    pub(crate) way_back: Command,
}

/// Something that is not as it should be.
// It does not stop the setup. The document of `--json` shows it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ReportedWarning"))]
pub(crate) struct Warning {
    /// One sentence.
    pub(crate) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
}

impl Warning {
    /// What a check warns of, if it does.
    pub(crate) fn from_check(check: Check) -> Option<Self> {
        let needed = check.needed.map_or_else(String::new, |needed| format!(" ({needed})"));
        let message = format!("{}{needed}", check.message);
        (check.status == Status::Warn).then_some(Self { message, fix: check.fix })
    }
}

impl Plan {
    /// The chord that starts `action` afterwards.
    pub(crate) fn chord(&self, action: &str) -> Option<&str> {
        let bound = self.chords.iter().find(|bound| bound.action == action)?;
        bound.chords.first().map(String::as_str)
    }

    /// What is pressed for `action` afterwards, one key after the other: `ctrl+b shift+s`.
    pub(crate) fn presses(&self, action: &str) -> Option<String> {
        let chord = self.chord(action)?;
        Some(match (&self.prefix, chord.strip_prefix("prefix+")) {
            (Some(prefix), Some(rest)) => format!("{prefix} {rest}"),
            _ => chord.to_owned(),
        })
    }

    fn warn(&mut self, message: impl Into<String>, fix: impl Into<String>) {
        self.warnings.push(Warning { message: message.into(), fix: Some(fix.into()) });
    }

    /// Whether Herdr's `config.toml` changes.
    pub(crate) fn edits_keys(&self) -> bool {
        let edits = |change: &Change| matches!(change, Change::File(file) if file.what == UserFile::Keys);
        self.changes.iter().any(edits)
    }
}
