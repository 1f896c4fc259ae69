//! What the provider says about a sandbox.

use super::json;
use super::{BoxId, Failure};
use serde_json::Value;
use std::fmt;

/// A sandbox's status (contract 3). An unknown word is kept, not guessed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    /// Being made.
    Creating,
    /// Up.
    Running,
    /// On its way to paused.
    Pausing,
    /// Snapshot taken, nothing runs.
    Paused,
    /// On its way to running.
    Resuming,
    /// Its snapshot is being copied.
    Forking,
    /// Being deleted.
    Destroying,
    /// Gone: the only word that proves it.
    Destroyed,
    /// It could not be made or resumed.
    Failed,
    /// A word that we do not know.
    Unknown(String),
}

impl Status {
    /// The status for the provider's word.
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "creating" => Self::Creating,
            "running" => Self::Running,
            "pausing" => Self::Pausing,
            "paused" => Self::Paused,
            "resuming" => Self::Resuming,
            "forking" => Self::Forking,
            "destroying" => Self::Destroying,
            "destroyed" => Self::Destroyed,
            "failed" | "error" => Self::Failed,
            other => Self::Unknown(other.chars().take(40).collect()),
        }
    }

    /// The provider's word.
    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Creating => "creating",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Resuming => "resuming",
            Self::Forking => "forking",
            Self::Destroying => "destroying",
            Self::Destroyed => "destroyed",
            Self::Failed => "failed",
            Self::Unknown(word) => word,
        }
    }

    /// Deleted, or being deleted.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Destroyed | Self::Destroying)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A sandbox as `get` and `list` show it; only what we use.
#[derive(Debug, Clone)]
pub(crate) struct BoxView {
    /// Full id.
    pub(crate) id: BoxId,
    /// Its name, raw text of anybody: may be empty, may be hostile.
    pub(crate) name: String,
    /// Its status.
    pub(crate) status: Status,
    /// Seconds without activity after which it pauses by itself.
    pub(crate) auto_pause_seconds: Option<u64>,
    /// The hosts that it may reach; empty when it may reach all.
    pub(crate) egress: Vec<String>,
}

impl BoxView {
    pub(super) fn parse(verb: &str, value: &Value) -> Result<Self, Failure> {
        let id = json::text(value, "id")
            .ok_or_else(|| Failure::other(verb, "the answer has no sandbox id"))?
            .parse()
            .map_err(|error| Failure::other(verb, format!("{error}")))?;
        let text = |key| json::text(value, key).unwrap_or_default().to_owned();
        let rules = value.get("egress").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            id,
            name: text("name"),
            status: Status::parse(&text("status")),
            auto_pause_seconds: value.get("auto_pause_after_seconds").and_then(Value::as_u64),
            egress: rules.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}
