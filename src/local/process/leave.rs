//! Taking this terminal out of the modes of a program of a box, on every way out.

use crate::ui::modes::Modes;
use crate::ui::terminal::Raw;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Takes the terminal out of the program's modes and gives it back.
pub(super) fn leave(raw: Raw, modes: &Modes) {
    let _terminal_gone = crate::ui::raw(&modes.leave());
    discard(if modes.awaits_answer() { ANSWER } else { QUIET });
    drop(raw);
}

/// After output was shown without raw mode: takes the terminal, if it is one, out of its modes.
pub(super) fn leave_what_was_shown(modes: &Modes) {
    if modes.is_plain() || !io::stdout().is_terminal() {
        return;
    }
    match Raw::for_a_program() {
        Ok(raw) => leave(raw, modes),
        Err(_no_terminal_to_type_on) => drop(crate::ui::raw(&modes.leave())),
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
