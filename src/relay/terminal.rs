//! The program's terminal, which follows the pane's.

use crate::exec::Run;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::process::Child;

/// How often old output is looked at when nothing comes.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Starts a program on a terminal of its own, with the modes and the size of the pane's. Its other end, which
/// never blocks.
pub(super) fn start(run: Run<'_>) -> std::io::Result<(File, Child)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let master = rustix::pty::openpt(flags)?;
    #[cfg(not(target_os = "linux"))]
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let name = rustix::pty::ptsname(&master, Vec::new())?;
    let slave = rustix::fs::open(
        name.as_c_str(),
        rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?;
    tcsetattr(&slave, OptionalActions::Now, &tcgetattr(rustix::stdio::stdin())?)?;
    let master = File::from(master);
    follow_size(&master);
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok((master, run.start_on_terminal(slave)?))
}

/// Gives the program's terminal the size of the pane's; its kernel tells it of a new one.
pub(super) fn follow_size(master: &File) {
    if let Ok(size) = tcgetwinsize(rustix::stdio::stdout())
        && size.ws_row > 0
        && size.ws_col > 0
        && tcgetwinsize(master).is_ok_and(|has| {
            (has.ws_row, has.ws_col, has.ws_xpixel, has.ws_ypixel)
                != (size.ws_row, size.ws_col, size.ws_xpixel, size.ws_ypixel)
        })
    {
        let _ended = tcsetwinsize(master, size);
    }
}

/// Waits for output and takes all that is there; `None` at its end. With `look` it comes back with nothing after
/// a moment.
pub(super) fn read(master: &mut File, buffer: &mut [u8], look: bool) -> Option<usize> {
    loop {
        match poll(&mut [PollFd::new(&*master, PollFlags::IN)], look.then_some(&LOOK)) {
            Ok(0) if look => return Some(0),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        let mut count = 0;
        let ended = loop {
            match master.read(&mut buffer[count..]) {
                Ok(0) => break count < buffer.len(),
                Ok(more) => count += more,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // EIO is how a terminal ends.
                Err(_) => break true,
            }
        };
        if count > 0 {
            return Some(count);
        }
        if ended {
            return None;
        }
    }
}

/// What a program does not read is kept up to here; then the pane's terminal keeps it.
const MOST: usize = 1024 * 1024;

/// Typed bytes that the program has not taken yet.
#[derive(Default)]
pub(super) struct Keys {
    waiting: VecDeque<u8>,
    gone: bool,
}

impl Keys {
    /// Whether more may be taken.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < MOST
    }

    /// Whether something waits for the program.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the pane's terminal is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Takes what was typed. Not through the standard reader: what it has buffered, poll does not see.
    pub(super) fn take(&mut self) {
        let mut buffer = [0; 4096];
        match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
            Ok(count @ 1..) => self.waiting.extend(&buffer[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => self.gone = true,
        }
    }

    /// Gives the program as much as it takes. Its end is seen elsewhere.
    pub(super) fn give(&mut self, mut master: &File) {
        while !self.waiting.is_empty() {
            match master.write(self.waiting.as_slices().0) {
                Ok(count @ 1..) => drop(self.waiting.drain(..count)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => {
                    self.waiting.clear();
                    return;
                }
            }
        }
    }
}
