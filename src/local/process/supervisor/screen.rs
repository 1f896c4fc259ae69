//! The terminal of a process: its size, and who has it, and hears signals there.

use super::Supervisor;
use crate::local::boxes::record::ForegroundProgram;
use crate::local::wire::spec::Command;
use crate::ui::terminal::Size;
use rustix::termios::Winsize;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Between the two sizes of a nudge.
const NUDGE: Duration = Duration::from_millis(80);

/// Sends a signal to the foreground of a terminal, through its master. The type of a request differs between the C
/// libraries.
const TIOCSIG: libc::Ioctl = 0x4004_5436;

impl Supervisor {
    /// A program does not repaint for a size that it has already, so the size changes for a moment.
    pub(crate) fn resize(&mut self, size: Size) {
        if self.size == Some(size) {
            let rows = if size.rows > 1 { size.rows - 1 } else { 2 };
            self.set_size(Size { rows, ..size });
            self.nudge = Some(Instant::now() + NUDGE);
        } else {
            self.size = Some(size);
            self.nudge = None;
            self.model = self.model.take().and_then(|mut model| model.resize(size).then_some(model));
            self.apply_size();
        }
    }

    pub(crate) fn apply_size(&mut self) {
        if let Some(size) = self.size {
            self.set_size(size);
        }
    }

    fn set_size(&self, size: Size) {
        if let (true, Some((_, master))) = (self.record.pty, self.sources.first()) {
            let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
            let _ended = rustix::termios::tcsetwinsize(master, size);
        }
    }

    /// Sends a signal to what has the terminal, as its key would, whatever mode it is in; without a terminal to the
    /// program's group.
    pub(crate) fn signal(&mut self, signal: i32) {
        match self.sources.first().filter(|_| self.record.pty) {
            Some((_, master)) => {
                // SAFETY: TIOCSIG takes a number and keeps nothing; the master is open for as long as `self` has it.
                // Through the terminal and not by a process id, which another process may have by then.
                let _ended = unsafe { libc::ioctl(master.as_raw_fd(), TIOCSIG, signal) };
            }
            None => drop(self.entry.send(&Command::Signal(signal))),
        }
    }

    /// The program that has the terminal, with its number in the box.
    pub(crate) fn foreground(&self) -> Option<ForegroundProgram> {
        let (_, master) = self.sources.first().filter(|_| self.record.pty)?;
        let group = rustix::termios::tcgetpgrp(master).ok()?.as_raw_nonzero();
        let cmd = std::fs::read(format!("/proc/{group}/comm")).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{group}/status")).ok()?;
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        Some(ForegroundProgram {
            pid: inner.split_whitespace().last()?.parse().ok()?,
            cmd: String::from_utf8_lossy(&cmd).trim_end().to_owned(),
        })
    }
}
