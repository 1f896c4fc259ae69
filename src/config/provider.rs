//! Who makes the boxes.

use super::names::unknown;
use crate::command::{self, Command};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The program that speaks the `createos sandbox …` command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProviderKind {
    /// The official CLI: boxes on CreateOS, which are billed.
    #[default]
    Createos,
    /// The provider embedded in this program: boxes on this machine.
    Local,
}

impl ProviderKind {
    pub(crate) const ALL: [Self; 2] = [Self::Createos, Self::Local];

    /// The word in settings and records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Createos => "createos",
            Self::Local => "local",
        }
    }

    /// `createos sandbox …` or what stands for it, to be typed.
    pub(crate) fn command(self, words: &[&str]) -> Command {
        let lead = match self {
            Self::Createos => command::createos(["sandbox"]),
            Self::Local => command::own(["local", "sandbox"]),
        };
        words.iter().fold(lead, |command, word| command.word(*word))
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for ProviderKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == text);
        known.ok_or_else(|| unknown("provider", text, &Self::ALL.map(Self::word)))
    }
}
