//! Chords in Herdr's syntax and normal form (docs/measured/herdr.md 3.2).

use super::key::Key;
use std::fmt;
use std::str::FromStr;

/// A key with modifiers, as in `ctrl+alt+f5`; two are equal when Herdr's conflict check says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Stroke {
    modifiers: Modifiers,
    key: Key,
}

/// A chord that a binding can have: after the prefix, or direct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Chord {
    prefixed: bool,
    stroke: Stroke,
}

/// Why a text is no chord, or none that Herdr would bind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChordError {
    /// `prefix` stands where Herdr does not read it.
    #[error("`prefix+` must come first, in lower case and without blanks")]
    Prefix,
    /// No key after the modifiers, or nothing between two `+`.
    #[error("there is no key between or after the `+`; the plus key is written `plus`")]
    NoKey,
    /// More than one key.
    #[error("`{0}` and `{1}` are two keys; a chord has one")]
    TwoKeys(String, String),
    /// A name that Herdr does not know.
    #[error("Herdr knows no key `{0}`")]
    UnknownKey(String),
    /// `1..9` belongs to Herdr's indexed actions.
    #[error("a range such as `1..9` cannot start one action")]
    Range,
    /// It would take a letter away from everything that is typed.
    #[error("it would intercept typing; put `prefix+` before it")]
    Typing,
    /// Herdr leaves its prefix mode with it.
    #[error("Herdr leaves its prefix mode with esc")]
    Reserved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
struct Modifiers {
    ctrl: bool,
    alt: bool,
    shift: bool,
    meta: bool,
    hyper: bool,
}

impl Modifiers {
    /// Takes one word; false when it is no modifier.
    fn take(&mut self, word: &str) -> bool {
        match word.to_lowercase().as_str() {
            "ctrl" | "control" => self.ctrl = true,
            "shift" => self.shift = true,
            "alt" | "option" | "meta" => self.alt = true,
            "cmd" | "command" | "super" => self.meta = true,
            "hyper" => self.hyper = true,
            _ => return false,
        }
        true
    }
}

impl FromStr for Stroke {
    type Err = ChordError;

    fn from_str(text: &str) -> Result<Self, ChordError> {
        let mut modifiers = Modifiers::default();
        let mut word = None;
        for part in text.split('+').map(str::trim) {
            if part.is_empty() {
                return Err(ChordError::NoKey);
            }
            if modifiers.take(part) {
                continue;
            }
            if let Some(first) = word.replace(part) {
                let misplaced = [first, part].iter().any(|word| word.eq_ignore_ascii_case("prefix"));
                return Err(match misplaced {
                    true => ChordError::Prefix,
                    false => ChordError::TwoKeys(first.into(), part.into()),
                });
            }
        }
        let word = word.ok_or(ChordError::NoKey)?;
        let mut letters = word.chars();
        let key = match (Key::named(word), letters.next(), letters.next()) {
            (Some(key), ..) => key,
            (None, Some(letter), None) if letter.is_control() => {
                return Err(ChordError::UnknownKey(word.escape_debug().to_string()));
            }
            (None, Some(letter), None) => {
                modifiers.shift |= letter.is_ascii_uppercase();
                Key::Char(letter.to_ascii_lowercase())
            }
            _ if word == "1..9" => return Err(ChordError::Range),
            _ if word.eq_ignore_ascii_case("prefix") => return Err(ChordError::Prefix),
            _ => word
                .strip_prefix(['f', 'F'])
                .and_then(|number| number.parse().ok())
                .map(Key::F)
                .ok_or_else(|| ChordError::UnknownKey(word.escape_debug().to_string()))?,
        };
        let key = if key == Key::Tab && std::mem::take(&mut modifiers.shift) { Key::BackTab } else { key };
        Ok(Self { modifiers, key })
    }
}

impl Stroke {
    /// What Herdr's legacy `[keys.indexed]` makes of modifiers alone: `ctrl+alt` is nine strokes.
    pub(super) fn indexed(modifiers: &str) -> Option<impl Iterator<Item = Self>> {
        let mut held = Modifiers::default();
        if !modifiers.split('+').all(|word| held.take(word.trim())) {
            return None;
        }
        Some(('1'..='9').map(move |digit| Self { modifiers: held, key: Key::Char(digit) }))
    }

    /// Whether it types a character: with no modifier but shift.
    fn types(self) -> bool {
        let Modifiers { ctrl, alt, meta, hyper, shift: _ } = self.modifiers;
        matches!(self.key, Key::Char(_)) && !(ctrl || alt || meta || hyper)
    }
}

impl FromStr for Chord {
    type Err = ChordError;

