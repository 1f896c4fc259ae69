//! The bytes that bring a terminal into modes and out of them again.

use super::state::{Modes, OFTEN_ON, PRIVATE};

/// Out of what swallows or prints everything.
const LANGUAGE: [&str; 3] = [
    "\x18",    // CAN: a string or sequence that was never ended
    "\x1b<",   // DECANM: out of the VT52's language
    "\x1b[4i", // MC: the printer
];
/// Back to what a keyboard sends and a line feed does.
const TYPING: [&str; 6] = [
    "\x1b[?2026l", // output is shown as it comes
    "\x1b[2l",     // KAM: the keyboard is not locked
    "\x1b[4l",     // IRM: letters replace
    "\x1b[12h",    // SRM: the terminal echoes nothing by itself
    "\x1b[20l",    // LNM: a line feed is no new line
    "\x1b>",       // DECKPNM: the keypad sends digits
];
/// Back to letters.
const PRINTING: [&str; 7] = [
    "\x0f",           // SI: the set G0 is in use
    "\x1b(B",         // G0 is ASCII
    "\x1b)B",         // G1
    "\x1b*B",         // G2
    "\x1b+B",         // G3
    "\x1b]8;;\x1b\\", // a link that was left open
    "\x1b[0 q",       // DECSCUSR: the cursor's own shape
];
/// Back to plain, wrapped text with a cursor.
const SHOWING: [&str; 3] = [
    "\x1b[0m",   // SGR: no colours
    "\x1b[?7h",  // DECAWM: lines wrap
    "\x1b[?25h", // DECTCEM: the cursor is shown
];

impl Modes {
    /// What a program may have set of whose output nothing is known: leaving these also leaves keys that were
    /// reported in another way, and the alternate screen, from which the cursor of a plain shell stays where it is.
    pub(crate) fn unknown() -> Self {
        Self {
            alternate: Some(1049),
            guessed: true,
            special_keys: true,
            kitty: vec![0],
            marked: true,
            ..Self::default()
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
        for mode in &self.set {
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
        let mut text = LANGUAGE.concat();
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
            // Each screen has a saved cursor of its own, too: on the main one, it is the place to come back to.
            text.push_str(if self.guessed { "\x1b7" } else { "" });
            text.push_str(&format!("\x1b[?{mode}l{keys}"));
        }
        // DECSTR: the soft reset, where a terminal has one.
        text.push_str("\x1b[!p");
        for mode in PRIVATE.into_iter().filter(|mode| *mode != OFTEN_ON || self.set.contains(mode)) {
            text.push_str(&format!("\x1b[?{mode}l"));
        }
        text.push_str(&TYPING.concat());
        // Margins and origin: both take the cursor home, so it is put back.
        text.push_str(match self.origin {
            true => "\x1b[?69l\x1b[r\x1b[?6l\x1b[999;1H",
            false => "\x1b7\x1b[?6l\x1b[?69l\x1b[r\x1b8",
        });
        text.push_str(&PRINTING.concat());
        if self.colours {
            // Palette, special colours, text, background, cursor.
            for number in [104, 105, 110, 111, 112] {
                text.push_str(&format!("\x1b]{number}\x1b\\"));
            }
        }
        text.push_str(&SHOWING.concat());
        text.into_bytes()
    }
}
