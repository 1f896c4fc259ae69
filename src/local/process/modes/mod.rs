//! Which modes a program has put its terminal into: to bring another terminal into the same ones, and
//! to take a terminal out of them again.

mod scan;

pub(crate) use scan::Seen;

use scan::{Scan, Sequence};
use std::collections::BTreeMap;

/// DEC private modes that outlive a program and matter to what is typed or shown afterwards:
/// cursor keys, reverse video, mouse reports, focus, scrolling, paste, colour scheme reports.
const PRIVATE: [u16; 15] = [1, 5, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2031, 2048];
/// Of these, what terminals have on by themselves: taken back only where a program has set it.
const OFTEN_ON: u16 = 1007;
/// The alternate screen in its three spellings.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];

/// The modes, as far as the output seen so far has set them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Modes {
    scan: Scan,
    /// The last byte may begin U+009B or U+009D in UTF-8.
    half_c1: bool,
    /// Only printed text so far.
    marked: bool,
    /// The last query of the program; no input has come since.
    asked: bool,
    set: BTreeMap<u16, ()>,
    alternate: Option<u16>,
    /// Rows that scroll, the first and the last.
    margins: Option<(u16, u16)>,
    no_wrap: bool,
    insert: bool,
    /// The cursor's shape.
    shape: u16,
    /// The final characters of the sets G0 and G1; none is letters.
    sets: [Option<u8>; 2],
    /// G1 is in use.
    shifted: bool,
    title: Option<Vec<u8>>,
    /// A title on its way.
    text: Vec<u8>,
    cursor_hidden: bool,
    origin: bool,
    colours: bool,
    keypad: bool,
    other_keys: u16,
    /// Keys were to be reported in a way that not every terminal knows.
    special_keys: bool,
    /// The kitty keyboard protocol's stack of flags; beyond 16 the oldest go.
    kitty: Vec<u16>,
}

impl Modes {
    /// A set of characters is chosen for G0 or G1.
    fn choose(&mut self, intermediate: u8, set: u8) {
        let set = (set != b'B').then_some(set);
        match intermediate {
            b'(' => self.sets[0] = set,
            b')' => self.sets[1] = set,
            _ => {}
        }
    }

    /// Whether letters stand for the pieces of lines.
    pub(crate) fn draws_lines(&self) -> bool {
        self.sets[usize::from(self.shifted)] == Some(b'0')
    }

    /// Whether a program has the alternate screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    /// The rows that scroll, if not all.
    pub(crate) fn margins(&self) -> Option<(u16, u16)> {
        self.margins
    }

    fn reset(&mut self) {
        *self = Self { marked: true, asked: self.asked, special_keys: self.special_keys, ..Self::default() };
    }

    /// Input has come for the program: a query of its own has been answered.
    pub(crate) fn answered(&mut self) {
        self.asked = false;
    }

