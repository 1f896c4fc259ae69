//! The screen of a process's terminal as it is now: what a terminal that comes later is painted with, instead of
//! the output of hours with all that it would do again. Without a scrollback: that stays where it was shown.

use crate::ui::modes::{Modes, Seen};
use crate::ui::terminal::Size;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// No real screen is larger; a program could ask for one, and its cells would fill the memory.
const MOST_CELLS: usize = 1_000_000;
/// The alternate screen with its own cursor.
const ALTERNATE: &[u8] = b"\x1b[?1049h";
/// Out of what a terminal may have been left in: colours, margins, origin, insertion, line drawing.
const PLAIN: &[u8] = b"\x1b[0m\x1b[r\x1b[?6l\x1b[?7h\x1b[4l\x0f\x1b(B\x1b)B";

/// The screen. `vt100` keeps the cells; [`Modes`] what it does not know of.
pub(crate) struct Model {
    parser: vt100::Parser,
    modes: Modes,
    size: Size,
    /// The main screen, while the alternate one is shown.
    main: Option<Vec<u8>>,
    /// The last character that was printed, for the order to repeat it.
    last: Vec<u8>,
}

impl Model {
    /// An empty screen; `None` when the size is no real screen's.
    pub(crate) fn new(size: Size) -> Option<Self> {
        fits(size).then(|| Self {
            parser: parser(size),
            modes: Modes::default(),
            size,
            main: None,
            last: Vec::new(),
        })
    }

    /// Takes output, however it is split.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let (mut start, mut at) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            let letters = if self.modes.draws_lines() { 0 } else { self.modes.letters(&bytes[at..]) };
            if letters > 0 {
                at += letters;
                self.last = vec![bytes[at - 1]];
                continue;
            }
            let was_alternate = self.modes.is_alternate();
            match self.modes.step(byte) {
                Seen::Text if byte < 0x80 && self.modes.draws_lines() => {
                    self.print(&bytes[start..at]);
                    self.last = line_drawing(byte).to_string().into_bytes();
                    self.print(&self.last.clone());
                    start = at + 1;
                }
                Seen::Text if matches!(byte, 0x80..=0xbf) => self.last.push(byte),
                Seen::Text => self.last = vec![byte],
                Seen::Repeat(count) => {
                    self.print(&bytes[start..=at]);
                    let most = usize::from(self.size.rows) * usize::from(self.size.cols);
                    self.print(&self.last.repeat(usize::from(count).min(most)));
                    start = at + 1;
                }
                Seen::Other if was_alternate != self.modes.is_alternate() => {
                    self.print(&bytes[start..at]);
                    start = at;
                    self.main = (!was_alternate).then(|| self.parser.screen().contents_formatted());
                }
                Seen::Other => {}
            }
            at += 1;
        }
        self.print(&bytes[start..]);
    }

    /// What the library cannot take is not shown; it must not take the supervisor with it.
    fn print(&mut self, bytes: &[u8]) {
        if catch_unwind(AssertUnwindSafe(|| self.parser.process(bytes))).is_err() {
            self.parser = parser(self.size);
        }
    }

    /// The terminal has another size. The row of the cursor stays on the screen. False: no real screen has that size.
    pub(crate) fn resize(&mut self, size: Size) -> bool {
        if !fits(size) {
            return false;
        }
        let below = self.parser.screen().cursor_position().0.saturating_sub(size.rows.saturating_sub(1));
        if below > 0
            && self.modes.is_in_text()
            && !self.modes.is_alternate()
            && self.modes.margins().is_none()
        {
            self.print(format!("\x1b[{below}S\x1b[{below}A").as_bytes());
        }
        self.size = size;
        let screen = self.parser.screen_mut();
        if catch_unwind(AssertUnwindSafe(|| screen.set_size(size.rows, size.cols))).is_err() {
            self.parser = parser(size);
        }
        true
    }

    /// Whether a program has the whole screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.modes.is_alternate()
    }

    /// Bytes that bring a terminal of this size to the same screen, cursor, title and modes.
    pub(crate) fn paint(&self) -> Vec<u8> {
        let screen = self.parser.screen();
        let mut out = PLAIN.to_vec();
        if screen.alternate_screen() {
            out.extend(self.main.as_deref().unwrap_or_default());
            out.extend(ALTERNATE);
        }
        out.extend(screen.contents_formatted());
        let (row, column) = screen.cursor_position();
        out.extend(self.modes.dress(row, column));
        out.extend(self.modes.keys());
        out
    }
}

fn fits(size: Size) -> bool {
    (1..=MOST_CELLS).contains(&(usize::from(size.rows) * usize::from(size.cols)))
}

fn parser(size: Size) -> vt100::Parser {
    vt100::Parser::new(size.rows, size.cols, 0)
}

