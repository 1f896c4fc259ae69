//! Waits for a program, at most for as long as it may take, and reads its streams to their end.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Read;
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

/// How much of each captured stream is kept; the rest is read and dropped.
const CAPTURE_LIMIT: usize = 64 * 1024 * 1024;

/// Keeps what comes.
pub(super) fn capture(stream: File, abandoned: &AtomicBool) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    pump(stream, abandoned, &mut |bytes| {
        let room = CAPTURE_LIMIT - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    })?;
    Ok(kept)
}

/// Passes on what comes. Once it is `abandoned`, the stream may never be closed and is not waited for.
pub(super) fn pump(
    mut stream: File,
    abandoned: &AtomicBool,
    sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let look = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let ready = poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&look));
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) if abandoned.load(Ordering::Relaxed) => return Ok(()),
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(source) => return Err(source.into()),
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => sink(&buffer[..count])?,
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => return Err(source),
        }
    }
}
