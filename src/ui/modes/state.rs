//! The modes that output has set so far.

use std::collections::BTreeSet;

/// DEC private modes that outlive a program and matter to what is typed or shown afterwards:
/// cursor keys, reverse video, mouse reports, focus, scrolling, paste, colour scheme reports.
pub(super) const PRIVATE: [u16; 15] =
    [1, 5, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2031, 2048];
/// Of these, what terminals have on by themselves: taken back only where a program has set it.
pub(super) const OFTEN_ON: u16 = 1007;
/// The alternate screen in its three spellings.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];

/// The modes, as far as the output seen so far has set them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Modes {
    pub(super) scan: Scan,
    /// The last byte may begin U+009B or U+009D in UTF-8.
    pub(super) half_c1: bool,
    /// Only printed text so far.
    pub(super) marked: bool,
    /// The last query of the program; no input has come since.
    pub(super) asked: bool,
    pub(super) set: BTreeSet<u16>,
    pub(super) alternate: Option<u16>,
    /// It is not known whether that screen is shown.
    pub(super) guessed: bool,
    /// Rows that scroll, the first and the last.
    pub(super) margins: Option<(u16, u16)>,
    pub(super) no_wrap: bool,
    pub(super) insert: bool,
    /// The cursor's shape.
    pub(super) shape: u16,
    /// The final characters of the sets G0 and G1; none is letters.
    pub(super) sets: [Option<u8>; 2],
    /// G1 is in use.
    pub(super) shifted: bool,
    pub(super) title: Option<Vec<u8>>,
    /// A title on its way.
    pub(super) text: Vec<u8>,
    pub(super) cursor_hidden: bool,
    pub(super) origin: bool,
    pub(super) colours: bool,
    pub(super) keypad: bool,
    pub(super) other_keys: u16,
    /// Keys were to be reported in a way that not every terminal knows.
    pub(super) special_keys: bool,
    /// The kitty keyboard protocol's stack of flags; beyond 16 the oldest go.
    pub(super) kitty: Vec<u16>,
}

impl Modes {
    /// A set of characters is chosen for G0 or G1.
    pub(super) fn choose(&mut self, intermediate: u8, set: u8) {
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

    pub(super) fn reset(&mut self) {
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

    pub(super) fn sequence(&mut self, seen: &Sequence, last: u8) {
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
                self.set.insert(mode);
            } else {
                self.set.remove(&mode);
            }
        }
    }
}

/// More parameters than any terminal takes.
const MOST_NUMBERS: usize = 256;

/// What the next byte belongs to.
#[derive(Debug, Clone, Default)]
pub(super) enum Scan {
    #[default]
    Ground,
    Escape,
    Sequence(Sequence),
    /// Behind an escape and these intermediates, of which the last one counts.
    Intermediate(u8),
    /// An operating system command: its number, until that is complete.
    Command(Option<u16>),
    /// The text of one that sets the title.
    Title,
}

/// A control sequence on its way.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    begun: bool,
    /// One of `<=>?`.
    pub(super) private: u8,
    pub(super) numbers: Vec<u16>,
    pub(super) intermediate: u8,
}

impl Sequence {
    pub(super) fn push(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => {
                if self.numbers.is_empty() {
                    self.numbers.push(0);
                }
                if let Some(number) = self.numbers.last_mut() {
                    *number = append(*number, byte);
                }
            }
            b';' | b':' => {
                if self.numbers.is_empty() {
                    self.numbers.push(0);
                }
                if self.numbers.len() < MOST_NUMBERS {
                    self.numbers.push(0);
                }
            }
            0x3c..=0x3f if !self.begun => self.private = byte,
            0x20..=0x2f => self.intermediate = byte,
            _ => {}
        }
        self.begun = true;
    }
}

/// A number with one more digit; too large is the largest.
pub(super) fn append(number: u16, digit: u8) -> u16 {
    number.saturating_mul(10).saturating_add(u16::from(digit - b'0'))
}
