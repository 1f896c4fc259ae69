//! The socket between the host and the inside of a box: JSON messages with a length before each,
//! and at most one descriptor with a message.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// No message is larger: an argv is at most 2 MiB, and JSON writes a byte as up to four.
const LARGEST: u32 = 16 * 1024 * 1024;

/// One end of the socket.
#[derive(Debug)]
pub(crate) struct Channel(UnixStream);

impl Channel {
    /// Both ends.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = UnixStream::pair()?;
        Ok((Self(a), Self(b)))
    }

    /// An end that was inherited.
    pub(crate) fn from_fd(fd: OwnedFd) -> Self {
        Self(UnixStream::from(fd))
    }

    /// Another handle of the same end.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// How long it waits for what the other side says; for ever with `None`.
    pub(crate) fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(patience)
    }

    /// The descriptor, to be inherited.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0.into()
    }

    /// Sends one message, with a descriptor or without.
    pub(crate) fn send(&self, message: &impl Serialize, fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let length = u32::try_from(body.len()).ok().filter(|length| *length <= LARGEST);
        let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?.to_le_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<BorrowedFd<'_>> = fd.into_iter().collect();
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        // One call: two processes speak on the inner end, and short messages must not mix.
        let message = [length.as_slice(), &body].concat();
        let sent = sendmsg(&self.0, &[IoSlice::new(&message)], &mut control, SendFlags::NOSIGNAL)?;
        let mut stream = &self.0;
        stream.write_all(&message[sent..])
    }

    /// Waits for one message; `None` when the other side is gone.
    pub(crate) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut length = [0; 4];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = loop {
            let flags = RecvFlags::CMSG_CLOEXEC;
            match recvmsg(&self.0, &mut [IoSliceMut::new(&mut length)], &mut control, flags) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other?.bytes,
            }
        };
        if got == 0 {
            return Ok(None);
        }
        let fd = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        let mut stream = &self.0;
        stream.read_exact(&mut length[got..])?;
        let length = u32::from_le_bytes(length);
        if length > LARGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body)?;
        Ok(Some((serde_json::from_slice(&body)?, fd)))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
