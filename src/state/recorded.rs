//! A value of the settings as a record has it: parsed once, when the record is read.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

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
