//! The keeper of a process: outlives the command that started it, owns the terminal or the pipes, keeps
//! the newest output, serves whoever attaches, and writes down how it ended.

use super::enter::{self, Entry, Start};
use super::frames::{Kind, frame};
use super::modes::Modes;
use super::record::{self, Record};
use super::ring::{KEPT, Ring, Stream};
use super::running::Purpose;
use super::served::Served;
use super::spec::{Bytes, Command as Word, End, Event, Size, Task};
use super::store::{LocalBox, Store};
use super::{failure, pause, socket};
use crate::error::Error;
use crate::fs::Lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::Winsize;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Input that a program does not read is kept up to here; then its senders wait.
const INPUT_LIMIT: usize = 256 * 1024;
/// A client that takes nothing for this long is overtaken: it must not hold the program up.
const STALLED: Duration = Duration::from_secs(5);
/// How long clients may take to fetch the end of the output.
const FAREWELL: Duration = Duration::from_secs(5);
/// Between the two sizes of a nudge.
const NUDGE: Duration = Duration::from_millis(80);

/// What a supervisor is told, on its stdin.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Brief {
    /// The folder of all boxes.
    pub(super) boxes: PathBuf,
    /// The box.
    pub(super) reference: String,
    /// The process as it will be on record.
    pub(super) record: Record,
    /// Program and arguments.
    pub(super) argv: Vec<Bytes>,
    /// The folder to start in.
    pub(super) cwd: Bytes,
    /// The whole environment.
    pub(super) env: Vec<(Bytes, Bytes)>,
    /// A terminal of this size, or pipes.
    pub(super) terminal: Option<Size>,
}

/// What it answers, once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The process runs.
    Started(Record),
    /// It does not, and nothing is left of it.
    Failed(failure::Parts),
}

/// What a client asks for, first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Hello {
    /// The process as it is now.
    Status,
    /// Its output and its input.
    Attach {
        /// From this place on; only what is new when `None`.
        after: Option<u64>,
        /// Go on when everything that is there has been sent.
        follow: bool,
    },
    /// The box has been paused: whoever is attached is let go.
    LetGo,
    /// Another size for the terminal.
    Resize(Size),
    /// The program's end: first SIGTERM, SIGKILL for everything after this time.
    Stop {
        /// Milliseconds.
        grace: u64,
    },
}

/// Entry point of the hidden `local supervise`.
pub(super) fn main() -> u8 {
    // Whatever the starter had open without closing it on exec: it would stay open for as long as we live.
    let _older_kernel = super::inside::close_inherited();
    let result = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(io::Error::from);
    let Ok(channel) = result.map(super::channel::Channel::from_fd) else { return 2 };
    let Ok(Some((brief, _))) = channel.receive::<Brief>() else { return 2 };
    match Supervisor::start(brief) {
        Ok(supervisor) => {
            let told = channel.send(&Answer::Started(supervisor.record.clone()), None);
            drop(channel);
            let detached = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(&null)?));
            // A starter that is gone cannot be told; the process is on record all the same.
            let _starter_gone = told.and(detached);
            u8::from(supervisor.run().is_err())
        }
        Err(failure) => {
            let _starter_gone = channel.send(&Answer::Failed(failure.into_parts()), None);
            1
        }
    }
}

struct Supervisor {
    found: LocalBox,
    record: Record,
    entry: Entry,
    _lock: Lock,
    listener: UnixListener,
    /// The terminal's master, or stdout and stderr; those that have ended are gone.
    sources: Vec<(Stream, File)>,
    /// The terminal's master, or stdin.
    sink: Option<File>,
    input: VecDeque<u8>,
    input_ended: bool,
    ring: Ring,
    /// The modes that output has set which is kept no more.
    dropped: Modes,
    served: Vec<Served>,
    size: Option<Size>,
    nudge: Option<Instant>,
    /// When everything is killed.
    doom: Option<Instant>,
    /// When the box may have been idle for too long.
    idle: Option<Instant>,
    touched: Instant,
    end: Option<End>,
}

