//! This terminal while it shows a program of a box: raw, and as it was before on every way out.

use super::modes::Modes;
use crate::local::wire::spec::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Raw mode, until dropped.
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
    /// Turns it on for the terminal at stdin.
    pub(crate) fn on() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // Not `Flush`: what was typed while we were starting is for the program.
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self { before })
    }

    /// Takes the terminal out of the program's modes and gives it back.
    pub(crate) fn off(self, modes: &Modes) {
        let mut out = io::stdout().lock();
        let _terminal_gone = out.write_all(&modes.leave()).and_then(|()| out.flush());
        drop(out);
        discard(if modes.awaits_answer() { ANSWER } else { QUIET });
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // `Flush`: what the terminal still says to the program must not be typed into a shell.
        let _terminal_gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &self.before);
    }
}

/// How long a terminal may take to answer a query.
const ANSWER: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// Nothing for so long is the end of what a terminal had to say.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Reads input away until it is quiet: first for so long, at most for a second.
fn discard(mut patience: Timespec) {
    let started = Instant::now();
    let mut buffer = [0; 4096];
    while started.elapsed() < Duration::from_secs(1) {
        let stdin = rustix::stdio::stdin();
        if !matches!(poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&patience)), Ok(1..))
            || !matches!(rustix::io::read(stdin, &mut buffer), Ok(1..))
        {
            return;
        }
        patience = QUIET;
    }
}

/// After output was shown without raw mode: takes the terminal, if it is one, out of its modes.
pub(crate) fn restore(modes: &Modes) {
    if modes.is_plain() || !io::stdout().is_terminal() {
        return;
    }
    if io::stdin().is_terminal()
        && let Ok(raw) = Raw::on()
    {
        return raw.off(modes);
    }
    let mut out = io::stdout().lock();
    let _terminal_gone = out.write_all(&modes.leave()).and_then(|()| out.flush());
}

/// The size of the terminal at stdout, or at stdin.
pub(crate) fn size() -> Option<Size> {
    let size =
        tcgetwinsize(rustix::stdio::stdout()).or_else(|_| tcgetwinsize(rustix::stdio::stdin())).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some(Size { rows: size.ws_row, cols: size.ws_col })
}
