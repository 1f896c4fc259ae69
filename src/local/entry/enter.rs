//! The host's side of a box process: starts it, gives it its order, hears what became of it.

use super::hidden;
use super::spawn::{Shared, spawn};
use crate::error::Error;
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::running::{self, RunPurpose, RunningRecord};
use crate::local::boxes::{pause, refusal};
use crate::local::failure::Result;
use crate::local::keeper::lease::{self, Lease};
use crate::local::keeper::log::NetworkLog;
use crate::local::wire::channel::Channel;
use crate::local::wire::spec::{Bytes, Command as Word, End, Errand, Event, Network, Order, Task};
use crate::ui::terminal::Size;
use rustix::process::Pid;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Stdio};

#[derive(Debug)]
pub(crate) struct BoxProcess {
    /// Messages to and from its PID 1.
    pub(crate) channel: Channel,
    /// The program's stdin, when it was asked for.
    pub(crate) stdin: Option<PipeWriter>,
    /// The program's stdout; `None` with a terminal.
    pub(crate) stdout: Option<PipeReader>,
    /// The program's stderr; `None` with a terminal.
    pub(crate) stderr: Option<PipeReader>,
    pub(crate) terminal: Option<OwnedFd>,
    /// Its process id in the box.
    pub(crate) pid: i32,
    stage: Child,
    _registered: Option<RunningRecord>,
    /// Its part in the box's own network.
    lease: Option<Lease>,
}

const NETWORK_LOST: &str = "what kept the network of the box has ended, and with it every program in the box";

/// What became of an attempt to start a program.
pub(crate) enum Start {
    Running(Box<BoxProcess>),
    /// The isolation stands, but this program cannot be started in it.
    NotStarted {
        what: String,
        errno: i32,
    },
}

/// Enters a box that is running. Call it from the main thread: the box process dies with the thread
/// that has started it.
///
/// # Errors
/// The box is not running, or the machine refuses the isolation.
pub(crate) fn enter(
    found: &mut LocalBox,
    env: Vec<(Bytes, Bytes)>,
    task: Task,
    input: bool,
    purpose: RunPurpose,
) -> Result<Start> {
    let mut order = Order {
        hostname: found.meta.name.as_str().to_owned(),
        network: needed(&task, found.meta.network()),
        nested: found.meta.nested,
        limits: found.meta.shape.limits(),
        name_server: None,
        covered: hidden::folders(found.folder().parent().unwrap_or(found.folder()))?,
        env,
        starter: std::process::id().cast_signed(),
        task,
    };
    let lock = found.lock()?;
    found.refresh()?;
    found.must_run()?;
    let (lease, shared) = match order.network {
        Network::Own => {
            let (lease, shared) = lease::take(found)?;
            order.name_server = Some(lease::name_server(NetworkLog::read(found.folder()).transparent));
            (Some(lease), Some(shared))
        }
        Network::Host | Network::None => (None, None),
    };
    let (mut entry, init) = begin(&found.root(), found.meta.uid, shared, order, input)?;
    if let Some(lease) = &lease {
        let bound = lease.bind(Pid::from_child(&entry.stage));
        bound.map_err(|source| Error::failed(format!("could not watch the box's network: {source}")))?;
    }
    entry.lease = lease;
    let (registered, control) = running::register(found, init, purpose)?;
    entry._registered = Some(registered);
    pause::touch(found)?;
    drop(lock);
    go(entry, Some(control))
}

/// The network that a task needs: a file comes home without any, also where none can be had.
fn needed(task: &Task, network: Network) -> Network {
    match (task, network) {
        (Task::Push { .. } | Task::Pull { .. }, Network::Own) => Network::None,
        (_, network) => network,
    }
}

/// Whether this machine isolates: everything is done, nothing is kept.
///
/// # Errors
/// It does not; the error says why.
pub(crate) fn probe(root: &Path, uid: Option<u32>, shared: Option<Shared>, order: Order) -> Result<Start> {
    let (entry, _init) = begin(root, uid, shared, order, false)?;
    go(entry, None)
}

