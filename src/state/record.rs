//! The record that ties a pane, a worktree and a box together: reservation first, mapping later.

use crate::config::{Agent, AutoPause, RemoteRoot};
use crate::createos::{BoxId, BoxName, ProcessId, ProviderKind};
use crate::error::{Error, Result};
use crate::herdr::{Pane, PaneId, TerminalId};
use crate::text_type::text_type;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

text_type! {
    /// A record's id: 8 lower-case hex digits, also the name of its lock.
    pub(crate) RecordId: |text| {
        let good = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if good { Ok(text) } else { Err(format!("\"{text}\" is not a record's id")) }
    } => String
}

impl RecordId {
    pub(crate) fn random() -> Self {
        Self(crate::random::hex(8))
    }
}

/// How far a record has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// A reservation: its box is being made, or will be. One without an owner is finished by the next action.
    Starting,
    /// A mapping: the box is up or was.
    Ready,
    /// The start failed and nothing is left; kept until the failure was told.
    Failed,
    /// The start failed, and its box could not be deleted or may still come.
    Leftover,
}

/// What provision tells the waiting start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartOutcome {
    /// The agent runs.
    pub(crate) ok: bool,
    #[serde(default)]
    pub(crate) error: String,
    /// What to do about it.
    #[serde(default)]
    pub(crate) fix: String,
    /// How many files stayed home for a name or a secret.
    #[serde(default)]
    pub(crate) stayed: usize,
    /// The first few of them.
    #[serde(default, rename = "stayedFiles")]
    pub(crate) stayed_files: Vec<String>,
}

impl StartOutcome {
    pub(crate) fn failed(error: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { error: error.into(), fix: fix.into(), ..Self::default() }
    }
}

/// One pane, one worktree, one box.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: RecordId,
    /// How far it has come.
    pub(crate) phase: Phase,
    /// The Herdr server's socket: the same ids exist in every session. Empty while it is not known.
    pub(crate) socket: String,
    /// The terminal in which start was pressed.
    pub(crate) source: Option<TerminalId>,
    /// The terminal that shows the box; none while nothing shows it.
    pub(crate) terminal: Option<TerminalId>,
    /// That pane's last known id: for the reconcile after a restart, and for people.
    pub(crate) pane: Option<PaneId>,
    pub(crate) provider: ProviderKind,
    /// The box's name; known before the box exists.
    #[serde(rename = "box")]
    pub(crate) name: BoxName,
    /// The create call was begun: a box of that name may exist although its id is not known.
    #[serde(default, rename = "createCalled")]
    pub(crate) create_called: bool,
    /// The box's id, once it exists.
    #[serde(rename = "boxId")]
    pub(crate) box_id: Option<BoxId>,
    /// The agent's name in the settings.
    pub(crate) agent: Recorded<Agent>,
    /// What it is given behind its own arguments, whenever it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    /// It asks nothing before it acts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unattended: bool,
    /// The names of its variables that came from the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) environment: Vec<String>,
    /// What failed of the commands that the project has for its boxes.
    #[serde(default, rename = "projectFailed", skip_serializing_if = "Option::is_none")]
    pub(crate) project_failed: Option<String>,
    /// The folder below the workspace in which it starts; none is the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<String>,
    /// Its program in the box.
    #[serde(rename = "bin")]
    pub(crate) program: Option<String>,
    /// Its process in the box.
    #[serde(rename = "processId")]
    pub(crate) process: Option<ProcessId>,
    /// The process that a terminal has shown already: what it asked of that one was answered then.
    #[serde(rename = "shownProcess", skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<ProcessId>,
    /// It was paused by the action, and not resumed since.
    #[serde(default, rename = "pausedByHand", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) paused_by_hand: bool,
    /// The name that we have given to its pane: another one is the person's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The worktree's top folder.
    #[serde(rename = "local")]
    pub(crate) worktree: PathBuf,
    /// The workspace's folder in the box.
    #[serde(rename = "remote")]
    pub(crate) remote_root: Recorded<RemoteRoot>,
    /// Idle time until the box pauses, as the settings had it.
    #[serde(default, rename = "autoPause")]
    pub(crate) auto_pause: Recorded<AutoPause>,
    /// What provision told.
    pub(crate) outcome: Option<StartOutcome>,
    /// When delete was asked for once from the command line, in Unix seconds.
    #[serde(rename = "deleteArmedAt")]
    pub(crate) delete_armed_at: Option<u64>,
    /// When it was made, in Unix seconds.
    #[serde(default, rename = "createdAt")]
    pub(crate) created_at: u64,
}

impl Record {
    /// Whether it is of no session of Herdr: it was started in a plain terminal, or taken over, and no pane has
    /// proven yet where it belongs.
    pub(crate) fn is_of_any_session(&self) -> bool {
        self.socket.is_empty()
    }

    /// Whether a pane may still prove to which session of Herdr it belongs.
    pub(crate) fn may_be_proven(&self) -> bool {
        self.is_of_any_session() && self.pane.is_some()
    }

    /// Whether a pane may be the one that showed this box before a restart. Ids are given anew, so the pane has
    /// to be in the worktree, too.
    pub(crate) fn is_restored_in(&self, pane: &Pane) -> bool {
        self.pane.as_ref() == Some(&pane.id)
            && pane.cwd.as_ref().is_none_or(|cwd| cwd.starts_with(&self.worktree))
    }
}

/// A text that this version does not take stays as it is: its box can still be shown, paused and deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String", bound = "T: Clone + fmt::Display + FromStr")]
pub(crate) enum Recorded<T> {
    Known(T),
    Other(String),
}

impl<T: Clone + FromStr<Err = Error>> Recorded<T> {
    /// # Errors
    /// It is not known, in the words of its type.
    pub(crate) fn get(&self) -> Result<T> {
        match self {
            Self::Known(value) => Ok(value.clone()),
            Self::Other(text) => text.parse(),
        }
    }
}

impl<T: FromStr> From<String> for Recorded<T> {
    fn from(text: String) -> Self {
        text.parse().map_or(Self::Other(text), Self::Known)
    }
}

impl<T: fmt::Display> From<Recorded<T>> for String {
    fn from(value: Recorded<T>) -> Self {
        value.to_string()
    }
}

impl<T: fmt::Display> fmt::Display for Recorded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(value) => value.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl<T> Default for Recorded<T> {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Agent, AutoPause, RemoteRoot};

    fn kept<T: Clone + fmt::Display + FromStr<Err = Error>>(text: &str) -> bool {
        let json = format!("\"{text}\"");
        let read: Recorded<T> = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), json, "it is written as it was");
        read.get().is_ok()
    }

    #[test]
    fn what_another_version_wrote_stays_as_it_was_written() {
        assert!(kept::<Agent>("codex") && kept::<RemoteRoot>("/workspace") && kept::<AutoPause>("1h30m"));
        assert!(
            !kept::<Agent>("an-agent-of-tomorrow") && !kept::<RemoteRoot>("/tmp/x") && !kept::<AutoPause>("")
        );
    }
}
