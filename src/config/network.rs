//! The network of a box on this machine.

use super::names::unknown;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which network the programs of a box are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Network {
    /// A namespace of the box's own, whose way out is ours.
    #[default]
    Own,
    /// That of this machine.
    Host,
    /// Nothing but a loopback.
    None,
}

impl Network {
    const ALL: [Self; 3] = [Self::Own, Self::Host, Self::None];

    /// The word in settings, on the command line and in records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Host => "host",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Network {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|network| network.word() == text);
        known.ok_or_else(|| unknown("network", text, &Self::ALL.map(Self::word)))
    }
}
