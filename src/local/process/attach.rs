//! `process attach`: this terminal, or these pipes, and a process.

use super::detach::DetachKey;
use super::leave;
use crate::cli::AttachArgs;
use crate::command;
use crate::error::{Error, IoContext};
use crate::exit::Exit;
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::record::ProcessRecord;
use crate::local::failure::Result;
use crate::local::wire::frames::{FrameKind, FrameReader, frame};
use crate::local::wire::hello::Hello;
use crate::local::wire::spec::End;
use crate::ui;
use crate::ui::modes::Modes;
use crate::ui::terminal::{Raw, Size, size_at_either_end};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What was typed and cannot be sent is kept up to here, then dropped: Ctrl-] must always be heard.
const TYPED_LIMIT: usize = 1024 * 1024;
/// Signals after which the terminal must still be given back.
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Attaches; 0 for a terminal, whatever happened there, and the program's exit code for pipes.
pub(crate) fn attach(found: &LocalBox, record: &ProcessRecord, args: &AttachArgs) -> Result<Exit> {
    let after = if args.no_follow { Some(args.after.unwrap_or(0)) } else { args.after };
    if record.is_running() {
        match UnixStream::connect(&record.socket) {
            Ok(stream) => return Client::new(stream, record, args)?.show(after, !args.no_follow),
            // It ended just now, or its supervisor was killed.
            Err(_) => {
                let record = crate::local::boxes::record::read(found, &record.process_id)?;
                if record.is_running() {
                    return Err(Error::failed(format!("process {} does not answer", record.process_id))
                        .help(format!(
                            "try again, or look at it with: {}",
                            command::own(["local", "sandbox", "process", "get"])
                                .on(&found.meta.name)
                                .word(record.process_id.to_string())
                        ))
                        .into());
                }
                return replay(found, &record, after);
            }
        }
    }
    replay(found, record, after)
}

/// A process that has ended shows what was kept and how it ended.
fn replay(found: &LocalBox, record: &ProcessRecord, after: Option<u64>) -> Result<Exit> {
    let mut modes = Modes::default();
    let shown = show_log(found, record, after, &mut modes);
    leave::leave_what_was_shown(&modes);
    shown.map(|()| farewell(record.pty, record.end))
}

fn show_log(found: &LocalBox, record: &ProcessRecord, after: Option<u64>, modes: &mut Modes) -> Result<()> {
    if let (Some(after), Some(mut log)) = (after, crate::local::boxes::record::log(found, record)) {
        let broken = |source| Error::failed(format!("the kept output cannot be read: {source}"));
        let mut reader = FrameReader::default();
        let mut place = 0;
        while let Some((kind, body)) = reader.wait(&mut log).map_err(broken)? {
            let start = place;
            match kind {
                FrameKind::Lost => place = number(&body),
                _ => place += body.len() as u64,
            }
            let skipped = usize::try_from(after.saturating_sub(start)).unwrap_or(usize::MAX);
            let shown = body.get(skipped..).unwrap_or_default();
            modes.feed(if matches!(kind, FrameKind::Out | FrameKind::Err) { shown } else { &[] });
            match kind {
                FrameKind::Lost if place > after => lost(place - after),
                FrameKind::Out => show(false, shown)?,
                FrameKind::Err => show(true, shown)?,
                _ => {}
            }
        }
    }
    Ok(())
}

fn farewell(pty: bool, end: Option<End>) -> Exit {
    match (pty, end) {
        (true, _) => Exit::DONE,
        // The stream just ended: the code is not known, so it cannot be 0.
        (false, None) => Exit::FAILED,
        (false, Some(end)) => {
            ui::note(format!("Process exited with code {}.", end.code()));
            Exit::of_program(end.code())
        }
    }
}

fn lost(bytes: u64) {
    ui::note(format!("[{} of older output are not kept any more]", ui::bytes(bytes)));
}

fn number(body: &[u8]) -> u64 {
    body.try_into().map_or(0, u64::from_le_bytes)
}

fn show(error: bool, bytes: &[u8]) -> Result<()> {
    let written = if error { ui::raw_note(bytes) } else { ui::raw(bytes) };
    Ok(written.at("write to", std::path::Path::new("stdout"))?)
}

struct Client {
    stream: UnixStream,
    pty: bool,
    /// What the exit code of a detach is.
    detached: Exit,
    /// Input is passed on.
    typing: bool,
    raw: Option<Raw>,
    modes: Modes,
    key: DetachKey,
    out: VecDeque<u8>,
    signals: AttachSignals,
}

/// Signals that have come: a byte in the pipe for each, and which ones in the flags.
struct AttachSignals {
    pipe: UnixStream,
    /// Kept where no signal is caught, too: a pipe whose writers are gone is ready for ever.
    _wake: UnixStream,
    resized: Arc<AtomicBool>,
    ended: Arc<AtomicUsize>,
}

impl AttachSignals {
    fn catch(terminal: bool) -> io::Result<Self> {
        let (pipe, wake) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        let (resized, ended) = (Arc::default(), Arc::default());
        if terminal {
            for signal in ENDING {
                let number = usize::try_from(signal).unwrap_or_default();
                signal_hook::flag::register_usize(signal, Arc::clone(&ended), number)?;
                signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
            }
            signal_hook::flag::register(libc::SIGWINCH, Arc::clone(&resized))?;
            signal_hook::low_level::pipe::register(libc::SIGWINCH, wake.try_clone()?)?;
        }
        Ok(Self { pipe, _wake: wake, resized, ended })
    }
}

/// Why an attach is over.
enum Over {
    Detached,
    /// The supervisor has told how the program ended, or is gone without a word.
    Ended(Option<End>),
    Signal(u8),
}

impl Client {
    fn new(stream: UnixStream, record: &ProcessRecord, args: &AttachArgs) -> Result<Self> {
        let wrong = |source: io::Error| Error::failed(format!("could not attach: {source}"));
        stream.set_nonblocking(true).map_err(wrong)?;
        let terminal = record.pty && io::stdin().is_terminal() && !args.no_follow;
        Ok(Self {
            stream,
            pty: record.pty,
            detached: if args.for_pane { Exit::DETACHED } else { Exit::DONE },
            typing: terminal || (args.stdin && !args.no_follow),
            signals: AttachSignals::catch(terminal || io::stdout().is_terminal()).map_err(wrong)?,
            raw: terminal.then(Raw::for_a_program).transpose().map_err(wrong)?,
            modes: Modes::default(),
            key: DetachKey::default(),
            out: VecDeque::new(),
        })
    }

    fn show(mut self, after: Option<u64>, follow: bool) -> Result<Exit> {
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
            let mut fds =
                vec![PollFd::new(&self.stream, socket), PollFd::new(&self.signals.pipe, PollFlags::IN)];
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
                while (&self.signals.pipe).read(&mut buffer).is_ok_and(|count| count > 0) {}
                if let Ok(signal @ 1..) = u8::try_from(self.signals.ended.load(Ordering::SeqCst)) {
                    return Ok(Over::Signal(signal));
                }
                if self.signals.resized.swap(false, Ordering::SeqCst) && self.raw.is_some() {
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