    /// Whether an answer of the terminal may still be on its way.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.asked
    }

    /// Whether there was nothing but text.
    pub(crate) fn is_plain(&self) -> bool {
        !self.marked
    }

    fn sequence(&mut self, seen: &Sequence, last: u8) {
        let numbers = &seen.numbers;
        let first = numbers.first().copied().unwrap_or(0);
        self.asked |= matches!(
            (seen.private, seen.intermediate, last),
            (_, 0, b'c' | b'n' | b't' | b'x')
                | (_, b'$' | b'*', _)
                | (b'?', 0, b'u' | b'S' | b'm')
                | (b'>', 0, b'q')
        );
        match (seen.private, seen.intermediate, last) {
            (b'?', 0, b'h' | b'l') => numbers.iter().for_each(|mode| self.private(*mode, last == b'h')),
            (b'=', 0, b'u') => self.special_keys = true,
            (b'>', 0, b'u') => {
                self.special_keys = true;
                self.kitty.push(first);
                if self.kitty.len() > 16 {
                    self.kitty.remove(0);
                }
            }
            (b'<', 0, b'u') => {
                let count = usize::from(first.max(1));
                self.kitty.truncate(self.kitty.len().saturating_sub(count));
            }
            (b'>', 0, b'm') => {
                self.special_keys = true;
                if first == 4 {
                    self.other_keys = numbers.get(1).copied().unwrap_or(0);
                }
            }
            (0, b'!', b'p') => {
                self.cursor_hidden = false;
                self.keypad = false;
                self.origin = false;
                self.insert = false;
                self.margins = None;
                self.sets = [None; 2];
                self.shifted = false;
                self.set.remove(&1);
            }
            (0, 0, b'r') => {
                let last = numbers.get(1).copied().unwrap_or(0);
                self.margins = (first > 0 || last > 0).then_some((first.max(1), last));
            }
            (0, 0, b'h' | b'l') if numbers.contains(&4) => self.insert = last == b'h',
            (0, b' ', b'q') => self.shape = first,
            _ => {}
        }
    }

    fn private(&mut self, mode: u16, on: bool) {
        if mode == 25 {
            self.cursor_hidden = !on;
        } else if ALTERNATE.contains(&mode) {
            // The one that also moves the cursor back takes the others with it.
            self.alternate = on.then(|| self.alternate.map_or(mode, |old| old.max(mode)));
        } else if mode == 6 {
            self.origin = on;
        } else if mode == 7 {
            self.no_wrap = !on;
        } else if PRIVATE.contains(&mode) {
            if on {
                self.set.insert(mode, ());
            } else {
                self.set.remove(&mode);
            }
        }
    }

    /// Bytes that give a terminal with the cursor in this row and column the title, the cursor's shape, the margins
    /// and the ways to print, and leave the cursor there.
    pub(crate) fn dress(&self, row: u16, column: u16) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(title) = &self.title {
            out.extend(b"\x1b]2;");
            out.extend(title);
            out.extend(b"\x1b\\");
        }
        let mut text = String::new();
        if let Some((first, last)) = self.margins {
            let last = if last == 0 { String::new() } else { last.to_string() };
            text.push_str(&format!("\x1b7\x1b[{first};{last}r\x1b8"));
        }
        if self.origin {
            let top = self.margins.map_or(1, |(first, _)| first);
            text.push_str(&format!("\x1b[?6h\x1b[{};{}H", (row + 2).saturating_sub(top).max(1), column + 1));
        }
        for (is, order) in [(self.no_wrap, "\x1b[?7l"), (self.insert, "\x1b[4h"), (self.shifted, "\x0e")] {
            if is {
                text.push_str(order);
            }
        }
        for (set, slot) in self.sets.iter().zip(['(', ')']) {
            if let Some(set) = set.filter(|set| set.is_ascii_graphic()) {
                text.push_str(&format!("\x1b{slot}{}", char::from(set)));
            }
        }
        if self.shape > 0 {
            text.push_str(&format!("\x1b[{} q", self.shape));
        }
        out.extend(text.into_bytes());
        out
    }

    /// Bytes that bring a fresh terminal into these modes.
    pub(crate) fn enter(&self) -> Vec<u8> {
        let alternate = self.alternate.map(|mode| format!("\x1b[?{mode}h")).unwrap_or_default();
        [alternate.into_bytes(), self.keys()].concat()
    }

    /// The same without the alternate screen: what is typed and reported, and the hidden cursor.
    pub(crate) fn keys(&self) -> Vec<u8> {
        let mut text = String::new();
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

    /// Bytes that take a terminal out of these modes, and out of every other one that a program can have
    /// set. The alternate screen is left only if it was entered: leaving it unasked would move the cursor
    /// of a plain shell.
    pub(crate) fn leave(&self) -> Vec<u8> {
        // Out of what swallows or prints everything: a string, the VT52's language, a printer.
        let mut text = "\x18\x1b<\x1b[4i".to_owned();
        // Each screen has keys of its own.
        let mut keys = String::new();
        if !self.kitty.is_empty() {
            keys.push_str(&format!("\x1b[<{}u", self.kitty.len()));
        }
        if self.special_keys {
            keys.push_str("\x1b[=0u\x1b[>4m");
        }
        text.push_str(&keys);
        if let Some(mode) = self.alternate {
            text.push_str(&format!("\x1b[?{mode}l{keys}"));
        }
        text.push_str("\x1b[!p");
        for mode in PRIVATE.into_iter().filter(|mode| *mode != OFTEN_ON || self.set.contains_key(mode)) {
            text.push_str(&format!("\x1b[?{mode}l"));
        }
        text.push_str("\x1b[?2026l\x1b[2l\x1b[4l\x1b[12h\x1b[20l\x1b>");
        // Margins and origin: both take the cursor home, so it is put back.
        if self.origin {
            text.push_str("\x1b[?69l\x1b[r\x1b[?6l\x1b[999;1H");
        } else {
            text.push_str("\x1b7\x1b[?6l\x1b[?69l\x1b[r\x1b8");
        }
        // Character sets, a link that was left open, the cursor's shape.
        text.push_str("\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b]8;;\x1b\\\x1b[0 q");
        if self.colours {
            for number in [104, 105, 110, 111, 112] {
                text.push_str(&format!("\x1b]{number}\x1b\\"));
            }
        }
        text.push_str("\x1b[0m\x1b[?7h\x1b[?25h");
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
    fn a_plain_shell_is_not_taken_out_of_a_screen_that_it_was_not_in() {
        let shell = after("$ ls\r\n\x1b[1mdir\x1b[0m");
        assert!(!String::from_utf8(shell.leave()).unwrap().contains("49l"));
        assert!(!shell.is_plain() && after("$ ls ä").is_plain());
        assert!(after("\x1b[?1049h\x1b[?1000h\x1bc").enter().is_empty());
        assert!(after("\x1b[?1049h\x1b[?2004h\x1b[?2004l\x1b[?1049l").enter().is_empty());
    }

    #[test]
    fn no_spelling_hides_a_mode() {
        let zeros = format!("\x1b[?{}1049h", "0".repeat(500));
        let many = format!("\x1b[?{}1049h", "7;".repeat(100));
        for hidden in ["\x1b[?10\r49h", "\u{9b}?1049h", "\x1b\0[?1049h", "\x1b[?1049\x7fh", &zeros, &many] {
            let left = String::from_utf8(after(hidden).leave()).unwrap();
            assert!(left.contains("\x1b[?1049l"), "{hidden:?}");
        }
        assert!(after("\x1b[?1049\x18h").alternate.is_none());
    }

    #[test]
    fn colours_are_given_back_where_they_were_taken_and_queries_are_noticed() {
        let reset = |output| String::from_utf8(after(output).leave()).unwrap().contains("\x1b]111\x1b\\");
        assert!(reset("\x1b]11;#ff0000\x07") && reset("\u{9d}0011;red\x1b\\"));
        assert!(!reset("\x1b]0;title 11;\x07"));
        for query in ["\x1b[c", "\x1b[6n", "\x1b]11;?\x07", "\x1bP+q544e\x1b\\", "\x1b[?u", "\x1b[?1$p"] {
            assert!(after(query).awaits_answer(), "{query:?}");
        }
        assert!(!after("\x1b[?1049h\x1b[1;31mred\x1b]0;t\x07").awaits_answer());
    }
}
