//! A terminal, or pipes, that a supervisor serves.

use super::detach::DetachScan;
use super::leave;
use super::shown::{farewell, lost, number, show};
use crate::cli::AttachArgs;
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::record::ProcessRecord;
use crate::local::failure::Result;
use crate::local::wire::frames::{FrameKind, FrameReader, frame};
use crate::local::wire::hello::Hello;
use crate::local::wire::spec::End;
use crate::relay::Signals;
use crate::ui::modes::Modes;
use crate::ui::terminal::{Raw, Size, size_at_either_end};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;

/// What was typed and cannot be sent is kept up to here, then dropped: the key that detaches must always be heard.
const TYPED_LIMIT: usize = 1024 * 1024;
pub(super) struct Client {
    stream: UnixStream,
    pty: bool,
    /// What the exit code of a detach is.
    detached: Exit,
    /// Input is passed on.
    typing: bool,
    raw: Option<Raw>,
    modes: Modes,
    key: DetachScan,
    out: VecDeque<u8>,
    signals: Signals,
}

/// Why an attach is over.
enum Over {
    Detached,
    /// The supervisor has told how the program ended, or is gone without a word.
    Ended(Option<End>),
    Signal(u8),
}

impl Client {
    pub(super) fn new(stream: UnixStream, record: &ProcessRecord, args: &AttachArgs) -> Result<Self> {
        let wrong = |source: io::Error| Error::failed(format!("could not attach: {source}"));
        stream.set_nonblocking(true).map_err(wrong)?;
        let key = args.detach_key.as_deref().map(str::parse).transpose()?.unwrap_or_default();
        let key = DetachScan::of(key);
        let terminal = record.pty && io::stdin().is_terminal() && !args.no_follow;
        let signals = match terminal || io::stdout().is_terminal() {
            true => Signals::catch(&[]),
            false => Signals::none(),
        };
        Ok(Self {
            stream,
            pty: record.pty,
            detached: if args.for_pane { Exit::DETACHED } else { Exit::DONE },
            typing: terminal || (args.stdin && !args.no_follow),
            signals: signals.map_err(wrong)?,
            raw: terminal.then(Raw::for_a_program).transpose().map_err(wrong)?,
            modes: Modes::default(),
            key,
            out: VecDeque::new(),
        })
    }

    pub(super) fn show(mut self, after: Option<u64>, follow: bool) -> Result<Exit> {
        let terminal = self.raw.as_ref().and_then(|_| size_at_either_end());
        self.out.extend(Hello::Attach { after, follow, terminal }.frame());
        if self.raw.is_some() {
            self.tell_size();
        }
        let over = self.talk();
        match self.raw.take() {
            Some(raw) => leave::leave(raw, &self.modes),
            None => leave::leave_what_was_shown(&self.modes),
        }
        match over? {
            Over::Detached => Ok(self.detached),
            Over::Ended(end) => Ok(if follow { farewell(self.pty, end) } else { Exit::DONE }),
            Over::Signal(signal) => Ok(Exit::of_program(128 + signal)),
        }
    }

    fn tell_size(&mut self) {
        if let Some(Size { rows, cols }) = size_at_either_end() {
            let body = [rows.to_le_bytes(), cols.to_le_bytes()].concat();
            self.out.extend(frame(FrameKind::Resize, &body));
        }
    }

    /// Passes everything on, in both directions, until it is over.
    fn talk(&mut self) -> Result<Over> {
        let mut reader = FrameReader::default();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let mut socket = PollFlags::IN;
            socket.set(PollFlags::OUT, !self.out.is_empty());
            let stdin = io::stdin();
            let mut fds = vec![PollFd::new(&self.stream, socket), PollFd::new(&self.signals, PollFlags::IN)];
            if self.typing {
                fds.push(PollFd::new(&stdin, PollFlags::IN));
            }
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::failed(format!("could not wait: {errno}")).into()),
            }
            let ready: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
            drop(fds);
            if !ready[1].is_empty() {
                self.signals.take();
                if let Some(signal) = self.signals.ending() {
                    return Ok(Over::Signal(signal));
                }
                if self.raw.is_some() {
                    self.tell_size();
                }
            }
            if ready.get(2).is_some_and(|flags| !flags.is_empty()) && self.type_in(&mut buffer) {
                // What was typed before the key still belongs to the program.
                let _supervisor_gone = self.flush();
                return Ok(Over::Detached);
            }
            if ready[0].contains(PollFlags::OUT) && self.flush().is_err() {
                return Ok(Over::Ended(None));
            }
            if ready[0].intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
                && let Some(over) = self.listen(&mut reader, &mut buffer)?
            {
                return Ok(over);
            }
        }
    }

    /// Takes what was typed; true when it was the key that detaches.
    fn type_in(&mut self, buffer: &mut [u8]) -> bool {
        // Past the buffer of the standard library: what it holds back, poll does not see.
        let count = match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
            Ok(0) => {
                self.typing = false;
                self.out.extend(frame(FrameKind::EndOfInput, &[]));
                // A terminal that hung up will never say Ctrl-].
                return self.raw.is_some();
            }
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return false,
            Err(_) => return self.raw.is_some(),
        };
        let typed = &buffer[..count];
        let detach = self.raw.as_ref().and_then(|_| self.key.find(typed));
        let kept = &typed[..detach.unwrap_or(count)];
        if !kept.is_empty() {
            self.modes.answered();
        }
        if !kept.is_empty() && self.out.len() < TYPED_LIMIT {
            self.out.extend(frame(FrameKind::Input, kept));
        }
        detach.is_some()
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            match self.stream.write(self.out.as_slices().0) {
                Ok(count) => drop(self.out.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Shows what has come; `Some` when it is over.
    fn listen(&mut self, reader: &mut FrameReader, buffer: &mut [u8]) -> Result<Option<Over>> {
        match self.stream.read(buffer) {
            Ok(0) => return Ok(Some(Over::Ended(None))),
            Ok(count) => reader.push(&buffer[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return Ok(Some(Over::Ended(None))),
        }
        let broken = |source| Error::failed(format!("the supervisor cannot be understood: {source}"));
        while let Some((kind, body)) = reader.next().map_err(broken)? {
            match kind {
                // Modes are for a terminal that shows the program, not for a file.
                FrameKind::Modes if self.raw.is_none() => {}
                FrameKind::Out | FrameKind::Modes => {
                    self.modes.feed(&body);
                    show(false, &body)?;
                }
                FrameKind::Err => {
                    self.modes.feed(&body);
                    show(true, &body)?;
                }
                FrameKind::Lost => lost(number(&body)),
                FrameKind::End => return Ok(Some(Over::Ended(serde_json::from_slice(&body).ok().flatten()))),
                _ => {}
            }
        }
        Ok(None)
    }
}