    fn from_str(text: &str) -> Result<Self, ChordError> {
        let (prefixed, body) = match text.trim().strip_prefix("prefix+") {
            Some(rest) => (true, rest),
            None => (false, text.trim()),
        };
        let stroke: Stroke = body.parse()?;
        if prefixed && stroke.key == Key::Esc && stroke.modifiers == Modifiers::default() {
            return Err(ChordError::Reserved);
        }
        if !prefixed && stroke.types() {
            return Err(ChordError::Typing);
        }
        Ok(Self { prefixed, stroke })
    }
}

impl Chord {
    /// The chord without `prefix+`: what is typed when it is direct.
    pub(super) fn direct(stroke: Stroke) -> Self {
        Self { prefixed: false, stroke }
    }

    /// Whether Herdr's prefix comes first; without it the chord is taken from every program.
    pub(crate) fn is_prefixed(self) -> bool {
        self.prefixed
    }

    /// The chord after the prefix.
    pub(super) fn prefixed(stroke: Stroke) -> Self {
        Self { prefixed: true, stroke }
    }

    /// All chords of a field that may hold a range: nine for `prefix+alt+1..9`, else one.
    pub(super) fn range(text: &str) -> Result<Vec<Self>, ChordError> {
        match text.parse::<Self>() {
            Err(ChordError::Range) => {
                ('1'..='9').map(|digit| text.replace("1..9", &digit.to_string()).parse()).collect()
            }
            single => single.map(|chord| vec![chord]),
        }
    }

    /// What a program reads when the chord's key is pressed, without the prefix: the bytes of a terminal in
    /// its ordinary mode. `None` where terminals differ.
    pub(crate) fn typed(self) -> Option<Vec<u8>> {
        let Modifiers { ctrl, alt, shift, meta, hyper } = self.stroke.modifiers;
        let mut bytes = if alt { vec![0x1b] } else { Vec::new() };
        match self.stroke.key {
            _ if meta || hyper => return None,
            Key::Char(letter @ 'a'..='z') if ctrl && !shift => bytes.push(letter as u8 & 0x1f),
            Key::Char(_) if ctrl => return None,
            Key::Char(letter @ 'a'..='z') if shift => bytes.push(letter.to_ascii_uppercase() as u8),
            // What shift makes of it is the keyboard's affair.
            Key::Char(_) if shift => return None,
            Key::Char(c) => bytes.extend(c.to_string().as_bytes()),
            _ if ctrl || shift || alt => return None,
            Key::Enter => bytes.push(b'\r'),
            Key::Tab => bytes.push(b'\t'),
            Key::Backspace => bytes.push(0x7f),
            Key::Up => bytes.extend(b"\x1b[A"),
            Key::Down => bytes.extend(b"\x1b[B"),
            Key::Right => bytes.extend(b"\x1b[C"),
            Key::Left => bytes.extend(b"\x1b[D"),
            Key::Esc | Key::BackTab | Key::F(_) => return None,
        }
        Some(bytes)
    }

    /// The ASCII letter of the key, whatever the modifiers.
    pub(crate) fn letter(self) -> Option<char> {
        match self.stroke.key {
            Key::Char(letter) if letter.is_ascii_lowercase() => Some(letter),
            _ => None,
        }
    }
}

impl fmt::Display for Stroke {
    /// Herdr's normal form, but the plus key by its name, since Herdr cannot read back what it prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Modifiers { ctrl, alt, shift, meta, hyper } = self.modifiers;
        let meta_name = if cfg!(target_os = "macos") { "cmd+" } else { "super+" };
        for (held, name) in [(ctrl, "ctrl+"), (alt, "alt+"), (shift, "shift+"), (meta, meta_name)] {
            if held {
                f.write_str(name)?;
            }
        }
        if hyper {
            f.write_str("hyper+")?;
        }
        self.key.fmt(f)
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.prefixed {
            f.write_str("prefix+")?;
        }
        self.stroke.fmt(f)
    }
}

impl serde::Serialize for Chord {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Chord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
pub(in crate::keys) mod tests {
    use super::*;

    /// What is written, and Herdr's normal form of it.
    pub(in crate::keys) const GOOD: [(&str, &str); 26] = [
        ("prefix+shift+s", "prefix+shift+s"),
        ("prefix+S", "prefix+shift+s"),
        ("prefix+s+shift", "prefix+shift+s"),
        ("  prefix+ Shift + s  ", "prefix+shift+s"),
        ("prefix+shift+shift+s", "prefix+shift+s"),
        ("prefix+alt+ctrl+x", "prefix+ctrl+alt+x"),
        ("prefix+option+a", "prefix+alt+a"),
        ("prefix+meta+a", "prefix+alt+a"),
        ("prefix+Control+Return", "prefix+ctrl+enter"),
        ("prefix+minus", "prefix+-"),
        ("prefix+-", "prefix+-"),
        ("prefix+double_quote", "prefix+\""),
        ("prefix+!", "prefix+!"),
        ("prefix+shift+1", "prefix+shift+1"),
        ("prefix+shift+tab", "prefix+shift+tab"),
        ("prefix+ctrl+shift+tab", "prefix+ctrl+shift+tab"),
        ("prefix+ä", "prefix+ä"),
        ("prefix+Ä", "prefix+Ä"),
        ("prefix+f", "prefix+f"),
        ("prefix+F", "prefix+shift+f"),
        ("prefix+space", "prefix+space"),
        ("prefix+ctrl+esc", "prefix+ctrl+esc"),
        ("f12", "f12"),
        ("F05", "f5"),
        ("ctrl+S", "ctrl+shift+s"),
        ("hyper+up", "hyper+up"),
    ];

