//! Numbered steps with their times, as `try` and `start` show them.

use super::{line, seconds};
use std::time::{Duration, Instant};

/// The widest column of what a step did.
const WIDEST: usize = 52;

/// The terminal's width; `None` when stdout is none.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Prints `  1/5  create    sb-…   2.1 s`, a line a step, when the step is done.
pub(crate) struct Steps {
    total: usize,
    done: usize,
    width: usize,
    began: Instant,
    step_began: Instant,
}

impl Steps {
    /// `names` are all steps in order; their number and widest name fix the layout.
    pub(crate) fn new(names: &[&str]) -> Self {
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let now = Instant::now();
        Self { total: names.len(), done: 0, width, began: now, step_began: now }
    }

    /// Reports the current step as done and starts the clock of the next one.
    pub(crate) fn done(&mut self, name: &str, what: &str) {
        self.done += 1;
        let (total, done, width) = (self.total, self.done, self.width);
        let time = seconds(self.step_began.elapsed());
        // In a narrow pane the time moves closer, so that a step stays one line.
        let column = columns().map_or(WIDEST, |columns| columns.saturating_sub(width + 17).min(WIDEST));
        line(format!("  {done}/{total}  {name:width$}  {what:<column$} {time}"));
        self.step_began = Instant::now();
    }

    /// Time since the first step began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}
