//! The relay: a program on a terminal of ours, between it and the pane. Its three streams share that terminal, so
//! that all it shows keeps its order; the size, what is typed and what is shown pass through byte by byte. What
//! of old output would act again is taken out, and the words with which an attach says that it was detached are
//! heard. A process of its own, since Herdr looks for the agent among the programs of the pane's terminal.

mod old_output;
mod parting;
mod signals;
mod terminal;

pub(crate) use signals::Signals;

use crate::error::{Error, Result};
use crate::exec::{ExecError, Run, tell_group};
use crate::exit::Exit;
use crate::ui::terminal::{Raw, make_room};
use old_output::OldOutput;
use parting::Parting;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use signal_hook::consts::SIGCHLD;
use std::ffi::OsString;
use std::fs::File;
use std::io::IsTerminal;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use terminal::Keys;

/// What a program left may still be on its way for so long; what it started itself may hold the terminal longer.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Runs a program, and gives its exit code, or [`Exit::DETACHED`]. `old` is how many bytes of what it shows first have
/// been shown before; `None`: all of it is new. Without a terminal it becomes the program.
///
/// # Errors
/// The program cannot be started, or the terminal fails.
pub(crate) fn run(old: Option<u64>, argv: &[OsString]) -> Result<Exit> {
    let [program, args @ ..] = argv else { return Err(Error::usage("the relay needs a program")) };
    let run = Run::new(program).args(args);
    let name = program.to_string_lossy().into_owned();
    let unstarted =
        |source| Error::failed(format!("could not start {}: {source}", crate::ui::visible(&name)));
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(match run.replace(None) {
            ExecError::Start { source, .. } => unstarted(source),
            other => other.into(),
        });
    }
    let failed = |source: std::io::Error| Error::failed(format!("could not show the program: {source}"));
    let signals = Signals::catch(&[SIGCHLD]).map_err(failed)?;
    let (master, child) = terminal::start(run).map_err(unstarted)?;
    let raw = Raw::for_a_program().map_err(failed)?;
    // Only now: until then the terminal echoed what was typed, which moves the cursor.
    make_room();
    let shown = show(master.try_clone().map_err(failed)?, old);
    let status = pass(&master, child, &signals).map_err(failed)?;
    let detached = shown.recv_timeout(LAST_WORDS).is_ok_and(|parting| parting.is_said());
    drop(raw);
    let code = status.and_then(|status| status.code());
    Ok(match code.map_or(Exit::FAILED, Exit::of_program) {
        _ if detached => Exit::DETACHED,
        Exit::DETACHED => Exit::FAILED,
        code => code,
    })
}

/// Passes on what is typed, and the size, until the program ends or we are told to. `None`: we were told to.
fn pass(master: &File, mut child: Child, signals: &Signals) -> std::io::Result<Option<ExitStatus>> {
    let mut keys = Keys::default();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if signals.ending().is_some() || keys.is_gone() {
            // Its terminal goes with us: that is how a program learns of it.
            tell_group(&child, Signal::HUP);
            return Ok(None);
        }
        let stdin = std::io::stdin();
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::OUT, keys.is_waiting());
        let mut fds = [
            PollFd::new(signals, PollFlags::IN),
            PollFd::new(master, wanted),
            PollFd::new(&stdin, if keys.has_room() { PollFlags::IN } else { PollFlags::empty() }),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let [signal, out, input] = fds.map(|fd| fd.revents());
        if !signal.is_empty() {
            signals.take();
            terminal::follow_size(master);
        }
        if !input.is_empty() {
            keys.take();
        }
        if out.contains(PollFlags::OUT) || !input.is_empty() {
            keys.give(master);
        }
        if out.intersects(PollFlags::HUP | PollFlags::ERR) && !out.contains(PollFlags::OUT) {
            // Its last descriptor is closed: the end follows at once, and its signal with it.
            let wait = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _signalled = poll(&mut [PollFd::new(signals, PollFlags::IN)], Some(&wait));
        }
    }
}

/// Shows what comes, on a thread of its own: a pane that takes its time must not keep what is typed.
fn show(mut master: File, old: Option<u64>) -> Receiver<Parting> {
    let (done, shown) = channel();
    std::thread::spawn(move || {
        let mut parting = Parting::default();
        let mut old = old.map(|bytes| OldOutput::new(bytes, Instant::now()));
        let mut buffer = vec![0; 64 * 1024];
        let mut passed = Vec::new();
        while let Some(count) = terminal::read(&mut master, &mut buffer, old.is_some()) {
            let bytes = match &mut old {
                Some(filter) => {
                    passed.clear();
                    filter.pass(&buffer[..count], Instant::now(), &mut passed);
                    &passed
                }
                None => &buffer[..count],
            };
            if old.as_ref().is_some_and(|old| old.is_over(Instant::now())) {
                old = None;
            }
            parting.hear(bytes);
            if crate::ui::raw(bytes).is_err() {
                break;
            }
        }
        let _gone = done.send(parting);
    });
    shown
}
