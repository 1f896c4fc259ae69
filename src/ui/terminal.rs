//! The terminal at our own ends: its size, raw mode, and a clean state after a program that left a mess.

use super::modes::Modes;
use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr};
use serde::{Deserialize, Serialize};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

/// Size of a terminal in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) rows: u16,
    pub(crate) cols: u16,
}

/// The size of the terminal at stdout; `None` when there is none, or it does not know.
pub(crate) fn size() -> Option<Size> {
    size_at(io::stdout())
}

/// The same, or of the one at stdin.
#[cfg(target_os = "linux")]
pub(crate) fn size_at_either_end() -> Option<Size> {
    size().or_else(|| size_at(io::stdin()))
}

/// The width of the terminal at stdout, whatever its height.
pub(crate) fn columns() -> Option<usize> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

fn size_at(end: impl AsFd) -> Option<Size> {
    let Winsize { ws_row: rows, ws_col: cols, .. } = tcgetwinsize(end).ok()?;
    (rows > 0 && cols > 0).then_some(Size { rows, cols })
}

/// The terminal at stdin in raw mode, until dropped: single keys instead of lines, no echo.
pub(crate) struct Raw {
    before: Termios,
    back: OptionalActions,
}

impl Raw {
    /// For a program elsewhere that has the whole terminal. What was typed while we were starting is for it; what
    /// the terminal still says to it at the end must not be typed into a shell.
    ///
    /// # Errors
    /// stdin is no terminal.
    pub(crate) fn for_a_program() -> io::Result<Self> {
        Self::set(OptionalActions::Drain, OptionalActions::Flush, |_, _| {})
    }

    /// For keys of our own: output keeps its line ends.
    ///
    /// # Errors
    /// stdin is no terminal.
    pub(crate) fn for_keys() -> io::Result<Self> {
        Self::set(OptionalActions::Now, OptionalActions::Now, |raw, before| {
            raw.output_modes = before.output_modes;
        })
    }

    fn set(
        when: OptionalActions,
        back: OptionalActions,
        but: impl FnOnce(&mut Termios, &Termios),
    ) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        but(&mut raw, &before);
        tcsetattr(io::stdin(), when, &raw)?;
        Ok(Self { before, back })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _terminal_gone = tcsetattr(io::stdin(), self.back, &self.before);
    }
}

/// How lines are read and shown now, for [`restore`].
pub(crate) fn line_modes() -> Option<Termios> {
    tcgetattr(io::stdin()).ok()
}

/// Brings the terminal back to what a person expects, after a program whose output we have not followed. What an
/// inline screen has below it is erased: the next words would stand between its lines.
pub(crate) fn restore(modes: Option<&Termios>) {
    if let Some(modes) = modes {
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, modes);
    }
    if io::stdout().is_terminal() {
        let _gone = super::raw(&[&Modes::unknown().leave()[..], b"\x1b[J\r\n"].concat());
    }
}

/// How wide the first line of the official attach is at most, in columns.
const FIRST_LINE: usize = 80;

/// Moves what is shown up, if it must be, so that the cursor is not on the last rows. The official CLI makes all but
/// the last row its scroll region and leaves the cursor where it is (docs/measured/createos-cli.md 3.8): from the
/// last row on nothing would scroll, and its footer would hide every line of the program. Its own first line comes
/// before that, and may begin behind what somebody has typed.
pub(crate) fn make_room() {
    if let Some(columns) = columns() {
        let rows = FIRST_LINE.div_ceil(columns) + 2;
        let _gone = super::raw(format!("{}\x1b[{rows}A", "\n".repeat(rows)).as_bytes());
    }
}
