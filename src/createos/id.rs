//! Ids and names, parsed once: what a box or the CLI says is never passed on unjudged.

use std::fmt;
use std::str::FromStr;

/// The text cannot be an id or a name of that kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not {what}")]
pub(crate) struct NotAnId {
    text: String,
    what: &'static str,
}

/// Letters, digits, `-` and `_`, not starting with a dash: safe as one argv word and as a file name. The word `help` is
/// none: the official CLI hears it wherever it stands (quirk Q1).
fn is_word(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text != "help"
        && text.len() <= longest
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $what:literal, $holds:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(String);

        impl $name {
            /// The text.
            pub(crate) fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let holds: fn(&str) -> bool = $holds;
                if holds(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(NotAnId { text: text.chars().take(80).collect(), what: $what })
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

word!(
    /// A sandbox's full id, `sb-…` (contract 3). Prefixes could select another box (quirk Q11).
    BoxId,
    "a sandbox's full id",
    |text| text.len() > 3 && text.starts_with("sb-") && is_word(text, 80)
);

word!(
    /// A sandbox's name as we make them: `[a-z0-9-]`, at most 22 characters (contract 3).
    BoxName,
    "a sandbox's name",
    |text| is_word(text, 22) && text.bytes().all(|byte| !byte.is_ascii_uppercase() && byte != b'_')
);

word!(
    /// A process's id in a box, `proc_…` in the official CLI's help.
    ProcessId,
    "a process's id",
    |text| is_word(text, 80)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_words_and_never_flags_or_paths() {
        assert!("sb-01JABC".parse::<BoxId>().is_ok());
        for bad in ["", "sb-", "web", "--help", "sb-../x", "sb-a b", "sb-\u{1b}[2J"] {
            assert!(bad.parse::<BoxId>().is_err(), "{bad}");
        }
        assert!("hd-webshop-k3x9q2".parse::<BoxName>().is_ok());
        for bad in ["UP", "a_b", "-a", "a23456789012345678901234", "help"] {
            assert!(bad.parse::<BoxName>().is_err(), "{bad}");
        }
        assert!("proc_1".parse::<ProcessId>().is_ok());
        assert!("-h".parse::<ProcessId>().is_err());
    }
}
