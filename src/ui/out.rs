//! Bytes to stdout and stderr, all of them: also through a pipe that does not block, as some parents hand to us.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// Writes everything; a pipe that is full is waited for. Nothing may be left in a buffer above.
///
/// # Errors
/// Whatever the write reports, a closed pipe too.
pub(super) fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(to)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn wait(to: BorrowedFd<'_>) -> io::Result<()> {
    match poll(&mut [PollFd::new(&to, PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// One of our two streams as a writer that loses nothing, for output that comes piece by piece.
pub(crate) struct Out<S>(S);

/// stdout, for output that comes piece by piece.
pub(crate) fn stdout() -> Out<io::Stdout> {
    Out(io::stdout())
}

/// stderr, likewise.
#[cfg(target_os = "linux")]
pub(crate) fn stderr() -> Out<io::Stderr> {
    Out(io::stderr())
}

impl<S: AsFd> Write for Out<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_all(self.0.as_fd(), bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_pipe_that_does_not_block_gets_everything() {
        let (mut reader, writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let full = (&writer).write_all(&bytes).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock, "the pipe is one that bites");
        let read = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all)
        });
        write_all(writer.as_fd(), &bytes).unwrap();
        drop(writer);
        let all = read.join().unwrap().unwrap();
        assert!(all.ends_with(&bytes) && all.len() < 2 * bytes.len());
    }
}
