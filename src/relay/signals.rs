//! Signals that come while a terminal is not as it was.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Signals after which the terminal must still be given back.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Those that would end us, a new size, and others that were asked for: each wakes who polls.
pub(crate) struct Signals {
    pipe: UnixStream,
    /// Kept where no signal is caught, too: a pipe whose writers are gone is ready for ever.
    _wake: UnixStream,
    ending: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches none.
    ///
    /// # Errors
    /// There are no descriptors left.
    pub(crate) fn none() -> io::Result<Self> {
        let (pipe, wake) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        Ok(Self { pipe, _wake: wake, ending: Arc::default() })
    }

    /// Catches them from now on.
    ///
    /// # Errors
    /// A handler cannot be set.
    pub(crate) fn catch(more: &[i32]) -> io::Result<Self> {
        let signals = Self::none()?;
        for signal in ENDING {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&signals.ending), number)?;
        }
        for signal in ENDING.iter().chain(&[SIGWINCH]).chain(more) {
            signal_hook::low_level::pipe::register(*signal, signals._wake.try_clone()?)?;
        }
        Ok(signals)
    }

    /// Forgets what has woken us.
    pub(crate) fn take(&self) {
        while (&self.pipe).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }

    /// The last one that would have ended us.
    pub(crate) fn ending(&self) -> Option<u8> {
        u8::try_from(self.ending.load(Ordering::SeqCst)).ok().filter(|signal| *signal > 0)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