impl Supervisor {
    fn start(brief: Brief) -> failure::Result<Self> {
        let mut found = Store::at(brief.boxes).live(&brief.reference)?;
        let mut record = brief.record;
        let id = record.process_id.clone();
        let lock_file = record::file(&found, &id, "lock");
        let lock = Lock::wait(&lock_file)?;
        record.socket = socket::path(&id)?;
        let listener = socket::listen(&record.socket)?;
        let task = Task::Run { argv: brief.argv, cwd: brief.cwd, terminal: brief.terminal };
        let started = enter::enter(&mut found, brief.env, task, brief.terminal.is_none(), Purpose::Process);
        let undo = || {
            let _nothing_to_lose = std::fs::remove_file(&record.socket);
            let _nothing_to_lose = std::fs::remove_file(&lock_file);
        };
        let mut entry = match started {
            Ok(Start::Running(entry)) => *entry,
            Ok(Start::NotStarted { what, errno }) => {
                undo();
                let system = io::Error::from_raw_os_error(errno);
                return Err(Error::failed(format!("could not {what} in the sandbox: {system}")).into());
            }
            Err(failure) => {
                undo();
                return Err(failure);
            }
        };
        record.pid = entry.pid;
        record.save(&found)?;
        let idle = pause::time_left(&found)?.map(|left| Instant::now() + left);
        let (sources, sink) = plumb(&mut entry).map_err(|source| {
            undo();
            Error::failed(format!("could not set up the process: {source}"))
        })?;
        Ok(Self {
            found,
            record,
            entry,
            _lock: lock,
            listener,
            sources,
            sink: Some(sink),
            input: VecDeque::new(),
            input_ended: false,
            ring: Ring::default(),
            dropped: Modes::default(),
            served: Vec::new(),
            size: brief.terminal,
            nudge: None,
            doom: None,
            idle,
            touched: Instant::now(),
            end: None,
        })
    }

    fn run(mut self) -> failure::Result<()> {
        while self.end.is_none() || !self.sources.is_empty() {
            self.turn().map_err(|source| Error::failed(format!("poll: {source}")))?;
        }
        let finished = self.finish();
        let _gone_with_its_box = std::fs::remove_file(&self.record.socket);
        let deadline = Instant::now() + FAREWELL;
        let end = frame(Kind::End, &serde_json::to_vec(&self.end).unwrap_or_default());
        self.served.iter_mut().for_each(|client| client.finish(&end));
        while Instant::now() < deadline && self.served.iter().any(|client| client.has_more(&self.ring)) {
            self.turn().map_err(|source| Error::failed(format!("poll: {source}")))?;
        }
        finished
    }

    /// The log and the record; both are gone when the box was deleted meanwhile.
    fn finish(&mut self) -> failure::Result<()> {
        self.record.finished_at = Some(super::meta::now());
        self.record.end = self.end;
        self.record.output = self.output();
        let path = record::file(&self.found, &self.record.process_id, "log");
        let mut log = frame(Kind::Lost, &self.ring.oldest().to_le_bytes());
        let mut place = self.ring.oldest();
        while let Some((stream, bytes)) = self.ring.read(place, 512 * 1024) {
            place += bytes.len() as u64;
            log.extend(frame(kind(stream), &bytes));
        }
        crate::fs::write_atomic(&path, &log, crate::fs::Mode::Private)?;
        self.record.save(&self.found)
    }

    fn output(&self) -> record::Output {
        let (oldest_seq, newest_seq) = (self.ring.oldest(), self.ring.newest());
        record::Output { oldest_seq, newest_seq, bytes: newest_seq - oldest_seq }
    }

