//! Keys, and their names in Herdr (docs/measured/herdr.md 3.2).

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Char(char),
    Enter,
    Esc,
    Tab,
    /// Shift and tab: one key to a terminal, so it carries no shift of its own.
    BackTab,
    Backspace,
    Left,
    Right,
    Up,
    Down,
    F(u8),
}

/// The names that Herdr reads.
const NAMES: [(&str, Key); 26] = [
    ("space", Key::Char(' ')),
    ("enter", Key::Enter),
    ("return", Key::Enter),
    ("esc", Key::Esc),
    ("escape", Key::Esc),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("bs", Key::Backspace),
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("minus", Key::Char('-')),
    ("comma", Key::Char(',')),
    ("period", Key::Char('.')),
    ("slash", Key::Char('/')),
    ("backslash", Key::Char('\\')),
    ("quote", Key::Char('\'')),
    ("double_quote", Key::Char('"')),
    ("double-quote", Key::Char('"')),
    ("semicolon", Key::Char(';')),
    ("colon", Key::Char(':')),
    ("percent", Key::Char('%')),
    ("ampersand", Key::Char('&')),
    ("backtick", Key::Char('`')),
    ("plus", Key::Char('+')),
];

impl Key {
    pub(super) fn named(word: &str) -> Option<Self> {
        let word = word.to_lowercase();
        NAMES.iter().find(|(name, _)| *name == word).map(|(_, key)| *key)
    }
}

impl fmt::Display for Key {
    /// Herdr's normal form: the first of a key's names, and characters as they are but for the blank and the plus.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(letter) if !matches!(letter, ' ' | '+') => write!(f, "{letter}"),
            Self::BackTab => f.write_str("shift+tab"),
            Self::F(number) => write!(f, "f{number}"),
            _ => NAMES.iter().find(|(_, key)| key == self).map_or(Ok(()), |(name, _)| f.write_str(name)),
        }
    }
}
