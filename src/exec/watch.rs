//! Waits for a program, at most for as long as it may take.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// What ends a program before its own end.
pub(super) struct Bounds {
    pub(super) started: Instant,
    pub(super) limit: Option<Duration>,
    pub(super) stop: Option<Arc<AtomicBool>>,
}

/// Why it was ended.
pub(super) enum Cut {
    TimedOut(Duration),
    Stopped,
}

impl Bounds {
    /// How often a raised flag is looked for.
    const LOOK: Duration = Duration::from_millis(50);

    /// The time that may be waited before looking again.
    fn left(&self) -> Result<Duration, Cut> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Cut::Stopped);
        }
        let left = match self.limit {
            Some(limit) => limit.checked_sub(self.started.elapsed()).ok_or(Cut::TimedOut(limit))?,
            None => Duration::from_secs(3600),
        };
        Ok(if self.stop.is_some() { left.min(Self::LOOK) } else { left })
    }
}

/// Waits until both streams are at their end and the child is gone, or until the bounds say stop.
pub(super) fn wait(child: &mut Child, finished: &mpsc::Receiver<()>, bounds: &Bounds) -> Result<(), Cut> {
    while let Ok(()) | Err(mpsc::RecvTimeoutError::Timeout) = finished.recv_timeout(bounds.left()?) {}
    if bounds.limit.is_none() && bounds.stop.is_none() {
        return Ok(());
    }
    // The streams are closed; the exit follows at once unless the program closed them early.
    let mut pause = Duration::from_micros(100);
    while let Ok(None) = child.try_wait() {
        bounds.left()?;
        std::thread::sleep(pause);
        pause = (pause * 2).min(Bounds::LOOK);
    }
    Ok(())
}

/// Kills a program that leads its group, and all that it has started.
pub(super) fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _already_gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}
