//! HUP, TERM and INT while a box is made: the pane is being closed, half a second is left.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Raised by the first of the signals; calls that watch the flag end within a moment.
pub(crate) struct Stop {
    raised: Arc<AtomicBool>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Stop {
    /// Watches from now on. `at_once` runs in the watching thread when the first signal comes.
    pub(crate) fn watch(at_once: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGTERM, SIGINT])
            .map_err(|source| Error::failed(format!("signals cannot be watched: {source}")))?;
        let handle = signals.handle();
        let raised = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&raised);
        let thread = std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                flag.store(true, Ordering::SeqCst);
                // Nobody reads our screen any more; the record says what is left to do.
                if let Err(error) = at_once() {
                    crate::ui::report(&error);
                }
            }
        });
        Ok(Self { raised, handle, thread: Some(thread) })
    }

    pub(crate) fn raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.raised() { Err(Error::failed("the pane was closed")) } else { Ok(()) }
    }

    /// Waits for so long.
    ///
    /// # Errors
    /// The pane was closed.
    pub(crate) fn wait(&self, limit: Duration) -> Result<()> {
        let began = Instant::now();
        while let Some(left) = limit.checked_sub(began.elapsed()).filter(|_| !self.raised()) {
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
        self.check()
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.raised)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}
