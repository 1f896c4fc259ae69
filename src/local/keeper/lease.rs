//! An entry's part in the network of its box: while it has one, the keeper stays; when the keeper goes, so does the entry.

use super::protocol::{Brief, Hand, KeeperAnswer, SOCKET};
use crate::error::Error;
use crate::local::boxes::local_box::LocalBox;
use crate::local::entry::spawn::Shared;
use crate::local::failure::{Failure, Result};
use crate::local::process::launch;
use crate::local::wire::channel::Channel;
use crate::network::{self, Way};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::{self, Read};
use std::net::{Ipv4Addr, Shutdown};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// So long a keeper may take to give its part. The box's lock is held meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);
/// So often a keeper may go while we come.
const TRIES: usize = 3;

/// Ended when dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    stream: UnixStream,
    lost: Arc<AtomicBool>,
}

/// Takes a part in the network of a box, which begins with it if there is none. The caller holds the box's lock.
///
/// # Errors
/// The network cannot be made.
pub(crate) fn take(found: &LocalBox) -> Result<(Lease, Shared)> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for _ in 0..TRIES {
        match connect(found.folder()).and_then(|channel| receive(channel, PATIENCE)) {
            Ok(taken) => return Ok(taken),
            Err(error) => last = error,
        }
        begin(found)?;
    }
    Err(Error::failed(format!("the box's network does not answer: {last}")).help("try again").into())
}

/// Who looks names up in the box. Where only the proxy does, nobody: at this address that is said at once.
pub(crate) fn name_server(is_transparent: bool) -> Ipv4Addr {
    if is_transparent { network::SERVER } else { Ipv4Addr::LOCALHOST }
}

fn begin(found: &LocalBox) -> Result<()> {
    let variables =
        Way::VARIABLES.into_iter().filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
    let brief = Brief {
        folder: found.folder().to_path_buf(),
        uid: found.meta.uid,
        egress: found.meta.egress.clone(),
        variables: variables.collect(),
    };
    match launch::background("keep", &brief)? {
        KeeperAnswer::Keeps => Ok(()),
        KeeperAnswer::Failed(parts) => Err(Failure::from_parts(parts)),
    }
}

fn connect(folder: &Path) -> io::Result<Channel> {
    let folder = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(Channel::from_fd(UnixStream::connect(socket(&folder))?.into()))
}

/// The path of a socket in a folder, however long the folder's own is.
pub(super) fn socket(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd())
}

fn receive(channel: Channel, patience: Duration) -> io::Result<(Lease, Shared)> {
    channel.set_patience(Some(patience))?;
    let part = |wanted: Hand| match channel.receive::<Hand>()? {
        Some((hand, Some(fd))) if hand == wanted => Ok(fd),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
    };
    let shared = Shared { user: part(Hand::User)?, net: part(Hand::Net)? };
    // From now on only its end is waited for.
    channel.set_patience(None)?;
    Ok((Lease { stream: channel.into_fd().into(), lost: Arc::default() }, shared))
}

impl Lease {
    /// From now on the end of the keeper is that of this process, with everything in the box that depends on it.
    pub(crate) fn bind(&self, process: Pid) -> io::Result<()> {
        let mut stream = self.stream.try_clone()?;
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let lost = Arc::clone(&self.lost);
        let watch = move || {
            while stream.read(&mut [0; 16]).is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
            lost.store(true, Ordering::Release);
            let _ended_before = pidfd_send_signal(&process, Signal::KILL);
        };
        std::thread::Builder::new().name("keeper".into()).spawn(watch).map(drop)
    }

    /// Whether the keeper has gone first.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _gone = self.stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_keeper_that_says_nothing_is_not_waited_for_without_an_end() {
        let (ours, _theirs) = Channel::pair().unwrap();
        let error = receive(ours, Duration::from_millis(20)).expect_err("nothing was given");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn the_end_of_a_lease_is_waited_for_however_long_it_takes() {
        let (ours, theirs) = Channel::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        theirs.send(&Hand::User, Some(null.as_fd())).unwrap();
        theirs.send(&Hand::Net, Some(null.as_fd())).unwrap();
        let (lease, _shared) = receive(ours, Duration::from_millis(20)).unwrap();
        assert_eq!(lease.stream.read_timeout().unwrap(), None);
    }
}
