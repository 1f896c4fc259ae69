//! The keeper of a process: outlives the command that started it, owns the terminal or the pipes, keeps
//! the newest output, serves those who attach, and writes down how it ended.

mod protocol;
mod requests;
mod screen;
mod turn;

pub(crate) use protocol::{Brief, SupervisorAnswer};

use crate::error::Error;
use crate::exit::Exit;
use crate::fs::Lock;
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::pause;
use crate::local::boxes::record::{self, ProcessRecord};
use crate::local::boxes::running::RunPurpose;
use crate::local::boxes::store::BoxStore;
use crate::local::entry::enter::{self, BoxProcess, Start};
use crate::local::failure;
use crate::local::process::model::Model;
use crate::local::process::ring::{OutputStream, Ring};
use crate::local::process::served::Served;
use crate::local::process::socket;
use crate::local::wire::frames::{FrameKind, frame};
use crate::local::wire::spec::{End, Event, Task};
use crate::ui::modes::Modes;
use crate::ui::terminal::Size;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

/// How long clients may take to fetch the end of the output.
const FAREWELL: Duration = Duration::from_secs(5);

/// Entry point of the hidden `local supervise`.
pub(crate) fn main() -> Exit {
    // Whatever the starter had open without closing it on exec: it would stay open for as long as we live.
    let _older_kernel = crate::local::inside::close_inherited();
    let result = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(io::Error::from);
    let Ok(channel) = result.map(crate::local::wire::channel::Channel::from_fd) else {
        return Exit::UNUSABLE;
    };
    let Ok(Some((brief, _))) = channel.receive::<Brief>() else { return Exit::UNUSABLE };
    match Supervisor::start(brief) {
        Ok(supervisor) => {
            let told = channel.send(&SupervisorAnswer::Started(supervisor.record.clone()), None);
            drop(channel);
            let detached = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(&null)?));
            // A starter that is gone cannot be told; the process is on record all the same.
            let _starter_gone = told.and(detached);
            Exit::failed_if(supervisor.keep().is_err())
        }
        Err(failure) => {
            let _starter_gone = channel.send(&SupervisorAnswer::Failed(failure.into_parts()), None);
            Exit::FAILED
        }
    }
}

