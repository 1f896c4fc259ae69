//! The keeper: makes the network of a box, lets entries join it, serves its way out, and ends with the last entry. When it
//! cannot serve any more it ends, and with it everything in the box: the network never opens.

use super::confine::confine;
use super::lease::socket;
use super::log::NetworkLog;
use super::make::{self, Made};
use super::protocol::{Brief, Hand, KeeperAnswer, SOCKET};
use crate::error::{Error, IoContext};
use crate::exit::Exit;
use crate::fs::Lock;
use crate::local::boxes::local_box::KEEPER_LOCK;
use crate::local::boxes::running;
use crate::local::entry::environment;
use crate::local::entry::spawn::Shared;
use crate::local::failure::Result;
use crate::local::wire::channel::Channel;
use crate::local::wire::spec::NetworkOrder;
use crate::network::{self, Engine, Refusals, Way};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So long the entry for which it was started may take to come.
const FIRST: Duration = Duration::from_secs(10);
/// So long an earlier one may be on its way out. Who waits for us has the box's lock.
const EARLIER: Duration = Duration::from_secs(10);
/// Between two tries to end while somebody has the box's lock, who may be about to enter.
const AGAIN: Duration = Duration::from_millis(20);

/// Entry point of the hidden `local keep`.
pub(crate) fn main() -> Exit {
    let _older_kernel = crate::local::inside::close_inherited();
    let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3);
    let Ok(channel) = stdin.map(Channel::from_fd) else { return Exit::UNUSABLE };
    let Ok(Some((brief, _))) = channel.receive::<Brief>() else { return Exit::UNUSABLE };
    match Keeper::start(brief) {
        Ok(keeper) => {
            let told = channel.send(&KeeperAnswer::Keeps, None);
            drop(channel);
            let detached = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(&null)?));
            // A starter that is gone takes no lease.
            let _starter_gone = told.and(detached);
            Exit::failed_if(keeper.keep().is_err())
        }
        Err(failure) => {
            let _starter_gone = channel.send(&KeeperAnswer::Failed(failure.into_parts()), None);
            Exit::FAILED
        }
    }
}

struct Keeper {
    /// The box's, by a descriptor of it.
    folder: PathBuf,
    _place: OwnedFd,
    listener: UnixListener,
    shared: Shared,
    leases: Vec<UnixStream>,
    /// What was on record when it began; what comes since is from the engine.
    before: NetworkLog,
    refusals: Receiver<Refusals>,
    /// Ready to read when something has come.
    bell: Arc<OwnedFd>,
    /// Nothing is said there: it is closed when the engine has ended, however.
    engine: OwnedFd,
    /// Closed, it ends the engine.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    _lock: Lock,
}

