//! PID 1 of a box: builds the isolation, starts the program, reaps, passes signals and the end on.

use super::super::wire::channel::Channel;
use super::super::wire::spec::{AWAKE, Command, End, Event, Network, Order, Step, Task};
use super::child::{self, Stdio};
use super::freezer::Freezer;
use super::outcome::{During, Isolated};
use super::{confine, limits, root, sys};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Runs until the program has ended; then the namespace ends with this process.
pub(super) fn main(channel: &Channel, order: &Order, stdin: Option<OwnedFd>, parent: BorrowedFd<'_>) {
    let built = build(order, parent);
    let told = match built {
        Ok(()) => serve(channel, order, stdin),
        Err(refused) => channel.send(&Event::Refused(refused), None),
    };
    // The host is gone: so is its interest in this box process.
    let _host_gone = told;
}

fn build(order: &Order, parent: BorrowedFd<'_>) -> Isolated<()> {
    let _own_session = rustix::process::setsid();
    let _cosmetic = rustix::thread::set_name(AWAKE);
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    sys::set_hostname(&order.hostname).during(Step::Setup, "sethostname")?;
    if order.network == Network::None {
        sys::loopback_up().during(Step::Setup, "loopback")?;
    }
    let mounts = limits::MountLimit::open();
    root::build(order)?;
    if !order.nested {
        mounts.set();
    }
    limits::memory(order.limits.memory_mib)?;
    confine::confine(order.nested)?;
    // Changing credentials forgets the death signal, so it comes last.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).during(Step::Setup, "prctl")?;
    let mut gone = [PollFd::from_borrowed_fd(parent, PollFlags::IN)];
    poll(&mut gone, Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 })).during(Step::Setup, "poll")?;
    if gone[0].revents().is_empty() {
        Ok(())
    } else {
        Err(Errno::SRCH).during(Step::Setup, "the starter is gone")
    }
}

fn serve(channel: &Channel, order: &Order, stdin: Option<OwnedFd>) -> io::Result<()> {
    channel.send(&Event::Ready, None)?;
    let Some((Command::Go, control)) = channel.receive::<Command>()? else { return Ok(()) };
    let (mut wake, handler) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(libc::SIGCHLD, handler)?;

    let terminal = match &order.task {
        Task::Run { terminal: Some(size), .. } => match child::Terminal::open(*size) {
            Ok(terminal) => Some(terminal),
            Err(error) => return not_started(channel, "open a terminal", &error),
        },
        _ => None,
    };
    let stdio = Stdio { stdin, terminal: terminal.as_ref() };
    let leader = match child::start(order, stdio) {
        Ok(leader) => leader,
        Err(child::NotStarted { what, error }) => return not_started(channel, &what, &error),
    };
    forget_stdio()?;
    let started = Event::Started { pid: leader.as_raw_nonzero().get() };
    channel.send(&started, terminal.as_ref().map(child::Terminal::master))?;
    drop(terminal);

    let mut freezer = Freezer::default();
    loop {
        let mut ready = vec![
            PollFd::from_borrowed_fd(channel.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
        ];
        ready.extend(control.iter().map(|control| PollFd::new(control, PollFlags::IN)));
        match poll(&mut ready, freezer.wait().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let (order_came, signal_came) = (!ready[0].revents().is_empty(), !ready[1].revents().is_empty());
        if signal_came {
            let mut bytes = [0; 64];
            while wake.read(&mut bytes).is_ok_and(|count| count > 0) {}
            if let Some(end) = reap(leader) {
                return channel.send(&Event::Ended(end), None);
            }
        }
        let mut words = [0; 64];
        if let Some(control) = &control
            && let Ok(count) = rustix::io::read(control, &mut words)
        {
            words[..count].iter().for_each(|word| freezer.obey(*word));
        }
        freezer.turn();
        if order_came {
            match channel.receive::<Command>()? {
                None => return Ok(()),
                Some((Command::Signal(number), _)) => {
                    if let Some(signal) = Signal::from_named_raw(number) {
                        let _gone = rustix::process::kill_process_group(leader, signal);
                    }
                }
                Some((Command::Go, _)) => {}
            }
        }
    }
}

fn not_started(channel: &Channel, what: &str, error: &io::Error) -> io::Result<()> {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    channel.send(&Event::NotStarted { what: what.into(), errno }, None)
}

/// The program's pipes are the program's alone: their other ends must see when it closes them.
fn forget_stdio() -> io::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

/// Takes every ended child; `Some` when the program itself is among them.
fn reap(leader: Pid) -> Option<End> {
    let mut end = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == leader {
            end = Some(ended(status));
        }
    }
    end
}

fn ended(status: WaitStatus) -> End {
    match status.terminating_signal() {
        Some(signal) => End::Signal(signal),
        None => End::Code(status.exit_status().unwrap_or(1)),
    }
}
