//! The first process on the way in: makes the namespaces, maps the uid, starts PID 1, waits for it.

use super::super::wire::channel::Channel;
use super::super::wire::spec::{Errand, Event, Order, Refused, Step};
use super::outcome::{During, Isolated};
use super::sys::{self, Fork};
use super::{init, namespaces, network};
use rustix::process::{Pid, Signal, WaitOptions};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Entry point of the hidden `local enter`: stdin is the socket to the starter, stdout and stderr are
/// the program's, the current folder is the box's root.
pub(crate) fn main() -> u8 {
    match enter() {
        Ok(()) => 0,
        // Nobody is there to be told.
        Err(_starter_gone) => 1,
    }
}

fn enter() -> std::io::Result<()> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let number = socket.as_raw_fd().cast_unsigned();
    if number > 3 {
        sys::close_range(3, number - 1)?;
    }
    sys::close_range(number + 1, u32::MAX)?;
    let channel = Channel::from_fd(socket);
    let (order, stdin) = match channel.receive::<Errand>()? {
        Some((Errand::Enter(order), stdin)) => (order, stdin),
        Some((Errand::Network(order), _)) => {
            return channel
                .send(&network::make(&channel, &order).map_or_else(Event::Refused, |()| Event::Ready), None);
        }
        None => return Ok(()),
    };
    // Opened before there is a PID 1, which changes what this path leads to for both of us.
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    match start(&channel, &order, stdin) {
        Ok(Some(init)) => wait(init, &channel, &null),
        Ok(None) => Ok(()),
        Err(refused) => channel.send(&Event::Refused(refused), None),
    }
}

/// `Some` in the waiting parent, `None` in a PID 1 that has done its work.
fn start(channel: &Channel, order: &Order, stdin: Option<OwnedFd>) -> Isolated<Option<Pid>> {
    namespaces::of_an_entry(order)?;
    follow(order.starter)?;
    let (alive, watch) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map(|(read, write)| (write, read))
        .during(Step::Setup, "pipe")?;
    match sys::fork().during(Step::Namespaces, "fork")? {
        Fork::Child => {
            drop(alive);
            init::main(channel, order, stdin, watch.as_fd());
            Ok(None)
        }
        Fork::Parent(pid) => {
            // The write end lives as long as this process: PID 1 sees through it whether we still do.
            std::mem::forget(alive);
            Ok(Some(pid))
        }
    }
}

/// Makes this process end with its starter; it has to be its child still.
fn follow(starter: i32) -> Isolated<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).during(Step::Setup, "prctl")?;
    if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(starter) {
        return Err(Refused { step: Step::Setup, detail: "the starter is gone".into(), errno: libc::ESRCH });
    }
    Ok(())
}

/// Holds nothing of the program's, tells the host who PID 1 is, and ends with it.
fn wait(init: Pid, channel: &Channel, null: &std::fs::File) -> std::io::Result<()> {
    rustix::stdio::dup2_stdin(null)?;
    rustix::stdio::dup2_stdout(null)?;
    rustix::stdio::dup2_stderr(null)?;
    channel.send(&Event::Entered { init: init.as_raw_nonzero().get() }, None)?;
    while let Err(rustix::io::Errno::INTR) = rustix::process::waitpid(Some(init), WaitOptions::empty()) {}
    Ok(())
}
