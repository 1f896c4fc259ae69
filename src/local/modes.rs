//! Which modes a program has put its terminal into: to bring another terminal into the same ones, and
//! to take a terminal out of them again.

use std::collections::BTreeMap;

/// DEC private modes that outlive a program and matter to what is typed or shown afterwards:
/// cursor keys, mouse reports, focus, paste, colour scheme reports.
const PRIVATE: [u16; 13] = [1, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2031, 2048];
/// The alternate screen in its three spellings.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];
/// Longer parameters are nothing that we track.
const LONGEST: usize = 64;

/// The modes, as far as the output seen so far has set them.
#[derive(Debug, Clone, Default)]
pub(super) struct Modes {
    scan: Scan,
    set: BTreeMap<u16, ()>,
    alternate: Option<u16>,
    cursor_hidden: bool,
    cursor_shape: bool,
    keypad: bool,
    other_keys: u16,
    /// The kitty keyboard protocol's stack of flags; beyond 16 the oldest go.
    kitty: Vec<u16>,
}

#[derive(Debug, Clone, Default)]
enum Scan {
    #[default]
    Ground,
    Escape,
    Sequence(Vec<u8>),
}

impl Modes {
    /// Looks at output, however it is split.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let scan = std::mem::take(&mut self.scan);
            self.scan = match (scan, byte) {
                (_, 0x1b) => Scan::Escape,
                (Scan::Escape, b'[') => Scan::Sequence(Vec::new()),
                (Scan::Escape, b'=') => self.done(|modes| modes.keypad = true),
                (Scan::Escape, b'>') => self.done(|modes| modes.keypad = false),
                (Scan::Escape, b'c') => self.done(|modes| *modes = Self::default()),
                (Scan::Sequence(mut seen), 0x20..=0x3f) if seen.len() < LONGEST => {
                    seen.push(byte);
                    Scan::Sequence(seen)
                }
                (Scan::Sequence(seen), 0x40..=0x7e) => self.done(|modes| modes.sequence(&seen, byte)),
                _ => Scan::Ground,
            };
        }
    }

    fn done(&mut self, change: impl FnOnce(&mut Self)) -> Scan {
        change(self);
        Scan::Ground
    }

    fn sequence(&mut self, seen: &[u8], last: u8) {
        let text = String::from_utf8_lossy(seen);
        let numbers = |text: &str| text.split(';').map(|n| n.parse().unwrap_or(0)).collect::<Vec<u16>>();
        match (seen.first(), last) {
            (Some(b'?'), b'h' | b'l') => {
                numbers(&text[1..]).into_iter().for_each(|mode| self.private(mode, last == b'h'));
            }
            (Some(b'>'), b'u') => {
                self.kitty.push(numbers(&text[1..])[0]);
                if self.kitty.len() > 16 {
                    self.kitty.remove(0);
                }
            }
            (Some(b'<'), b'u') => {
                let count = usize::from(numbers(&text[1..])[0].max(1));
                self.kitty.truncate(self.kitty.len().saturating_sub(count));
            }
            (Some(b'>'), b'm') => {
                if let [4, rest @ ..] = numbers(&text[1..]).as_slice() {
                    self.other_keys = rest.first().copied().unwrap_or(0);
                }
            }
            (_, b'q') if text.ends_with(' ') => self.cursor_shape = !["0 ", " "].contains(&&*text),
            (Some(b'!'), b'p') => {
                self.cursor_hidden = false;
                self.keypad = false;
                self.set.remove(&1);
            }
            _ => {}
        }
    }

    fn private(&mut self, mode: u16, on: bool) {
        if mode == 25 {
            self.cursor_hidden = !on;
        } else if ALTERNATE.contains(&mode) {
            self.alternate = on.then_some(mode);
        } else if PRIVATE.contains(&mode) {
            if on {
                self.set.insert(mode, ());
            } else {
                self.set.remove(&mode);
            }
        }
    }

    /// Bytes that bring a fresh terminal into these modes.
    pub(super) fn enter(&self) -> Vec<u8> {
        let mut text = String::new();
        if let Some(mode) = self.alternate {
            text.push_str(&format!("\x1b[?{mode}h"));
        }
        for mode in self.set.keys() {
            text.push_str(&format!("\x1b[?{mode}h"));
        }
        if self.cursor_hidden {
            text.push_str("\x1b[?25l");
        }
        if self.keypad {
            text.push_str("\x1b=");
        }
        if self.other_keys > 0 {
            text.push_str(&format!("\x1b[>4;{}m", self.other_keys));
        }
        for flags in &self.kitty {
            text.push_str(&format!("\x1b[>{flags}u"));
        }
        text.into_bytes()
    }

    /// Bytes that take a terminal out of these modes. The alternate screen is left only if it was
    /// entered: leaving it unasked would move the cursor of a plain shell.
    pub(super) fn leave(&self) -> Vec<u8> {
        let mut text = String::new();
        if !self.kitty.is_empty() {
            text.push_str(&format!("\x1b[<{}u", self.kitty.len()));
        }
        if self.other_keys > 0 {
            text.push_str("\x1b[>4m");
        }
        for mode in self.set.keys() {
            text.push_str(&format!("\x1b[?{mode}l"));
        }
        if self.keypad {
            text.push_str("\x1b>");
        }
        if let Some(mode) = self.alternate {
            text.push_str(&format!("\x1b[?{mode}l"));
        }
        if self.cursor_shape {
            text.push_str("\x1b[0 q");
        }
        text.push_str("\x1b[0m\x1b[?25h");
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(output: &str) -> Modes {
        let mut modes = Modes::default();
        // One byte at a time: no split may matter.
        output.bytes().for_each(|byte| modes.feed(&[byte]));
        modes
    }

    #[test]
    fn an_editor_is_entered_and_left_in_full() {
        let modes = after("\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[?2004h\x1b[>1u\x1b=text");
        let entered = String::from_utf8(modes.enter()).unwrap();
        let left = String::from_utf8(modes.leave()).unwrap();
        for mode in ["1000", "1006", "2004", "1049"] {
            assert!(entered.contains(&format!("\x1b[?{mode}h")), "{entered:?}");
            assert!(left.contains(&format!("\x1b[?{mode}l")), "{left:?}");
        }
        assert!(entered.contains("\x1b[>1u") && left.contains("\x1b[<1u"));
        assert!(entered.contains("\x1b[?25l") && left.ends_with("\x1b[?25h"));
        let mut fresh = Modes::default();
        fresh.feed(&modes.enter());
        assert_eq!(fresh.leave(), modes.leave(), "what was entered can be left");
    }

    #[test]
    fn a_plain_shell_leaves_nothing_to_undo_but_colour_and_cursor() {
        assert_eq!(after("$ ls\r\n\x1b[1mdir\x1b[0m").leave(), b"\x1b[0m\x1b[?25h");
        assert!(after("\x1b[?1049h\x1b[?1000h\x1bc").enter().is_empty());
        assert!(after("\x1b[?1049h\x1b[?2004h\x1b[?2004l\x1b[?1049l").enter().is_empty());
    }
}
