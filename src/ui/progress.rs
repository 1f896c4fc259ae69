//! A bar on stderr for what takes longer than a second, while a person watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// What is faster than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress over a number of files, or over the bytes of one. The bar disappears when this is dropped.
pub(crate) struct Progress {
    total: Option<u64>,
    template: &'static str,
    began: Instant,
    watched: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing is done yet, and nothing is shown yet.
    pub(crate) fn new(total: u64) -> Self {
        Self::with(Some(total), "  {bar:30} {pos}/{len} files  {msg}")
    }

    /// Progress over the bytes of a download, whose size may be unknown.
    pub(crate) fn bytes(total: Option<u64>) -> Self {
        Self::with(total, if total.is_some() { "  {bar:30} {msg}" } else { "  {msg}" })
    }

    fn with(total: Option<u64>, template: &'static str) -> Self {
        Self { total, template, began: Instant::now(), watched: std::io::stderr().is_terminal(), bar: None }
    }

    /// So many files are done, which held so many bytes.
    pub(crate) fn at(&mut self, done: u64, bytes: u64) {
        if !self.watched || self.began.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template(self.template).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr())
                .with_style(style.progress_chars("=> "))
        });
        bar.set_position(done);
        bar.set_message(super::bytes(bytes));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