    /// Waits for something to happen and deals with it.
    fn turn(&mut self) -> io::Result<()> {
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

    /// Input and output are activity.
    fn touch(&mut self) {
        if self.idle.is_some() && self.touched.elapsed() > Duration::from_secs(1) {
            self.touched = Instant::now();
            let _gone_with_its_box = pause::touch(&self.found);
        }
    }

    /// Pauses the box if nobody has done anything in it. On a thread of its own: pausing speaks to every
    /// supervisor of the box, this one too.
    fn look_idle(&mut self) {
        let wait = match pause::time_left(&self.found) {
            Ok(Some(Duration::ZERO)) => {
                let mut found = self.found.clone();
                std::thread::spawn(move || {
                    let _tried_again_later = pause::settle(&mut found);
                });
                Duration::from_secs(60)
            }
            Ok(Some(left)) => left,
            Ok(None) | Err(_) => Duration::from_secs(60),
        };
        self.idle = Some(Instant::now() + wait);
    }

    fn hear(&mut self) {
        match self.entry.event() {
            Ok(Some(Event::Ended(end))) => self.end = Some(end),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => self.end = Some(End::Signal(libc::SIGKILL)),
        }
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if let Some(client) = Served::new(stream) {
                self.served.push(client);
            }
        }
    }

