//! What crosses the boundary: the order that goes into a box, and what comes out of it.

pub(crate) use crate::config::Network;

use crate::ui::terminal::Size;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// Bytes that need not be UTF-8: a path, an argument, a variable.
pub(crate) type Bytes = Vec<u8>;

/// What the first process on the way in is started for; sent once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Errand {
    /// Run something in a box.
    Enter(Order),
    /// Make the namespaces that the entries of a box join, and hand them out.
    Network(NetworkOrder),
}

/// What is in the network of a box.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NetworkOrder {
    /// Where programs find the proxy, on the box's loopback.
    pub(crate) proxy: u16,
    /// Ports of the host's loopback that the box finds on its own.
    pub(crate) localhost: Vec<u16>,
}

/// A part of a box's network; its descriptor comes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    /// The user namespace to which the network belongs.
    User,
    /// The network namespace.
    Net,
    /// The proxy's listener.
    Proxy,
    /// A listener for this port of the host's loopback.
    Localhost(u16),
    /// The device by which the box's packets come out, where there can be one.
    Wire,
}

/// Everything that the inside needs to know, sent once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) hostname: String,
    pub(crate) network: Network,
    /// Programs in it may make namespaces of their own.
    pub(crate) nested: bool,
    pub(crate) limits: Limits,
    /// Who looks names up for a box with a network of its own.
    pub(crate) name_server: Option<Ipv4Addr>,
    /// Folders among the host's programs that the box sees empty: real paths.
    pub(crate) covered: Vec<Bytes>,
    pub(crate) env: Vec<(Bytes, Bytes)>,
    /// Process id of the starter: when it is gone, so is the box process.
    pub(crate) starter: i32,
    pub(crate) task: Task,
}

/// How much of the machine a box takes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Processes and threads; of all entries together where they share a user namespace.
    pub(crate) processes: u64,
    /// MiB that each process may have mapped of its own to write to.
    pub(crate) memory_mib: u64,
    /// MiB of `/dev/shm`, for each entry.
    pub(crate) shared_mib: u64,
}

/// What to do inside a box.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    Run {
        argv: Vec<Bytes>,
        cwd: Bytes,
        /// A terminal of this size, or pipes.
        terminal: Option<Size>,
    },
    /// Write stdin to this file.
    Push {
        /// Absolute path in the box.
        path: Bytes,
    },
    /// Connect stdin and stdout with this port of the box's loopback.
    Dial { port: u16 },
    /// Write this file to stdout.
    Pull {
        /// Absolute path in the box.
        path: Bytes,
    },
}

/// From the host to the inside, after the order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// The box process is on record: begin. With it comes the pipe for pausing and resuming.
    Go,
    /// Send this signal to the program's process group.
    Signal(i32),
}

/// From the inside to the host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The namespaces exist; `init` is the host's process id of the box's PID 1.
    Entered {
        /// Process id in the host's process namespace.
        init: i32,
    },
    /// The box could not be entered. Nothing ran.
    Refused(Refused),
    /// A part of the network is made; its descriptor comes with this message.
    Made(Part),
    /// The isolation is complete; or all parts of the network have been handed out.
    Ready,
    /// The program runs; a terminal's master comes with this message.
    Started {
        /// Process id in the box.
        pid: i32,
    },
    /// The program could not be started.
    NotStarted { what: String, errno: i32 },
    /// The program has ended, and with it everything that it left behind.
    Ended(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
}

impl End {
    /// As a shell gives it: 128 plus the signal.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Code(code) => u8::try_from(code & 0xff).unwrap_or(1),
            Self::Signal(signal) => u8::try_from((128 + signal) & 0xff).unwrap_or(1),
        }
    }
}

/// A step of the isolation that the system refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Refused {
    /// Which one.
    pub(crate) step: Step,
    /// What exactly, such as a path.
    pub(crate) detail: String,
    pub(crate) errno: i32,
}

/// The steps of the isolation, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Giving up root for the box's own uid.
    DropRoot,
    /// `unshare` of the user namespace.
    UserNamespace,
    /// Writing the uid and gid maps.
    IdMap,
    /// `unshare` of the other namespaces.
    Namespaces,
    /// Building the mounts.
    Mount,
    /// Mounting a new `/proc`.
    Proc,
    /// Giving up capabilities and the rest.
    Confine,
    /// Anything else on the way.
    Setup,
}

/// What the PID 1 of a box is called while everything else in it is stopped; shown in `/proc/PID/comm`,
/// where nothing in the box can forge it.
pub(crate) const FROZEN: &std::ffi::CStr = c"init (paused)";
/// What it is called otherwise.
pub(crate) const AWAKE: &std::ffi::CStr = c"init";
/// Asks a PID 1 to stop everything.
pub(crate) const FREEZE: u8 = b'p';
/// Asks a PID 1 to let everything go on.
pub(crate) const THAW: u8 = b'r';
/// The box's own user inside: never 0, so that even a mapped root does not exist.
pub(crate) const AGENT: u32 = 1000;