impl Keeper {
    fn start(brief: Brief) -> Result<Self> {
        let wrong = |source: io::Error| Error::failed(format!("could not keep the box's network: {source}"));
        let path = brief.folder.join(KEEPER_LOCK);
        let lock = Lock::take_within(&path, EARLIER)?.ok_or_else(|| held(&path))?;
        running::sign(&lock);
        let rules = environment::rules(&brief.egress)?;
        let variable = |name: &str| {
            brief.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let way = Way::from_variables(variable).map_err(|words| {
            let help = "unset it for this command, or make the box with --network host";
            Error::cannot_run(words).help(help)
        })?;
        let order = NetworkOrder { proxy: network::proxy(&rules), localhost: network::localhost(&rules) };
        let Made { shared, doors, wire } = make::make(&brief.folder.join("root"), brief.uid, order)?;
        let log =
            NetworkLog { via: way.words(), transparent: wire.is_some(), ..NetworkLog::read(&brief.folder) };
        log.write(&brief.folder)?;
        raise_files();
        let listener = listen(&brief.folder)?;
        let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(io::Error::from)
            .map_err(wrong)?;
        let (engine, ended) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(io::Error::from)
            .map_err(wrong)?;
        let (tell, refusals) = mpsc::channel();
        let bell = Arc::new(
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                .map_err(io::Error::from)
                .map_err(wrong)?,
        );
        let ring = Arc::clone(&bell);
        let setup = network::Setup {
            rules,
            way,
            lookup: Arc::new(network::system),
            doors,
            wire,
            // Written by another thread: no packet of the box waits for the disk.
            told: Box::new(move |refusals: &Refusals| {
                let _heard_by_nobody = tell.send(refusals.clone());
                let _full_means_rung = rustix::io::write(&ring, &1_u64.to_ne_bytes());
            }),
            stop: stopped,
        };
        // The box's folder is found by what it is from here on: nothing more is asked of the way to it.
        let place = folder_of(&brief.folder)?;
        let folder = PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()));
        confine(&brief.folder)?;
        let served = Engine::new(setup).map_err(wrong)?;
        let serve = move || {
            let _until_the_end = ended;
            let _said_by_ending = served.run();
        };
        let thread = std::thread::Builder::new().name("network".into()).spawn(serve).map_err(wrong)?;
        Ok(Self {
            folder,
            _place: place,
            listener,
            shared,
            leases: Vec::new(),
            before: log,
            refusals,
            bell,
            engine,
            stop: Some(stop),
            thread: Some(thread),
            _lock: lock,
        })
    }

    fn keep(mut self) -> Result<()> {
        let patience = Instant::now() + FIRST;
        let mut came = false;
        loop {
            let wait = match (came, self.leases.is_empty()) {
                (true, true) => Some(AGAIN),
                (false, true) => Some(patience.saturating_duration_since(Instant::now()).max(AGAIN)),
                _ => None,
            };
            if !self.turn(wait).map_err(|source| Error::failed(format!("poll: {source}")))? {
                self.write_log();
                return Err(Error::failed("the way out has ended").into());
            }
            came |= !self.leases.is_empty();
            if self.leases.is_empty() && (came || Instant::now() >= patience) && self.may_end() {
                // What it has refused last is told at its end.
                self.stop = None;
                let _panicked = self.thread.take().map(JoinHandle::join);
                self.write_log();
                return Ok(());
            }
        }
    }

    /// Waits for something; false when the engine has ended.
    fn turn(&mut self, wait: Option<Duration>) -> io::Result<bool> {
        let own = [self.listener.as_fd(), self.engine.as_fd(), self.bell.as_fd()];
        let mut fds: Vec<_> = own.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        fds.extend(self.leases.iter().map(|lease| PollFd::new(lease, PollFlags::IN)));
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        match poll(&mut fds, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let is_ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        if is_ready[1] {
            return Ok(false);
        }
        // Nobody says anything: what comes is the end.
        let mut over = is_ready[own.len()..].iter().copied();
        self.leases.retain(|_| !over.next().unwrap_or(false));
        if is_ready[2] {
            self.write_log();
        }
        if is_ready[0] {
            self.accept();
        }
        Ok(true)
    }

    /// Puts on record what has been refused. Each word of the engine holds all earlier ones.
    fn write_log(&self) {
        let _empty = rustix::io::read(&self.bell, &mut [0; 8]);
        if let Some(refusals) = self.refusals.try_iter().last() {
            let refusals = self.before.refusals.clone().and(&refusals);
            let _gone_with_its_box = NetworkLog { refusals, ..self.before.clone() }.write(&self.folder);
        }
    }

    fn accept(&mut self) {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Out of descriptors or memory: who has come still waits, and this must not run in circles.
                Err(_) => return std::thread::sleep(AGAIN),
            };
            // Whatever the folder's mode says.
            let peer = rustix::net::sockopt::socket_peercred(&stream).map(|peer| peer.uid);
            if !peer.is_ok_and(|peer| peer == rustix::process::geteuid() || peer.is_root()) {
                continue;
            }
            let give = || {
                let channel = Channel::from_fd(stream.try_clone()?.into());
                channel.send(&Hand::User, Some(self.shared.user.as_fd()))?;
                channel.send(&Hand::Net, Some(self.shared.net.as_fd()))
            };
            if give().is_ok() {
                self.leases.push(stream);
            }
        }
    }

    /// Whether nobody is about to come: who has the box's lock may be. The box may be gone.
    fn may_end(&mut self) -> bool {
        match Lock::try_take(&self.folder.join("lock")) {
            Ok(None) => false,
            Ok(Some(_lock)) => {
                self.accept();
                let ends = self.leases.is_empty();
                if ends {
                    let _gone = std::fs::remove_file(self.folder.join(SOCKET));
                }
                ends
            }
            Err(_) => true,
        }
    }
}

/// An earlier keeper neither serves nor ends.
fn held(lock: &Path) -> Error {
    let error = Error::failed("what keeps the box's network does not answer, and does not end");
    match running::holder(lock) {
        Some((pid, _)) => error.help(format!(
            "if it is stopped, continue it: kill -CONT {pid}; kill {pid} ends it, and every program in the box",
            pid = pid.as_raw_nonzero()
        )),
        None => error.help("try again"),
    }
}

/// Listens in the box's folder, into which only this user comes.
fn listen(folder: &Path) -> Result<UnixListener> {
    let place = folder_of(folder)?;
    // Of one that was killed; we have its lock.
    let _not_there = std::fs::remove_file(folder.join(SOCKET));
    let listener = UnixListener::bind(socket(&place)).at("listen in", folder)?;
    listener.set_nonblocking(true).at("listen in", folder)?;
    Ok(listener)
}

fn folder_of(path: &Path) -> Result<OwnedFd> {
    let place = rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    Ok(place.at("open", path)?)
}

/// A connection takes two descriptors.
fn raise_files() {
    let limit = getrlimit(Resource::Nofile);
    let _as_many_as_there_were = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
