//! What a popup shows: a text with its keys below it, on a screen that may be too small for both.

use super::terminal::{self, Keys, Typed};
use crate::error::Result;
use crate::ui;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthChar;

/// Keys within this time of a popup that opens by itself were meant for the pane below.
const CALM: Duration = Duration::from_millis(500);
/// Added to the keys while not all of the text is on the screen.
const SCROLL: &str = "arrows scroll";
/// The variable that carries a message to its popup.
pub(crate) const MESSAGE: &str = "CREATEOS_SANDBOX_MESSAGE";
/// Longer messages are cut: they travel in one environment variable.
pub(crate) const LONGEST: usize = 6_000;

/// Shows a message until a key is pressed.
pub(crate) fn message() -> Result<()> {
    let text = ui::visible(&std::env::var(MESSAGE).unwrap_or_default());
    Sheet::closable(text).opens_by_itself().ask(|_| Some(())).map(|_| ())
}

/// Shows text until a key is pressed.
pub(crate) fn closed(text: String) -> Result<()> {
    Sheet::closable(text).ask(|_| Some(())).map(|_| ())
}

/// A text and its keys. The text has no control characters: see `ui::visible`.
#[derive(Debug)]
pub(crate) struct Sheet {
    text: String,
    keys: String,
    short: String,
    /// The same while the text scrolls.
    scrolling: String,
    /// The first line of the text that is on the screen.
    top: usize,
    /// The last value of `top` that shows anything new.
    last: usize,
    /// Nobody has asked for it: what is typed at first was meant for something else.
    unasked: bool,
}

impl Sheet {
    /// `keys` is what stands below the text, `short` the same in one line for a screen on which they do not fit.
    pub(crate) fn new(text: impl Into<String>, keys: impl Into<String>, short: impl Into<String>) -> Self {
        let short = short.into();
        let scrolling = format!("{SCROLL}, {short}");
        Self { text: text.into(), keys: keys.into(), short, scrolling, top: 0, last: 0, unasked: false }
    }

    /// A text that any key closes.
    pub(crate) fn closable(text: impl Into<String>) -> Self {
        let scrolling = format!("{SCROLL}, any other key closes this");
        Self { scrolling, ..Self::new(text, "  any key closes this", "any key closes this") }
    }

    /// It takes no key for the first half second, and says so.
    pub(crate) fn opens_by_itself(self) -> Self {
        Self { unasked: true, ..self }
    }

    /// Says that no key counts, for as long as that is so.
    fn waits(&mut self, keys: &Keys) -> bool {
        let began = Instant::now();
        let mut waiting = Self::new(self.text.clone(), "  keys count in a moment", "keys count in a moment");
        loop {
            waiting.draw();
            let left = CALM.saturating_sub(began.elapsed());
            if left.is_zero() {
                return true;
            }
            if keys.read(left) == Typed::Ended {
                return false;
            }
        }
    }

    /// Shows it until `answer` takes a key; what it made of the key. `None`: the terminal is gone.
    pub(crate) fn ask<T>(&mut self, answer: impl Fn(&[u8]) -> Option<T>) -> Result<Option<T>> {
        // Registered so that a change of the size interrupts the wait for keys.
        terminal::wake_at_resize();
        let keys = Keys::take()?;
        if self.unasked && !self.waits(&keys) {
            return Ok(None);
        }
        // What was typed before it could be read is no answer to it.
        keys.discard();
        loop {
            self.draw();
            match keys.read(Duration::from_secs(60)) {
                Typed::Ended => return Ok(None),
                Typed::Bytes(bytes) if !self.scroll(&bytes) => {
                    if let Some(answer) = answer(&bytes) {
                        return Ok(Some(answer));
                    }
                }
                Typed::Bytes(_) | Typed::Nothing => {}
            }
        }
    }

    /// Draws it over what was there.
    pub(crate) fn draw(&mut self) {
        let _closed = ui::raw(self.frame(terminal::size()).as_bytes());
    }

    /// The whole screen. Where not everything fits, blank lines go first and the keys keep the last rows.
    fn frame(&mut self, (rows, columns): (u16, u16)) -> String {
        let (rows, columns) = (usize::from(rows), usize::from(columns).max(8));
        let whole = rows_of(&format!("\n{}\n\n{}", self.text, self.keys), columns);
        if whole.len() <= rows {
            (self.top, self.last) = (0, 0);
            return screen(whole);
        }
        let mut text = rows_of(&self.text, columns);
        text.retain(|row| !row.text.is_empty());
        let short = rows_of(&self.short, columns);
        let room = rows.saturating_sub(short.len()).max(1);
        if text.len() <= room {
            (self.top, self.last) = (0, 0);
            text.resize(room, Row::default());
            return screen(text.into_iter().chain(short));
        }
        let short = rows_of(&self.scrolling, columns);
        let room = rows.saturating_sub(short.len()).max(1);
        self.last = text.len().saturating_sub(room);
        self.top = self.top.min(self.last);
        screen(text.into_iter().skip(self.top).take(room).chain(short).take(rows))
    }

