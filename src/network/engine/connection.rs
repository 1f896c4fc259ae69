//! One connection of a box: its two ends, how far it has come, and what is on the way.

use super::super::judge::Target;
use super::super::proxy::Tongue;
use super::super::stack::{end::End, packet::Flow};
use super::super::way::Talk;
use rustix::event::epoll::EventFlags;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// A connection's number; never given twice.
pub(super) type Id = u64;

/// A connection.
pub(super) struct Connection {
    pub(super) front: Front,
    /// The host's side, once there is one.
    pub(super) back: Option<Socket>,
    pub(super) phase: Phase,
    pub(super) target: Option<Target>,
    /// From the box to the host, and the other way.
    pub(super) up: Pipe,
    pub(super) down: Pipe,
    /// When it has taken too long to get where it is.
    pub(super) deadline: Option<Instant>,
    /// The timer that is set for it.
    pub(super) timer: Option<Instant>,
    /// It is in the queue of those that have something to do.
    pub(super) queued: bool,
}

/// The box's side.
pub(super) enum Front {
    /// A connection to a listener in the box.
    Door(Socket, Option<Tongue>),
    /// One through the stack.
    Stack(Flow, Box<End>),
}

/// How far a connection has come.
pub(super) enum Phase {
    /// The box says where it wants to.
    Head { said: Vec<u8>, greeted: bool },
    /// The target's name is looked up only to judge it: the host's proxy will look it up itself.
    Judging,
    /// A name is looked up: the target's, or that of the host's proxy.
    Resolving,
    /// The host's side is on its way, to the first of these; then come the others.
    Connecting(VecDeque<SocketAddr>),
    /// The host's proxy is told where to.
    Talking(Talk, Vec<u8>),
    /// Both sides stand.
    Open,
    /// The box is told why not, then it is over.
    Farewell,
    /// The box speaks to our own name server.
    Names(Vec<u8>),
}

/// A socket that never waits, and what is known of it.
pub(super) struct Socket {
    pub(super) fd: OwnedFd,
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// The other side has finished: what is there must be read to its end.
    finished: bool,
    /// Nothing goes in either direction any more.
    pub(super) broken: bool,
}

/// One direction.
#[derive(Default)]
pub(super) struct Pipe {
    /// What was taken and could not be given yet.
    left: Vec<u8>,
    at: usize,
    /// Nothing more comes in.
    pub(super) ended: bool,
    /// The other side has been told so.
    pub(super) shut: bool,
}

impl Connection {
    pub(super) fn new(front: Front, phase: Phase, target: Option<Target>) -> Self {
        let (up, down) = (Pipe::default(), Pipe::default());
        Self { front, back: None, phase, target, up, down, deadline: None, timer: None, queued: false }
    }

    /// What a poll has said about one of its sockets.
    pub(super) fn note(&mut self, is_back: bool, flags: EventFlags) {
        let socket = match (&mut self.front, &mut self.back) {
            (_, Some(back)) if is_back => back,
            (Front::Door(front, _), _) if !is_back => front,
            _ => return,
        };
        socket.broken |= flags.intersects(EventFlags::ERR);
        socket.finished |= flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        socket.readable |=
            flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        socket.writable |= flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR);
    }
}

impl Socket {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self { fd, readable: false, writable: false, finished: false, broken: false }
    }

    /// Reads what is there. `Some(0)` is the end.
    ///
    /// # Errors
    /// The connection was broken off.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> rustix::io::Result<Option<usize>> {
        if !self.readable {
            return Ok(None);
        }
        match rustix::io::read(&self.fd, &mut *buffer) {
            Ok(count) => {
                // Less than there was room for is all there is; the next poll tells of more.
                self.readable = count == buffer.len() || self.finished;
                Ok(Some(count))
            }
            Err(rustix::io::Errno::AGAIN) => {
                self.readable = false;
                Ok(None)
            }
            Err(rustix::io::Errno::INTR) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Gives as much as is taken.
    ///
    /// # Errors
    /// The connection was broken off.
    pub(super) fn write(&mut self, bytes: &[u8]) -> rustix::io::Result<usize> {
        if !self.writable || bytes.is_empty() {
            return Ok(0);
        }
        match rustix::net::send(&self.fd, bytes, rustix::net::SendFlags::NOSIGNAL) {
            Ok(count) => {
                self.writable = count == bytes.len();
                Ok(count)
            }
            Err(rustix::io::Errno::AGAIN) => {
                self.writable = false;
                Ok(0)
            }
            Err(rustix::io::Errno::INTR) => Ok(0),
            Err(errno) => Err(errno),
        }
    }

    /// Says that nothing more comes.
    pub(super) fn finish(&self) {
        let _gone = rustix::net::shutdown(&self.fd, rustix::net::Shutdown::Write);
    }

    /// Makes the close a break: the other side sees a reset, not an end.
    pub(super) fn break_off(&self) {
        let _gone = rustix::net::sockopt::set_socket_linger(&self.fd, Some(std::time::Duration::ZERO));
    }
}

impl Pipe {
    /// Keeps bytes until they can be given.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        self.left.drain(..self.at);
        self.at = 0;
        self.left.extend_from_slice(bytes);
    }

    pub(super) fn kept(&self) -> &[u8] {
        &self.left[self.at..]
    }

    /// So many of the kept bytes have been given.
    pub(super) fn gave(&mut self, count: usize) {
        self.at += count;
        if self.at == self.left.len() {
            // The memory goes too: most pipes never keep anything.
            self.left = Vec::new();
            self.at = 0;
        }
    }
}