    /// What Herdr does not bind.
    pub(in crate::keys) const BAD: [(&str, ChordError); 16] = [
        ("Prefix+shift+s", ChordError::Prefix),
        ("prefix +shift+s", ChordError::Prefix),
        ("shift+prefix+s", ChordError::Prefix),
        ("prefix", ChordError::Prefix),
        ("prefix+", ChordError::NoKey),
        ("prefix++", ChordError::NoKey),
        ("shift+", ChordError::NoKey),
        ("ctrl+shift", ChordError::NoKey),
        ("prefix+1..9", ChordError::Range),
        ("prefix+alt+1..9", ChordError::Range),
        ("s", ChordError::Typing),
        ("S", ChordError::Typing),
        ("shift+space", ChordError::Typing),
        ("ä", ChordError::Typing),
        ("prefix+f256", ChordError::UnknownKey(String::new())),
        ("prefix+delete", ChordError::UnknownKey(String::new())),
    ];

    #[test]
    fn what_herdr_reads_has_its_normal_form() {
        for (written, normal) in GOOD {
            let chord: Chord = written.parse().unwrap_or_else(|error| panic!("{written}: {error}"));
            assert_eq!(chord.to_string(), normal, "{written}");
            assert_eq!(chord.to_string().parse::<Chord>().unwrap(), chord, "{written}");
        }
    }

    #[test]
    fn what_herdr_does_not_bind_is_an_error() {
        for (written, expected) in BAD {
            let error = written.parse::<Chord>().expect_err(written);
            assert_eq!(
                std::mem::discriminant(&error),
                std::mem::discriminant(&expected),
                "{written}: {error}"
            );
        }
        assert_eq!("prefix+esc".parse::<Chord>(), Err(ChordError::Reserved));
        assert!(matches!("prefix+a+b".parse::<Chord>(), Err(ChordError::TwoKeys(..))));
    }

    #[test]
    fn names_without_a_printable_form_read_back() {
        for written in ["prefix+plus", "ctrl+super+a", "alt+hyper+backspace", "super+shift+tab"] {
            let chord: Chord = written.parse().unwrap();
            assert_eq!(chord.to_string().parse::<Chord>().unwrap(), chord, "{chord}");
        }
    }

    #[test]
    fn a_shifted_digit_is_not_its_symbol_and_a_capital_is_a_shifted_letter() {
        let chord = |text: &str| text.parse::<Chord>().unwrap();
        assert_ne!(chord("prefix+shift+1"), chord("prefix+!"));
        assert_eq!(chord("prefix+S"), chord("prefix+shift+S"));
        assert_ne!(chord("prefix+s"), chord("prefix+S"));
        assert_ne!(chord("prefix+f5"), chord("f5"));
    }

    #[test]
    fn a_chord_is_typed_as_terminals_send_it() {
        for (written, bytes) in [
            ("prefix+shift+x", Some(&b"X"[..])),
            ("prefix+x", Some(b"x")),
            ("prefix+alt+x", Some(b"\x1bx")),
            ("prefix+alt+shift+x", Some(b"\x1bX")),
            ("ctrl+x", Some(b"\x18")),
            ("ctrl+alt+x", Some(b"\x1b\x18")),
            ("prefix+minus", Some(b"-")),
            ("prefix+ä", Some("ä".as_bytes())),
            ("prefix+shift+1", None),
            ("prefix+f5", None),
            ("super+x", None),
        ] {
            assert_eq!(written.parse::<Chord>().unwrap().typed().as_deref(), bytes, "{written}");
        }
    }

    #[test]
    fn ranges_are_nine_chords() {
        assert_eq!(Chord::range("prefix+alt+1..9").unwrap().len(), 9);
        assert_eq!(Chord::range("prefix+5").unwrap(), ["prefix+5".parse().unwrap()]);
        assert_eq!(Stroke::indexed("ctrl + alt").unwrap().last().unwrap().to_string(), "ctrl+alt+9");
        assert!(Stroke::indexed("ctrl+x").is_none());
    }
}
