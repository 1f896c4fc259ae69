//! The pane's terminal: its size, raw keys, and a clean state after a program that left a mess.

use crate::error::{IoContext, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// What every full-screen program may have switched on, switched off: mouse, focus and paste reports,
/// cursor and keypad keys, kitty's keyboard, the alternate screen, a hidden cursor, margins, colours.
/// Leaving the alternate screen and resetting the margins move the cursor: it is saved before each
/// (every screen has its own saved cursor), and stays where it was.
const RESTORE: &str = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[<u\
                       \x1b7\x1b[?1049l\x1b7\x1b[r\x1b8\x1b[?7h\x1b[?25h\x1b[0m\r\n";

/// Rows and columns of the pane; 24 by 80 when it is no terminal.
pub(super) fn size() -> (u16, u16) {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => (size.ws_row, size.ws_col),
        _ => (24, 80),
    }
}

/// Brings the terminal back to what a person expects.
pub(super) fn restore(modes: Option<&Termios>) {
    if let Some(modes) = modes {
        let _gone = rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Now, modes);
    }
    if std::io::stdout().is_terminal() {
        let _gone = crate::ui::raw(RESTORE.as_bytes());
    }
}

/// The modes as they are now, for [`restore`].
pub(super) fn modes() -> Option<Termios> {
    rustix::termios::tcgetattr(std::io::stdin()).ok()
}

/// Single keys instead of lines, no echo; back to what it was when dropped.
pub(super) struct Keys {
    before: Termios,
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// Nothing within the time.
    Nothing,
    /// One key, or a burst: a paste, a fast typist, an escape sequence.
    Bytes(Vec<u8>),
    /// The terminal is gone.
    Ended,
}

impl Keys {
    /// Takes the keys over.
    ///
    /// # Errors
    /// stdin is no terminal.
    pub(super) fn take() -> Result<Self> {
        let stdin = std::io::stdin();
        let before = rustix::termios::tcgetattr(&stdin).at("read the modes of", Path::new("the terminal"))?;
        let mut raw = before.clone();
        raw.make_raw();
        // Output keeps its line ends, and HUP and TERM still reach us.
        raw.output_modes = before.output_modes;
        rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &raw)
            .at("set the modes of", Path::new("the terminal"))?;
        Ok(Self { before })
    }

    /// Waits for keys.
    pub(super) fn read(&self, limit: Duration) -> Typed {
        let stdin = std::io::stdin();
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(1),
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Typed::Nothing,
            Ok(_) => {}
            Err(_) => return Typed::Ended,
        }
        let mut buffer = [0; 1024];
        // Not through the standard reader: what it has buffered, poll does not see.
        match rustix::io::read(&stdin, &mut buffer) {
            Err(rustix::io::Errno::INTR) => Typed::Nothing,
            Ok(0) | Err(_) => Typed::Ended,
            Ok(count) => Typed::Bytes(buffer[..count].to_vec()),
        }
    }
}

/// The keys of a burst, as of one that is held down, each with its whole escape sequence.
pub(super) fn single_keys(bytes: &[u8]) -> Vec<&[u8]> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let long = match rest {
            [0x1b, b'[', tail @ ..] => {
                2 + tail.iter().position(|byte| (0x40..0x7f).contains(byte)).map_or(tail.len(), |at| at + 1)
            }
            [0x1b, b'O', _, ..] => 3,
            _ => 1,
        };
        let (key, tail) = rest.split_at(long);
        keys.push(key);
        rest = tail;
    }
    keys
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _gone = rustix::termios::tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_apart_into_its_keys() {
        let keys = single_keys(b"jj\x1b[B\x1b[1;5A\x1bOAk\r\x1b");
        let expected: [&[u8]; 8] = [b"j", b"j", b"\x1b[B", b"\x1b[1;5A", b"\x1bOA", b"k", b"\r", b"\x1b"];
        assert_eq!(keys, expected);
        assert_eq!(single_keys(b"\x1b["), [b"\x1b["]);
    }
}
