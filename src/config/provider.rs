//! Who makes the boxes.

use super::names::nearest;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// The program that speaks the `createos sandbox …` command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Provider {
    /// The official CLI: boxes on CreateOS, which are billed.
    #[default]
    Createos,
    /// The provider embedded in this program: boxes on this machine.
    Local,
}

impl Provider {
    /// The name in `config.json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Createos => "createos",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Provider {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "createos" => Ok(Self::Createos),
            "local" => Ok(Self::Local),
            _ => {
                let error =
                    Error::usage(format!("unknown provider \"{text}\"; pick one of: createos, local"));
                Err(match nearest(text, &["createos", "local"]) {
                    Some(near) => error.help(format!("did you mean {near}?")),
                    None => error,
                })
            }
        }
    }
}