    /// Reads output; false when there will be no more.
    fn read(&mut self, at: usize) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        let (stream, source) = &mut self.sources[at];
        match source.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                let stream = *stream;
                self.touch();
                let dropped = self.ring.push(stream, &buffer[..count]);
                self.served.iter_mut().for_each(|client| client.overtaken(&self.ring, dropped.len()));
                self.dropped.feed(&dropped);
                true
            }
            // EIO is how a terminal ends.
            Err(error) => matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock),
        }
    }

    fn feed(&mut self) {
        let Some(sink) = &mut self.sink else { return };
        let (front, _) = self.input.as_slices();
        match sink.write(front) {
            Ok(count) => drop(self.input.drain(..count)),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            // The program reads no more.
            Err(_) => {
                self.input.clear();
                self.sink = None;
            }
        }
        self.close_input();
    }

    fn close_input(&mut self) {
        if self.input_ended && self.input.is_empty() && !self.record.pty {
            self.sink = None;
        }
    }

    fn serve(&mut self, at: usize, flags: PollFlags) {
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            for (kind, body) in self.served[at].read() {
                self.answer(at, kind, &body);
            }
        }
        if flags.contains(PollFlags::OUT) {
            self.served[at].write(&self.ring);
        }
    }

    fn answer(&mut self, at: usize, kind: Kind, body: &[u8]) {
        match kind {
            Kind::Hello => match serde_json::from_slice(body) {
                Ok(Hello::Status) => {
                    let mut record = self.record.clone();
                    record.output = self.output();
                    let status = serde_json::to_vec(&(record, self.foreground())).unwrap_or_default();
                    self.served[at].finish(&frame(Kind::Status, &status));
                }
                Ok(Hello::Attach { after, follow }) => {
                    self.touch();
                    self.attach(at, after, follow);
                }
                Ok(Hello::LetGo) => self.served.iter_mut().for_each(Served::let_go),
                Ok(Hello::Resize(size)) => {
                    self.resize(size);
                    self.served[at].finish(&[]);
                }
                Ok(Hello::Stop { grace }) => self.stop(at, Duration::from_millis(grace)),
                Err(_) => self.served[at].close(),
            },
            Kind::Input => {
                self.touch();
                self.input.extend(body);
            }
            Kind::Resize => {
                if let Some(size) = size(body) {
                    self.resize(size);
                }
            }
            Kind::EndOfInput => {
                self.input_ended = true;
                self.close_input();
            }
            _ => self.served[at].close(),
        }
    }

    /// Whoever asked hears of the end when it comes.
    fn stop(&mut self, at: usize, grace: Duration) {
        let now = Instant::now();
        let doom = now + grace;
        self.doom = Some(self.doom.map_or(doom, |earlier| earlier.min(doom)));
        if !grace.is_zero() {
            // A shell on a terminal ignores TERM; HUP is how its terminal goes.
            let signals =
                if self.record.pty { vec![libc::SIGTERM, libc::SIGHUP] } else { vec![libc::SIGTERM] };
            for signal in signals {
                let _just_ended = self.entry.send(&Word::Signal(signal));
            }
        }
        let place = self.ring.newest();
        self.served[at].follow(place, true, &self.ring);
    }

    fn attach(&mut self, at: usize, after: Option<u64>, follow: bool) {
        let newest = self.ring.newest();
        let place = after.unwrap_or(newest).min(newest);
        let start = place.max(self.ring.oldest());
        if self.record.pty {
            // What the terminal's modes were at that place: everything before it, seen again.
            let mut modes = self.dropped.clone();
            let mut seen = self.ring.oldest();
            while seen < start
                && let Some((_, bytes)) = self.ring.read(seen, usize::try_from(start - seen).unwrap_or(KEPT))
            {
                modes.feed(&bytes);
                seen += bytes.len() as u64;
            }
            self.served[at].say(&frame(Kind::Modes, &modes.enter()));
        }
        self.served[at].follow(place, follow, &self.ring);
    }

    /// A size that is the same already makes nobody repaint: then it changes for a moment.
    fn resize(&mut self, size: Size) {
        if self.size == Some(size) {
            let rows = if size.rows > 1 { size.rows - 1 } else { 2 };
            self.set_size(Size { rows, ..size });
            self.nudge = Some(Instant::now() + NUDGE);
        } else {
            self.size = Some(size);
            self.nudge = None;
            self.apply_size();
        }
    }

    fn apply_size(&mut self) {
        if let Some(size) = self.size {
            self.set_size(size);
        }
    }

    fn set_size(&self, size: Size) {
        if let (true, Some((_, master))) = (self.record.pty, self.sources.first()) {
            let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
            let _ended = rustix::termios::tcsetwinsize(master, size);
        }
    }

    /// The program that has the terminal, with its number in the box.
    fn foreground(&self) -> Option<record::Foreground> {
        let (_, master) = self.sources.first().filter(|_| self.record.pty)?;
        let group = rustix::termios::tcgetpgrp(master).ok()?.as_raw_nonzero();
        let cmd = std::fs::read(format!("/proc/{group}/comm")).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{group}/status")).ok()?;
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        Some(record::Foreground {
            pid: inner.split_whitespace().last()?.parse().ok()?,
            cmd: String::from_utf8_lossy(&cmd).trim_end().to_owned(),
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Wait {
    Channel,
    Listener,
    Source(usize),
    Sink,
    Client(usize),
}

fn kind(stream: Stream) -> Kind {
    match stream {
        Stream::Out => Kind::Out,
        Stream::Err => Kind::Err,
    }
}

/// Rows and columns, two bytes each.
fn size(body: &[u8]) -> Option<Size> {
    let [r0, r1, c0, c1] = *body else { return None };
    let size = Size { rows: u16::from_le_bytes([r0, r1]), cols: u16::from_le_bytes([c0, c1]) };
    (size.rows > 0 && size.cols > 0).then_some(size)
}

/// Where output comes from and where input goes, none of which may ever block.
fn plumb(entry: &mut Entry) -> io::Result<(Vec<(Stream, File)>, File)> {
    let calm = |fd: OwnedFd| -> io::Result<File> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(File::from(fd))
    };
    if let Some(master) = entry.terminal.take() {
        let master = calm(master)?;
        return Ok((vec![(Stream::Out, master.try_clone()?)], master));
    }
    let missing = || io::Error::other("a program without a terminal has pipes");
    let out = calm(entry.stdout.take().ok_or_else(missing)?.into())?;
    let err = calm(entry.stderr.take().ok_or_else(missing)?.into())?;
    let sink = calm(entry.stdin.take().ok_or_else(missing)?.into())?;
    Ok((vec![(Stream::Out, out), (Stream::Err, err)], sink))
}