    /// Moves the text if it does not fit and `typed` are keys for that; false for any other key.
    fn scroll(&mut self, typed: &[u8]) -> bool {
        if self.last == 0 {
            return false;
        }
        for key in terminal::single_keys(typed) {
            match key {
                b"\x1b[A" | b"\x1bOA" => self.top = self.top.saturating_sub(1),
                b"\x1b[B" | b"\x1bOB" => self.top = (self.top + 1).min(self.last),
                _ => return false,
            }
        }
        true
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Row {
    text: String,
    /// It is the rest of the row above: a command is never broken, so that it can be copied, and the terminal
    /// itself goes on in the next row.
    goes_on: bool,
}

/// The rows that a text takes on a screen of this width.
fn rows_of(text: &str, columns: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in ui::wrap(text, columns).split('\n') {
        let (mut row, mut width) = (Row::default(), 0);
        for c in line.chars() {
            let cells = c.width().unwrap_or(0);
            if width + cells > columns {
                rows.push(std::mem::replace(&mut row, Row { text: String::new(), goes_on: true }));
                width = 0;
            }
            row.text.push(c);
            width += cells;
        }
        rows.push(row);
    }
    rows
}

/// The screen with these rows.
fn screen(rows: impl IntoIterator<Item = Row>) -> String {
    let mut screen = String::from("\x1b[H\x1b[J");
    for (at, row) in rows.into_iter().enumerate() {
        if at > 0 && !row.goes_on {
            screen.push_str("\r\n");
        }
        screen.push_str(&row.text);
    }
    screen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_terminal::Terminal;

    fn shown(sheet: &mut Sheet, size: (u16, u16)) -> String {
        let mut terminal = Terminal::new(size.0, size.1, 100);
        for _ in 0..2 {
            terminal.process(sheet.frame(size).as_bytes());
        }
        assert_eq!(terminal.lost_rows(), 0, "nothing is pushed out of the screen");
        terminal.screen().contents()
    }

    fn sheet() -> Sheet {
        let text = "A question?\n\n  box        hd-shop-ab3dxyzzy\n  worktree   ~/shop";
        Sheet::new(text, "  y          yes\n  other key   no", "y: yes, other keys: no")
    }

    #[test]
    fn where_there_is_room_everything_stands_apart() {
        assert_eq!(
            shown(&mut sheet(), (12, 60)),
            "\nA question?\n\n  box        hd-shop-ab3dxyzzy\n  worktree   ~/shop\n\n  y          yes\n  other key   no"
        );
    }

    #[test]
    fn a_small_screen_has_the_beginning_and_the_keys_in_its_last_row() {
        for (rows, expected) in [
            (5, "A question?\n  box        hd-shop-ab3dxyzzy\n  worktree   ~/shop\n\ny: yes, other keys: no"),
            (4, "A question?\n  box        hd-shop-ab3dxyzzy\n  worktree   ~/shop\ny: yes, other keys: no"),
            (3, "A question?\n  box        hd-shop-ab3dxyzzy\narrows scroll, y: yes, other keys: no"),
            (2, "A question?\narrows scroll, y: yes, other keys: no"),
            (1, "A question?"),
        ] {
            assert_eq!(shown(&mut sheet(), (rows, 40)), expected, "{rows} rows");
        }
    }

    #[test]
    fn a_long_command_takes_its_rows_and_the_headline_stays() {
        let command = "createos-sandbox setup herdr --egress github.com --egress api.example.com --force";
        let text = format!("start\n\nerror: it could not be reached\nhelp: run: {command}");
        let mut sheet = Sheet::closable(text);
        let seen = shown(&mut sheet, (8, 30));
        let joined: String = seen.lines().collect::<Vec<_>>().concat();
        assert!(seen.starts_with("start\n") && joined.contains(command), "{seen}");
        assert!(seen.ends_with("\nany key closes this"), "no other key is named: {seen}");
        let seen = shown(&mut sheet, (5, 30));
        assert!(seen.starts_with("start\n") && seen.contains("arrows scroll, any other"), "{seen}");
    }

    #[test]
    fn arrows_scroll_what_does_not_fit_and_are_keys_like_others_where_it_does() {
        let mut sheet = sheet();
        let _ = sheet.frame((3, 40));
        for (keys, first) in [
            (&b"\x1b[B"[..], "  box"),
            (b"\x1bOB\x1b[B", "  box"),
            (b"\x1b[A", "A question?"),
            (b"\x1b[A", "A question?"),
        ] {
            assert!(sheet.scroll(keys));
            assert!(shown(&mut sheet, (3, 40)).starts_with(first), "{keys:?}");
        }
        assert!(!sheet.scroll(b"y") && !sheet.scroll(b"\x1b"));
        // Another size keeps the place, as long as there is something to show.
        let _ = sheet.frame((2, 40));
        assert!(sheet.scroll(b"\x1b[B\x1b[B"));
        assert!(shown(&mut sheet, (2, 40)).starts_with("  worktree"));
        assert!(shown(&mut sheet, (3, 40)).starts_with("  box"));
        let _ = sheet.frame((40, 120));
        assert!(!sheet.scroll(b"\x1b[B"), "there is nothing to scroll");
    }
}
