//! A sandbox's status.

use std::fmt;

/// A sandbox's status (docs/measured/createos-cli.md 4.1). An unknown word is kept, not guessed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    Creating,
    Running,
    /// On its way to paused.
    Pausing,
    /// Snapshot taken, nothing runs.
    Paused,
    /// On its way to running.
    Resuming,
    /// Its snapshot is being copied.
    Forking,
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
