//! An order to a terminal on its way, byte by byte.

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
