//! The tests' terminal: `vt100`, with the last column as Herdr's terminal has it. There the cursor stays on a
//! character that was written into the last column, so what erases from the cursor on erases that character too.

/// A screen of a fixed size that is fed with output, however it is split.
pub struct Terminal {
    parser: vt100::Parser,
    /// A sequence that is not complete yet.
    held: Vec<u8>,
}

/// What acts on the cell under the cursor: erasing in the screen and the line, inserting and deleting characters.
const ON_THE_CELL: [u8; 5] = [b'J', b'K', b'X', b'P', b'@'];

impl Terminal {
    /// An empty screen that remembers so many rows which have left it.
    pub fn new(rows: u16, columns: u16, scrollback: usize) -> Self {
        Self { parser: vt100::Parser::new(rows, columns, scrollback), held: Vec::new() }
    }

    /// Takes output.
    pub fn process(&mut self, output: &[u8]) {
        for &byte in output {
            match (self.held.as_slice(), byte) {
                ([], 0x1b) => self.held.push(byte),
                ([], _) => self.parser.process(&[byte]),
                ([0x1b], b'[') | ([0x1b, b'[', ..], 0x20..=0x3f) => self.held.push(byte),
                ([0x1b, b'[', ..], last) => {
                    let columns = self.parser.screen().size().1;
                    if ON_THE_CELL.contains(&last) && self.parser.screen().cursor_position().1 >= columns {
                        self.parser.process(format!("\x1b[{columns}G").as_bytes());
                    }
                    self.pass(byte);
                }
                _ => self.pass(byte),
            }
        }
    }

    fn pass(&mut self, byte: u8) {
        self.held.push(byte);
        self.parser.process(&std::mem::take(&mut self.held));
    }

    /// What it shows.
    pub fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// The rows that have left the screen at the top.
    pub fn lost_rows(&mut self) -> usize {
        self.parser.screen_mut().set_scrollback(usize::MAX);
        let lost = self.parser.screen().scrollback();
        self.parser.screen_mut().set_scrollback(0);
        lost
    }
}
