//! What each byte of output is to a terminal: text, or part of an order, which the modes obey.

use super::state::{Modes, Scan, Sequence, append};

/// A title is kept up to here.
const LONGEST_TITLE: usize = 512;
/// What a byte is to a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Part of a character that is printed.
    Text,
    /// The end of the order to print the last character so many times more.
    Repeat(u16),
    /// Anything else.
    Other,
}

impl Modes {
    /// Looks at output, however it is split. What is no order to one terminal may be one to another: in
    /// doubt it is one.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            let letters = self.letters(rest);
            rest = match letters {
                0 => {
                    self.step(*byte);
                    after
                }
                _ => &rest[letters..],
            };
        }
    }

    /// How many bytes from the first one on are letters of ASCII and nothing else, which change nothing here.
    pub(crate) fn letters(&self, bytes: &[u8]) -> usize {
        match self.is_in_text() {
            true => bytes.iter().take_while(|byte| (0x20..0x7f).contains(*byte)).count(),
            false => 0,
        }
    }

    /// Looks at one byte of output, and says what it is.
    pub(crate) fn step(&mut self, byte: u8) -> Seen {
        let half = std::mem::replace(&mut self.half_c1, byte == 0xc2);
        self.marked |= half && byte < 0xa0 || matches!(byte, 0x05 | 0x0e | 0x1b);
        self.asked |= byte == 0x05;
        match byte {
            0x0e => self.shifted = true,
            0x0f => self.shifted = false,
            _ => {}
        }
        let scan = std::mem::take(&mut self.scan);
        let mut seen = match scan {
            Scan::Ground if byte >= 0x20 && byte != 0x7f && !(half && byte < 0xa0) => Seen::Text,
            _ => Seen::Other,
        };
        self.scan = match (scan, byte) {
            (Scan::Title, 0x07 | 0x1b) => {
                self.title = Some(std::mem::take(&mut self.text));
                if byte == 0x1b { Scan::Escape } else { Scan::Ground }
            }
            (_, 0x1b) => Scan::Escape,
            (_, 0x9b) if half => Scan::Sequence(Sequence::default()),
            (_, 0x9d) if half => Scan::Command(Some(0)),
            (_, 0x18 | 0x1a) => Scan::Ground,
            (Scan::Title, _) => self.title(byte),
            (Scan::Command(_), 0x07) => Scan::Ground,
            (Scan::Command(number), _) => self.command(number, byte),
            // A terminal obeys these at once, and goes on with the sequence.
            (scan, 0x00..=0x1f | 0x7f) => scan,
            (Scan::Escape, b'[') => Scan::Sequence(Sequence::default()),
            (Scan::Escape, b']') => Scan::Command(Some(0)),
            (Scan::Escape, b'=') => self.done(|modes| modes.keypad = true),
            (Scan::Escape, b'>') => self.done(|modes| modes.keypad = false),
            (Scan::Escape, b'c') => self.done(Self::reset),
            // Strings that ask for features or draw, and the oldest query.
            (Scan::Escape, b'P' | b'_' | b'Z') => self.done(|modes| modes.asked = true),
            (Scan::Escape | Scan::Intermediate(_), 0x20..=0x2f) => Scan::Intermediate(byte),
            (Scan::Intermediate(before), _) => self.done(|modes| modes.choose(before, byte)),
            (Scan::Sequence(mut seen), 0x20..=0x3f) => {
                seen.push(byte);
                Scan::Sequence(seen)
            }
            (Scan::Sequence(order), 0x40..=0x7e) => {
                if (order.private, order.intermediate, byte) == (0, 0, b'b') {
                    seen = Seen::Repeat(order.numbers.first().copied().unwrap_or(0).max(1));
                }
                self.done(|modes| modes.sequence(&order, byte))
            }
            _ => Scan::Ground,
        };
        seen
    }

    fn title(&mut self, byte: u8) -> Scan {
        self.asked |= byte == b'?';
        if self.text.len() < LONGEST_TITLE && byte >= 0x20 && byte != 0x7f {
            self.text.push(byte);
        }
        Scan::Title
    }

    /// Whether the last byte ended whatever it belongs to.
    pub(crate) fn is_in_text(&self) -> bool {
        matches!(self.scan, Scan::Ground) && !self.half_c1
    }

    fn done(&mut self, change: impl FnOnce(&mut Self)) -> Scan {
        change(self);
        Scan::Ground
    }

    /// Palette and colours of text, background and cursor are 4, 5 and 10 to 21.
    fn command(&mut self, number: Option<u16>, byte: u8) -> Scan {
        self.asked |= byte == b'?';
        match (number, byte) {
            (Some(number), b'0'..=b'9') => Scan::Command(Some(append(number, byte))),
            (Some(0 | 2), b';') => {
                self.text.clear();
                Scan::Title
            }
            (Some(number), 0x20..) => {
                self.colours |= matches!(number, 4 | 5 | 10..=21);
                Scan::Command(None)
            }
            (number, _) => Scan::Command(number),
        }
    }
}