/// DEC's special graphics, which stand for letters while that set is chosen.
fn line_drawing(byte: u8) -> char {
    const FROM: u8 = 0x5f;
    const SIGNS: [char; 32] = [
        ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼',
        '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
    ];
    byte.checked_sub(FROM).and_then(|at| SIGNS.get(usize::from(at)).copied()).unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_terminal::Terminal;
    use proptest::prelude::*;

    const SIZE: Size = Size { rows: 6, cols: 20 };

    fn model(output: &str) -> Model {
        let mut model = Model::new(SIZE).unwrap();
        // One byte at a time: no split may matter.
        output.bytes().for_each(|byte| model.feed(&[byte]));
        model
    }

    /// What a terminal shows that has seen all of it, and one that was painted: text, cursor, and a few modes.
    fn seen(output: &[u8]) -> (String, (u16, u16), [bool; 5]) {
        let mut terminal = Terminal::new(SIZE.rows, SIZE.cols, 0);
        terminal.process(output);
        let screen = terminal.screen();
        let modes = [
            screen.alternate_screen(),
            screen.application_cursor(),
            screen.bracketed_paste(),
            screen.hide_cursor(),
            screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
        ];
        (screen.contents(), screen.cursor_position(), modes)
    }

    #[test]
    fn a_painted_terminal_shows_what_one_shows_that_has_seen_all() {
        for output in [
            "$ ls\r\n\x1b[1;34mdir\x1b[0m  file\r\n$ ",
            "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight",
            "aaaaaaaaaaaaaaaaaaaabbb",
            "aaaaaaaaaaaaaaaaaaaa",
            "\x1b[2;5r\x1b[5;1Hx\r\ny\r\nz",
            "main\x1b[?1049h\x1b[H\x1b[2J\x1b[?1h\x1b[?1000;1006h\x1b[?2004h\x1b[?25lfull\x1b[3;4Hscreen",
            "ä字🦀e\u{301}\x1b[4;7Hx\x1b[7mrev",
        ] {
            let painted = model(output).paint();
            assert_eq!(seen(&painted), seen(output.as_bytes()), "{output:?}");
            // A terminal that shows other things already.
            let mut used = b"rest of before\r\n\x1b[31m\x1b[3;4r".to_vec();
            used.extend(&painted);
            assert_eq!(seen(&used), seen(output.as_bytes()), "{output:?}");
        }
    }

    #[test]
    fn the_main_screen_comes_back_when_the_program_leaves_the_alternate_one() {
        let mut painted = model("$ vi\r\nmore\x1b[?1049h\x1b[Hfull").paint();
        painted.extend(b"\x1b[?1049l");
        assert_eq!(seen(&painted), seen(b"$ vi\r\nmore"));
    }

    #[test]
    fn margins_title_keys_and_the_cursor_s_shape_come_back_and_nothing_acts() {
        let output = "\x1b]2;a title\x07\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[>1u\x1b[>4;2m\x1b[?7l\x1b[4h\x1b[5 q\x1b=\
                      \x1b]52;c;eA==\x07\x07\x1b[6n\x1b[c\x1b]11;?\x07\x1b]9;note\x07";
        let painted = String::from_utf8(model(output).paint()).unwrap();
        for order in [
            "\x1b]2;a title\x1b\\",
            "\x1b[2;4r",
            "\x1b[?6h\x1b[2;3H",
            "\x1b[>1u",
            "\x1b[>4;2m",
            "\x1b[?7l",
            "\x1b[4h",
            "\x1b[5 q",
            "\x1b=",
        ] {
            assert!(painted.contains(order), "{order:?} is not in {painted:?}");
        }
        for acting in ["]52", "\x07", "[6n", "[c", "]11", "]9", "note"] {
            assert!(!painted.contains(acting), "{acting:?} is in {painted:?}");
        }
    }

    #[test]
    fn lines_are_drawn_and_repeated_as_terminals_do() {
        let drawn = seen(&model("\x1b(0lqk\x1b(B q\x0e\x1b)0x\x0fx\r\n-\x1b[4b=\x1b[b").paint()).0;
        assert_eq!(drawn, "┌─┐ q│x\n-----==");
        assert!(seen(&model("ä\x1b[65535b").paint()).0.starts_with("ää"));
    }

    #[test]
    fn a_smaller_screen_keeps_the_row_of_the_cursor() {
        let mut model = model("1\r\n2\r\n3\r\n4\r\n5\r\n$ ");
        assert!(model.resize(Size { rows: 3, cols: 10 }));
        assert_eq!(model.parser.screen().contents(), "4\n5\n$ ");
        assert_eq!(model.parser.screen().cursor_position(), (2, 2));
        model.feed(b"ls\r\nfile");
        assert_eq!(model.parser.screen().contents(), "5\n$ ls\nfile");
    }

    #[test]
    fn a_screen_that_is_nobody_s_is_not_kept() {
        let huge = Size { rows: 65_535, cols: 65_535 };
        assert!(Model::new(huge).is_none() && !model("x").resize(huge));
    }

    proptest! {
        #[test]
        fn no_output_ends_the_model(
            parts in proptest::collection::vec(
                prop_oneof![
                    "\x1b\\[[0-9;]{0,6}[A-Za-z]", "\x1b\\[\\?(6|7|25|47|1047|1049|2004)[hl]", "[a-z字🦀ä\r\n\t\x08]{0,30}",
                    "\x1b[78cDEHMZ()0B]",
                ], 0..40),
            rows in 1u16..8, cols in 1u16..8,
        ) {
            let mut model = Model::new(Size { rows, cols }).unwrap();
            for part in &parts {
                model.feed(part.as_bytes());
            }
            let _kept = model.resize(Size { rows: cols, cols: rows });
            model.feed(parts.concat().as_bytes());
            let _painted = model.paint();
        }
    }
}
