//! The key that detaches in what is typed, Ctrl-] unless another is set, in every way in which terminals send it: the byte,
//! the kitty protocol's sequence and that of `modifyOtherKeys`, with Caps Lock and Num Lock on or off. One that is pasted is
//! none.

use crate::config::DetachKey;

/// So much of a sequence is looked at.
const MOST: usize = 64;
/// The modifiers, as kitty counts them: what has to be there, and what may be.
const CTRL: u32 = 4;
const LOCKS: u32 = 64 | 128;

/// Looks for the key, however what is typed is split.
#[derive(Debug)]
pub(crate) struct DetachScan {
    key: char,
    scan: KeyScan,
    pasting: bool,
}

#[derive(Debug, Default)]
enum KeyScan {
    #[default]
    Ground,
    Escape,
    Sequence(Vec<u8>),
}

impl DetachScan {
    /// For this key.
    pub(crate) fn of(key: DetachKey) -> Self {
        Self { key: key.character(), scan: KeyScan::Ground, pasting: false }
    }

    /// Where the key begins in what was typed; 0 when it began before.
    pub(crate) fn find(&mut self, typed: &[u8]) -> Option<usize> {
        let mut start = 0;
        for (at, &byte) in typed.iter().enumerate() {
            self.scan = match (std::mem::take(&mut self.scan), byte) {
                (_, 0x1b) => {
                    start = at;
                    KeyScan::Escape
                }
                (_, byte) if !self.pasting && byte == self.key as u8 & 0x1f => return Some(at),
                (KeyScan::Escape, b'[') => KeyScan::Sequence(Vec::new()),
                (KeyScan::Sequence(mut seen), 0x20..=0x3f) => {
                    if seen.len() < MOST {
                        seen.push(byte);
                    }
                    KeyScan::Sequence(seen)
                }
                (KeyScan::Sequence(seen), last) => {
                    match (seen.as_slice(), last) {
                        (b"200", b'~') => self.pasting = true,
                        (b"201", b'~') => self.pasting = false,
                        (seen, last) if !self.pasting && is_key(self.key, seen, last) => return Some(start),
                        _ => {}
                    }
                    KeyScan::Ground
                }
                _ => KeyScan::Ground,
            };
        }
        None
    }
}

/// Whether a sequence is the key, pressed or held.
fn is_key(key: char, seen: &[u8], last: u8) -> bool {
    let text = String::from_utf8_lossy(seen);
    let fields: Vec<Vec<Option<u32>>> =
        text.split(';').map(|field| field.split(':').map(|number| number.parse().ok()).collect()).collect();
    let number = |field: usize, at: usize| fields.get(field)?.get(at).copied().flatten();
    // The kitty protocol names the key, and where asked for the key at its place on a keyboard of the PC's layout.
    let (is_it, modifiers) = match last {
        b'u' => ([number(0, 0), number(0, 2)].contains(&Some(u32::from(key))), 1),
        b'~' if number(0, 0) == Some(27) => (number(2, 0) == Some(u32::from(key)), 1),
        _ => return false,
    };
    let held = number(modifiers, 0).unwrap_or(1).saturating_sub(1);
    let pressed = number(modifiers, 1).is_none_or(|event| event != 3);
    is_it && pressed && held & !LOCKS == CTRL
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &[u8]) -> Option<usize> {
        DetachScan::of(DetachKey::default()).find(typed)
    }

    #[test]
    fn the_key_is_found_in_every_form_and_with_every_lock() {
        assert_eq!(found(b"ab\x1dc"), Some(2));
        assert_eq!(found(b"a\x1b[93;5u"), Some(1));
        for key in [
            "\x1b[93;5:1u",
            "\x1b[93;5:2u",
            "\x1b[93;69u",
            "\x1b[93;133u",
            "\x1b[93;197:1u",
            "\x1b[93:125;133u",
            "\x1b[1098::93;5u",
            "\x1b[27;5;93~",
            "\x1b[27;69;93~",
            "\x1b\x1d",
            "\x1b[A\x1d",
        ] {
            assert!(found(key.as_bytes()).is_some(), "{key:?}");
            let mut split = DetachScan::of(DetachKey::default());
            assert!(key.bytes().any(|byte| split.find(&[byte]).is_some()), "{key:?}, byte by byte");
        }
        for other in [
            "]\x1b[93u\x1b[A",
            "\x1b[93;6u",
            "\x1b[93;7u",
            "\x1b[93;5:3u",
            "\x1b[27;5;92~",
            "\x1b[93;129u",
            "\x1b[5;93R",
        ] {
            assert_eq!(found(other.as_bytes()), None, "{other:?}");
        }
    }

    #[test]
    fn one_that_is_pasted_is_none() {
        assert_eq!(found(b"\x1b[200~a\x1db\x1b[93;5u\x1b[201~"), None);
        let mut key = DetachScan::of(DetachKey::default());
        assert_eq!((key.find(b"\x1b[200~a"), key.find(b"\x1d"), key.find(b"\x1b[20")), (None, None, None));
        assert_eq!((key.find(b"1~x"), key.find(b"y\x1d")), (None, Some(1)));
    }

    #[test]
    fn another_key_is_found_in_the_same_forms_and_this_one_no_more() {
        let found = |typed: &[u8]| DetachScan::of("ctrl+q".parse().unwrap()).find(typed);
        for key in ["\x11", "\x1b[113;5u", "\x1b[113;69u", "\x1b[1081::113;5u", "\x1b[27;5;113~"] {
            assert_eq!(found(key.as_bytes()), Some(0), "{key:?}");
        }
        for other in ["q", "\x1d", "\x1b[93;5u", "\x1b[113;6u", "\x1b[200~\x11\x1b[201~"] {
            assert_eq!(found(other.as_bytes()), None, "{other:?}");
        }
    }
}
