//! Ids and names, parsed once: what a box or the CLI says is never passed on unjudged.

use crate::text_type::text_type;

/// The text cannot be an id or a name of that kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not {what}")]
pub(crate) struct NotAnId {
    text: String,
    what: &'static str,
}

/// Letters, digits, `-` and `_`, not starting with a dash: safe as one argv word and as a file name. The word `help` is
/// none: the official CLI hears it wherever it stands (docs/measured/createos-cli.md 3.2).
fn is_word(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text != "help"
        && text.len() <= longest
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

impl NotAnId {
    /// Keeps a text that holds.
    fn unless<'a>(holds: bool, text: &'a str, what: &'static str) -> Result<&'a str, Self> {
        if holds { Ok(text) } else { Err(Self { text: text.chars().take(80).collect(), what }) }
    }
}

text_type! {
    /// A sandbox's full id, `sb-…` (docs/measured/createos-cli.md 4.1). Prefixes could select another box
    /// (docs/measured/createos-cli.md 4.5).
    pub(crate) BoxId: |text| {
        let holds = text.len() > 3 && text.starts_with("sb-") && is_word(text, 80);
        NotAnId::unless(holds, text, "the full id of a box")
    } => NotAnId
}

text_type! {
    /// A sandbox's name as we make them: `[a-z0-9-]`, at most 22 characters (docs/measured/createos-cli.md 4.1).
    pub(crate) BoxName: |text| {
        let is_odd = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        NotAnId::unless(is_word(text, 22) && !text.bytes().any(is_odd), text, "the name of a box")
    } => NotAnId
}

text_type! {
    /// A process's id in a box, `proc_…` in the official CLI's help.
    pub(crate) ProcessId: |text| NotAnId::unless(is_word(text, 80), text, "a process's id") => NotAnId
}

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
