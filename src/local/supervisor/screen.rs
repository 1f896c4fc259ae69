//! The terminal of a process: its size, and who has it.

use super::Supervisor;
use crate::local::record::Foreground;
use crate::local::spec::Size;
use rustix::termios::Winsize;
use std::time::{Duration, Instant};

/// Between the two sizes of a nudge.
const NUDGE: Duration = Duration::from_millis(80);

impl Supervisor {
    /// A size that is the same already makes nobody repaint: then it changes for a moment.
    pub(super) fn resize(&mut self, size: Size) {
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

    pub(super) fn apply_size(&mut self) {
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

    /// The program that has the terminal, with its number in the box.
    pub(super) fn foreground(&self) -> Option<Foreground> {
        let (_, master) = self.sources.first().filter(|_| self.record.pty)?;
        let group = rustix::termios::tcgetpgrp(master).ok()?.as_raw_nonzero();
        let cmd = std::fs::read(format!("/proc/{group}/comm")).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{group}/status")).ok()?;
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        Some(Foreground {
            pid: inner.split_whitespace().last()?.parse().ok()?,
            cmd: String::from_utf8_lossy(&cmd).trim_end().to_owned(),
        })
    }
}
