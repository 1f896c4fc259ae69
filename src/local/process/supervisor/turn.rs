//! One turn of the supervisor: waits until something is ready, and deals with all that is.

use super::Supervisor;
use crate::local::process::ring::KEPT;
use crate::local::process::served::Served;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Input that a program does not read is kept up to here; then its senders wait.
const INPUT_LIMIT: usize = 256 * 1024;
/// A client that takes nothing for this long is overtaken: it must not hold the program up.
const STALLED: Duration = Duration::from_secs(5);

/// What a turn waits for.
#[derive(Debug, Clone, Copy)]
enum Wait {
    Channel,
    Listener,
    Source(usize),
    Sink,
    Client(usize),
}

impl Supervisor {
    /// Waits for something to happen and deals with it.
    pub(crate) fn turn(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let reading = self.ring.newest() < self.slowest(now).saturating_add(KEPT as u64 / 2);
        let writing = self.sink.is_some() && !self.input.is_empty();
        let hungry = self.input.len() < INPUT_LIMIT;

        let mut waits: Vec<(Wait, PollFlags)> = vec![(Wait::Listener, PollFlags::IN)];
        if self.end.is_none() {
            waits.push((Wait::Channel, PollFlags::IN));
        }
        if reading {
            waits.extend((0..self.sources.len()).map(|at| (Wait::Source(at), PollFlags::IN)));
        }
        if writing {
            waits.push((Wait::Sink, PollFlags::OUT));
        }
        for (at, client) in self.served.iter().enumerate() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, hungry);
            flags.set(PollFlags::OUT, client.has_more(&self.ring));
            waits.push((Wait::Client(at), flags));
        }
        let mut fds: Vec<PollFd<'_>> =
            waits.iter().map(|(wait, flags)| PollFd::from_borrowed_fd(self.fd(*wait), *flags)).collect();
        let limit = Timespec::try_from(self.next_timer(now)).ok();
        match poll(&mut fds, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready: Vec<(Wait, PollFlags)> =
            waits.iter().zip(&fds).map(|((wait, _), fd)| (*wait, fd.revents())).collect();
        drop(fds);

        let mut ended_sources = Vec::new();
        for (wait, flags) in ready.into_iter().filter(|(_, flags)| !flags.is_empty()) {
            match wait {
                Wait::Channel => self.hear(),
                Wait::Listener => self.accept(),
                Wait::Sink => self.feed(),
                Wait::Source(at) => {
                    if !self.read(at) {
                        ended_sources.push(at);
                    }
                }
                Wait::Client(at) => self.serve(at, flags),
            }
        }
        ended_sources.into_iter().rev().for_each(|at| drop(self.sources.remove(at)));
        self.served.retain(Served::is_open);
        let now = Instant::now();
        if self.nudge.is_some_and(|at| at <= now) {
            self.nudge = None;
            self.apply_size();
        }
        if self.doom.is_some_and(|at| at <= now) {
            self.doom = None;
            self.entry.kill();
        }
        if self.idle.is_some_and(|at| at <= now) {
            self.look_idle();
        }
        Ok(())
    }

    fn fd(&self, wait: Wait) -> BorrowedFd<'_> {
        match wait {
            Wait::Channel => self.entry.channel.as_fd(),
            Wait::Listener => self.listener.as_fd(),
            Wait::Source(at) => self.sources[at].1.as_fd(),
            Wait::Sink => self.sink.as_ref().map_or(self.listener.as_fd(), AsFd::as_fd),
            Wait::Client(at) => self.served[at].as_fd(),
        }
    }

    /// How far the slowest client has come that still takes something.
    fn slowest(&self, now: Instant) -> u64 {
        let moving = self.served.iter().filter(|client| now < client.moved() + STALLED);
        moving.filter_map(Served::place).min().unwrap_or(u64::MAX)
    }

    /// Until the next thing that is to happen by itself. A client that has stalled is looked at every
    /// second, as long as there are clients.
    fn next_timer(&self, now: Instant) -> Duration {
        let longest = Duration::from_secs(if self.served.is_empty() { 3600 } else { 1 });
        let timers = [self.nudge, self.doom, self.idle];
        let next = timers.into_iter().flatten().min();
        next.map_or(longest, |at| at.saturating_duration_since(now).min(longest))
    }
}
