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

/// The provider's words.
const WORDS: [(&str, Status); 9] = [
    ("creating", Status::Creating),
    ("running", Status::Running),
    ("pausing", Status::Pausing),
    ("paused", Status::Paused),
    ("resuming", Status::Resuming),
    ("forking", Status::Forking),
    ("destroying", Status::Destroying),
    ("destroyed", Status::Destroyed),
    ("failed", Status::Failed),
];

impl Status {
    /// The status for the provider's word.
    pub(crate) fn parse(word: &str) -> Self {
        let word = if word == "error" { "failed" } else { word };
        let known = WORDS.iter().find(|(known, _)| *known == word).map(|(_, status)| status.clone());
        known.unwrap_or_else(|| Self::Unknown(word.chars().take(40).collect()))
    }

    /// The provider's word.
    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Unknown(word) => word,
            known => WORDS.iter().find(|(_, status)| status == known).map_or("", |(word, _)| word),
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
