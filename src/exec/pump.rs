//! Reads a program's stream to its end.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

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
