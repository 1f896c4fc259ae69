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

/// What the boxes of a provider have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Abilities {
    /// They are an account's: it has to be signed in, pays for them, and sees no others.
    pub(crate) account: bool,
    /// Their programs come from an image that can be chosen; else they are this machine's.
    pub(crate) images: bool,
    /// Their network can be chosen, and reach this machine.
    pub(crate) network: bool,
    /// Their shape is a limit, not a word.
    pub(crate) limits: bool,
    /// This machine isolates them, so it has to be able to.
    pub(crate) isolation: bool,
    /// Files can be kept in step while an agent works.
    pub(crate) sync: bool,
    /// An attach paints the screen as it is and says whether the person has detached. Else what was printed before comes
    /// again, with a footer on the last row (docs/measured/createos-cli.md 3.8).
    pub(crate) screen: bool,
}

impl ProviderKind {
    /// The one place that knows them apart: what is to be done asks for the ability.
    pub(crate) const fn has(self) -> Abilities {
        match self {
            Self::Createos => Abilities {
                account: true,
                images: true,
                network: false,
                limits: true,
                isolation: false,
                sync: true,
                screen: false,
            },
            Self::Local => Abilities {
                account: false,
                images: false,
                network: true,
                limits: false,
                isolation: true,
                sync: false,
                screen: true,
            },
        }
    }

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
