//! HUP, TERM and INT while a box is somebody's who waits: little time is left, half a second when a pane is closed, one
//! when an agent's command is ended.

use crate::error::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Raised by the first of the signals; calls that watch the flag end within a moment.
pub(crate) struct Stop {
    raised: Arc<AtomicBool>,
    signal: Arc<AtomicI32>,
    why: &'static str,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Stop {
    /// Watches from now on; `why` is what a signal means. `at_once` runs in the watching thread when the first signal
    /// comes.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub(crate) fn watch(
        why: &'static str,
        at_once: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGTERM, SIGINT])
            .map_err(|source| Error::failed(format!("signals cannot be watched: {source}")))?;
        let handle = signals.handle();
        let (raised, signal) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI32::new(0)));
        let (flag, number) = (Arc::clone(&raised), Arc::clone(&signal));
        let thread = std::thread::spawn(move || {
            if let Some(first) = signals.forever().next() {
                number.store(first, Ordering::SeqCst);
                flag.store(true, Ordering::SeqCst);
                // Nobody may read our screen any more; the record says what is left to do.
                if let Err(error) = at_once() {
                    crate::ui::report(&error);
                }
            }
        });
        Ok(Self { raised, signal, why, handle, thread: Some(thread) })
    }

    pub(crate) fn raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// The signal that came.
    pub(crate) fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// # Errors
    /// A signal came.
    pub(crate) fn check(&self) -> Result<()> {
        if self.raised() { Err(Error::failed(self.why)) } else { Ok(()) }
    }

    /// Waits for so long.
    ///
    /// # Errors
    /// A signal came.
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