fn begin(
    root: &Path,
    uid: Option<u32>,
    shared: Option<Shared>,
    order: Order,
    input: bool,
) -> Result<(BoxProcess, Pid)> {
    let terminal = matches!(order.task, Task::Run { terminal: Some(Size { .. }), .. });
    let wrong =
        |what: &'static str| move |source: io::Error| Error::failed(format!("could not {what}: {source}"));
    let (ours, theirs) = Channel::pair().map_err(wrong("make a socket"))?;
    let mut streams = [None, None];
    let mut ends = [Stdio::null(), Stdio::null()];
    if !terminal {
        for (stream, end) in streams.iter_mut().zip(&mut ends) {
            let (reader, writer) = io::pipe().map_err(wrong("make a pipe"))?;
            *stream = Some(reader);
            *end = writer.into();
        }
    }
    let [out, err] = ends;
    let stage = spawn(root, uid, shared, theirs, out, err)?;
    let [stdout, stderr] = streams;
    let (their_stdin, stdin) = match input {
        true => io::pipe().map(|(reader, writer)| (Some(OwnedFd::from(reader)), Some(writer))),
        false => Ok((None, None)),
    }
    .map_err(wrong("make a pipe"))?;
    let mut entry = BoxProcess {
        channel: ours,
        stdin,
        stdout,
        stderr,
        terminal: None,
        pid: 0,
        stage,
        _registered: None,
        lease: None,
    };
    {
        let fd = their_stdin.as_ref().map(AsFd::as_fd);
        entry.channel.send(&Errand::Enter(order), fd).map_err(wrong("give the box its order"))?;
    }
    // PID 1 and the process that waits for it speak at the same time.
    let (mut init, mut ready) = (None, false);
    while init.is_none() || !ready {
        match entry.event()? {
            Some(Event::Entered { init: pid }) => init = Pid::from_raw(pid),
            Some(Event::Ready) => ready = true,
            Some(Event::Refused(refused)) => return Err(refusal::explain(&refused).into()),
            other => return Err(entry.silent(other)),
        }
    }
    let init = init.expect("the loop ends with an id");
    Ok((entry, init))
}

fn go(mut entry: BoxProcess, control: Option<OwnedFd>) -> Result<Start> {
    entry.send_with(&Word::Go, control.as_ref().map(AsFd::as_fd))?;
    // From now on only PID 1 listens.
    drop(control);
    let (event, fd) = entry.event_with_fd()?;
    match event {
        Some(Event::Started { pid }) => {
            entry.pid = pid;
            entry.terminal = fd;
            Ok(Start::Running(Box::new(entry)))
        }
        Some(Event::NotStarted { what, errno }) => Ok(Start::NotStarted { what, errno }),
        Some(Event::Refused(refused)) => Err(refusal::explain(&refused).into()),
        other => Err(entry.silent(other)),
    }
}

impl BoxProcess {
    /// Sends a word to PID 1.
    pub(crate) fn send(&self, word: &Word) -> Result<()> {
        self.send_with(word, None)
    }

    fn send_with(&self, word: &Word, fd: Option<BorrowedFd<'_>>) -> Result<()> {
        let sent = self.channel.send(word, fd);
        Ok(sent.map_err(|source| Error::failed(format!("the box process does not listen: {source}")))?)
    }

    /// Waits for the next event; `None` when everything in there is gone.
    pub(crate) fn event(&self) -> Result<Option<Event>> {
        Ok(self.event_with_fd()?.0)
    }

    fn event_with_fd(&self) -> Result<(Option<Event>, Option<OwnedFd>)> {
        match self.channel.receive() {
            Ok(Some((event, fd))) => Ok((Some(event), fd)),
            Ok(None) => Ok((None, None)),
            // A PID 1 that was killed with unread words of ours resets the socket.
            Err(source) if source.kind() == io::ErrorKind::ConnectionReset => Ok((None, None)),
            Err(source) => Err(Error::failed(format!("the box process cannot be heard: {source}")).into()),
        }
    }

    /// Waits until the program has ended. One whose PID 1 was killed has been killed with it.
    pub(crate) fn wait(&self) -> Result<End> {
        loop {
            match self.event()? {
                Some(Event::Ended(end)) => return Ok(end),
                Some(_) => {}
                None => return Ok(End::Signal(libc::SIGKILL)),
            }
        }
    }

    /// What to say about its end when that is the end of its box's network.
    pub(crate) fn network_lost(&self) -> Option<&'static str> {
        self.lease.as_ref().filter(|lease| lease.is_lost()).map(|_| NETWORK_LOST)
    }

    /// Kills everything in there.
    pub(crate) fn kill(&mut self) {
        let _already_gone = self.stage.kill();
    }

    fn silent(&mut self, event: Option<Event>) -> crate::local::failure::Failure {
        let status = self.stage.try_wait().ok().flatten();
        let what = match (event, status) {
            (Some(event), _) => format!("{event:?}"),
            (None, Some(status)) => status.to_string(),
            (None, None) => "the connection was closed".into(),
        };
        Error::failed("the box process ended before it had begun").fact("reason", what).into()
    }
}

impl Drop for BoxProcess {
    /// Nothing outlives its entry: with the first process goes PID 1, and with that the rest.
    fn drop(&mut self) {
        let _already_gone = self.stage.kill();
        let _reaped = self.stage.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_in_and_out_without_a_network() {
        let run = Task::Run { argv: vec![], cwd: vec![], terminal: None };
        let (push, pull) = (Task::Push { path: vec![] }, Task::Pull { path: vec![] });
        for network in [Network::Own, Network::Host, Network::None] {
            assert_eq!(needed(&run, network), network);
        }
        assert_eq!([needed(&push, Network::Own), needed(&pull, Network::Own)], [Network::None; 2]);
        assert_eq!(needed(&pull, Network::Host), Network::Host);
    }
}
