//! The key that leaves the terminal of a box and lets its program run on.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// Ctrl with this character: a letter, `]` or `\`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DetachKey(char);

impl DetachKey {
    /// The character that is pressed with Ctrl.
    #[cfg(target_os = "linux")]
    pub(crate) fn character(self) -> char {
        self.0
    }

    /// As people say it: `Ctrl-]`.
    pub(crate) fn words(self) -> String {
        format!("Ctrl-{}", self.0.to_ascii_uppercase())
    }
}

impl Default for DetachKey {
    fn default() -> Self {
        Self(']')
    }
}

impl fmt::Display for DetachKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ctrl+{}", self.0)
    }
}

impl FromStr for DetachKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let lower = text.to_ascii_lowercase();
        let mut rest =
            lower.strip_prefix("ctrl+").or_else(|| lower.strip_prefix("ctrl-")).unwrap_or_default().chars();
        let wrong = |why: &str| {
            Err(Error::usage(format!("detach key \"{text}\" {why}")).help("such as ctrl+] or ctrl+q"))
        };
        match (rest.next(), rest.next()) {
            // Terminals send the same byte for both.
            (Some('h'), None) => wrong("is Backspace to a terminal"),
            (Some('i'), None) => wrong("is Tab to a terminal"),
            (Some('j' | 'm'), None) => wrong("is Enter to a terminal"),
            (Some(character @ ('a'..='z' | ']' | '\\')), None) => Ok(Self(character)),
            _ => wrong("is not ctrl+ and a letter, ] or \\"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_ctrl_and_a_character_that_terminals_tell_from_others() {
        for (text, written, words) in [
            ("ctrl+]", "ctrl+]", "Ctrl-]"),
            ("Ctrl-Q", "ctrl+q", "Ctrl-Q"),
            ("ctrl+\\", "ctrl+\\", "Ctrl-\\"),
        ] {
            let key: DetachKey = text.parse().unwrap();
            assert_eq!((key.to_string(), key.words()), (written.into(), words.into()));
        }
        assert_eq!(DetachKey::default().to_string(), "ctrl+]");
        for bad in ["", "]", "ctrl+", "ctrl+m", "ctrl+i", "ctrl+[", "ctrl+^", "alt+x", "ctrl+ab"] {
            assert!(bad.parse::<DetachKey>().is_err(), "{bad}");
        }
    }
}