struct Supervisor {
    found: LocalBox,
    record: ProcessRecord,
    entry: BoxProcess,
    _lock: Lock,
    listener: UnixListener,
    /// The terminal's master, or stdout and stderr; those that have ended are gone.
    sources: Vec<(OutputStream, File)>,
    /// The terminal's master, or stdin.
    sink: Option<File>,
    input: VecDeque<u8>,
    input_ended: bool,
    ring: Ring,
    /// The modes that output has set which is kept no more.
    dropped: Modes,
    /// The screen as it is, of a program on a terminal.
    model: Option<Model>,
    /// A terminal has shown it: what was asked until then was answered there.
    shown: bool,
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
        let mut found = BoxStore::at(brief.boxes).live(&brief.reference)?;
        let mut record = brief.record;
        let id = record.process_id.clone();
        let lock_file = record::file(&found, &id, "lock");
        let lock = Lock::wait(&lock_file)?;
        record.socket = socket::path(&id)?;
        let listener = socket::listen(&record.socket)?;
        let task = Task::Run { argv: brief.argv, cwd: brief.cwd, terminal: brief.terminal };
        let started =
            enter::enter(&mut found, brief.env, task, brief.terminal.is_none(), RunPurpose::Process);
        let undo = || {
            let _nothing_to_lose = std::fs::remove_file(&record.socket);
            let _nothing_to_lose = std::fs::remove_file(&lock_file);
        };
        let mut entry = match started {
            Ok(Start::Running(entry)) => *entry,
            Ok(Start::NotStarted { what, errno }) => {
                undo();
                let system = io::Error::from_raw_os_error(errno);
                return Err(Error::failed(format!("could not {what} in the box: {system}")).into());
            }
            Err(failure) => {
                undo();
                return Err(failure);
            }
        };
        record.pid = entry.pid;
        record.save(&found)?;
        let idle = pause::time_left(&found)?.map(|left| Instant::now() + pause::next_look(left));
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
            model: brief.terminal.and_then(Model::new),
            shown: false,
            served: Vec::new(),
            size: brief.terminal,
            nudge: None,
            doom: None,
            idle,
            touched: Instant::now(),
            end: None,
        })
    }

    fn keep(mut self) -> failure::Result<()> {
        while self.end.is_none() || !self.sources.is_empty() {
            self.turn().map_err(|source| Error::failed(format!("poll: {source}")))?;
        }
        let finished = self.finish();
        let _gone_with_its_box = std::fs::remove_file(&self.record.socket);
        let deadline = Instant::now() + FAREWELL;
        let end = frame(FrameKind::End, &serde_json::to_vec(&self.end).unwrap_or_default());
        self.served.iter_mut().for_each(|client| client.finish(&end));
        while Instant::now() < deadline && self.served.iter().any(|client| client.has_more(&self.ring)) {
            self.turn().map_err(|source| Error::failed(format!("poll: {source}")))?;
        }
        finished
    }

    /// The log and the record; both are gone when the box was deleted meanwhile.
    fn finish(&mut self) -> failure::Result<()> {
        self.record.finished_at = Some(crate::local::boxes::meta::now());
        self.record.end = self.end;
        self.record.output = self.output();
        let path = record::file(&self.found, &self.record.process_id, "log");
        let mut log = frame(FrameKind::Lost, &self.ring.oldest().to_le_bytes());
        let mut place = self.ring.oldest();
        while let Some((stream, bytes)) = self.ring.read(place, 512 * 1024) {
            place += bytes.len() as u64;
            log.extend(frame(kind(stream), &bytes));
        }
        crate::fs::write_atomic(&path, &log, crate::fs::Mode::Private)?;
        self.record.save(&self.found)
    }

    fn output(&self) -> record::KeptOutput {
        let (oldest_seq, newest_seq) = (self.ring.oldest(), self.ring.newest());
        record::KeptOutput { oldest_seq, newest_seq, bytes: newest_seq - oldest_seq }
    }

    /// Input and output are activity.
    fn touch(&mut self) {
        if self.idle.is_some() && self.touched.elapsed() > Duration::from_secs(1) {
            self.touched = Instant::now();
            let _gone_with_its_box = pause::touch(&self.found);
        }
    }

    /// Pauses the box if nothing was done in it. On a thread of its own: pausing speaks to every
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
        self.idle = Some(Instant::now() + pause::next_look(wait));
    }

    fn hear(&mut self) {
        match self.entry.event() {
            Ok(Some(Event::Ended(end))) => self.end = Some(end),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => self.end = Some(End::Signal(libc::SIGKILL)),
        }
        if let (Some(_), Some(words)) = (self.end, self.entry.network_lost()) {
            self.print(OutputStream::Out, format!("\r\ncreateos-sandbox: {words}\r\n").as_bytes());
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
                self.print(stream, &buffer[..count]);
                true
            }
            // EIO is how a terminal ends.
            Err(error) => matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock),
        }
    }

    /// Keeps output, for those who are attached and those who will be.
    fn print(&mut self, stream: OutputStream, bytes: &[u8]) {
        if let Some(model) = &mut self.model {
            model.feed(bytes);
        }
        let dropped = self.ring.push(stream, bytes);
        self.served.iter_mut().for_each(|client| client.overtaken(&self.ring, dropped.len()));
        self.dropped.feed(&dropped);
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
}

fn kind(stream: OutputStream) -> FrameKind {
    match stream {
        OutputStream::Out => FrameKind::Out,
        OutputStream::Err => FrameKind::Err,
    }
}

/// Where output comes from and where input goes, none of which may ever block.
fn plumb(entry: &mut BoxProcess) -> io::Result<(Vec<(OutputStream, File)>, File)> {
    let calm = |fd: OwnedFd| -> io::Result<File> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(File::from(fd))
    };
    if let Some(master) = entry.terminal.take() {
        let master = calm(master)?;
        return Ok((vec![(OutputStream::Out, master.try_clone()?)], master));
    }
    let missing = || io::Error::other("a program without a terminal has pipes");
    let out = calm(entry.stdout.take().ok_or_else(missing)?.into())?;
    let err = calm(entry.stderr.take().ok_or_else(missing)?.into())?;
    let sink = calm(entry.stdin.take().ok_or_else(missing)?.into())?;
    Ok((vec![(OutputStream::Out, out), (OutputStream::Err, err)], sink))
}
