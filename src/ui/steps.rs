//! Numbered steps with their times, as `try` and `start` show them.

use super::terminal::columns;
use super::wrap::wrap;
use super::{line, raw, seconds};
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr;

/// The widest column of what a step did.
const WIDEST: usize = 52;
/// The column of the time, with the blanks before it.
const TIME: usize = 9;

/// Prints `  1/5  create    sb-…   2.1 s`, a line a step, when the step is done.
pub(crate) struct Steps {
    total: usize,
    done: usize,
    width: usize,
    began: Instant,
    step_began: Instant,
    /// What stands before the progress of the step under way.
    head: String,
    /// The line of the step under way is on the screen, and the cursor in it.
    live: bool,
}

impl Steps {
    /// `names` are all steps in order; their number and widest name fix the layout.
    pub(crate) fn new(names: &[&str]) -> Self {
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let now = Instant::now();
        let head = "  ".to_owned();
        Self { total: names.len(), done: 0, width, began: now, step_began: now, head, live: false }
    }

    /// Starts the clock of the next step, and shows a terminal that it is under way.
    pub(crate) fn begin(&mut self, name: &str) {
        self.step_began = Instant::now();
        self.head = self.head(self.done + 1, name);
        self.progress("…");
    }

    /// How far the step under way has come; stays on the screen until there is more to say.
    pub(crate) fn progress(&mut self, text: &str) {
        let Some(columns) = columns() else { return };
        // The last column stays free: there some terminals begin the next line.
        let shown: String = format!("{}{text}", self.head).chars().take(columns.saturating_sub(1)).collect();
        let _closed = raw(format!("\r\x1b[K{shown}").as_bytes());
        self.live = true;
    }

    /// Other output follows: the line of the step that is under way stays above it.
    pub(crate) fn interrupt(&mut self) {
        if std::mem::take(&mut self.live) {
            line("");
        }
    }

    fn head(&self, step: usize, name: &str) -> String {
        format!("  {step}/{}  {name:width$}  ", self.total, width = self.width)
    }

    /// Reports the current step as done and starts the clock of the next one.
    pub(crate) fn done(&mut self, name: &str, what: &str) {
        self.done += 1;
        if std::mem::take(&mut self.live) {
            let _closed = raw(b"\r\x1b[K");
        }
        let head = self.head(self.done, name);
        line(laid_out(&head, what, &seconds(self.step_began.elapsed()), columns()));
        self.step_began = Instant::now();
    }

    /// Time since the first step began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// A step's line, or its lines in a narrow pane: what it did stays in its column, and the time at the right.
fn laid_out(head: &str, what: &str, time: &str, columns: Option<usize>) -> String {
    let indent = head.width();
    let most = columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent + TIME));
    let column = most.min(WIDEST);
    // Not padded by the formatter, which counts characters and not cells.
    let pad = |text: &str| " ".repeat(column.saturating_sub(text.width()));
    if what.width() <= most {
        return format!("{head}{what}{} {time}", pad(what));
    }
    let room = columns.unwrap_or(WIDEST).saturating_sub(indent).max(1);
    let wrapped = wrap(what, room);
    let mut lines: Vec<String> = wrapped.lines().map(|line| line.trim_start().to_owned()).collect();
    match lines.last_mut() {
        Some(last) if last.width() <= column => *last = format!("{last}{} {time}", pad(last)),
        _ => lines.push(format!("{} {time}", pad(""))),
    }
    format!("{head}{}", lines.join(&format!("\n{}", " ".repeat(indent))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line_where_it_fits() {
        let shown = laid_out("  1/5  create   ", "sb-1", "2.1 s", None);
        assert_eq!(shown, format!("  1/5  create   sb-1{} 2.1 s", " ".repeat(48)));
        assert_eq!(laid_out("  1/5  create   ", "sb-1", "2.1 s", Some(40)).width(), 16 + 15 + 6);
        let wide = "x".repeat(60);
        assert_eq!(laid_out("  1/5  create   ", &wide, "2.1 s", Some(120)).width(), 16 + 60 + 6);
    }

    #[test]
    fn a_narrow_step_keeps_its_column_and_its_time_at_the_right() {
        let what = "1,204 files, 8.3 MB   12 stayed home (herdr upload --dry-run)";
        let shown = laid_out("  2/5  upload   ", what, "1.4 s", Some(40));
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[0], "  2/5  upload   1,204 files, 8.3 MB   12");
        assert!(lines[1..].iter().all(|line| line.starts_with(&" ".repeat(16))), "{shown}");
        assert!(lines.iter().all(|line| line.width() <= 40) && shown.ends_with(" 1.4 s"), "{shown}");
    }
}
