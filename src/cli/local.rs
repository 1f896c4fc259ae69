//! `createos-sandbox local …`: the embedded provider, with the words of `createos sandbox …`.

use clap::{ArgMatches, Args, Subcommand, parser::ValueSource};
use std::ffi::OsString;

/// The provider's command line, as `createos sandbox` has it (docs/measured/createos-cli.md).
#[derive(Debug, Args)]
pub(crate) struct LocalArgs {
    /// How results are shown; without it: JSON unless stdout is a terminal
    #[arg(short, long, global = true, value_name = "FORMAT", value_parser = ["json", "table"])]
    pub(crate) output: Option<String>,
    #[command(subcommand)]
    pub(crate) command: LocalCommand,
}

/// The provider's areas.
#[derive(Debug, Subcommand)]
pub(crate) enum LocalCommand {
    /// Boxes on this machine, each with a network of its own
    #[command(visible_alias = "sb")]
    Sandbox {
        #[command(subcommand)]
        verb: SandboxVerb,
    },
    /// The inner end of a box process; started by the other commands only.
    #[command(skip)]
    Enter,
    /// The keeper of a box process; started by `process start` only.
    #[command(skip)]
    Supervise,
    /// The keeper of a box's network; started by the first program in it only.
    #[command(skip)]
    Keep,
}

/// What can be done with a box.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxVerb {
    /// Make a box
    #[command(visible_alias = "c")]
    Create(CreateArgs),
    /// Show the boxes, newest first
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Show one box; a deleted one shows as destroyed
    Get(BoxRef),
    /// Run a program and wait for it; exit code is the program's
    Exec(ExecArgs),
    /// Copy a file, or stdin for `-`, into the box
    #[command(visible_aliases = ["upload", "cp-up"])]
    Push {
        #[command(flatten)]
        of: BoxRef,
        /// A file of this machine, or `-`
        local: OsString,
        /// Absolute path in the box; missing folders are made
        remote: OsString,
    },
    /// Copy a file out of the box, to stdout for `-`
    #[command(visible_aliases = ["download", "cp-down"])]
    Pull {
        #[command(flatten)]
        of: BoxRef,
        /// Absolute path in the box
        remote: OsString,
        /// A file of this machine, or `-`
        local: OsString,
    },
    /// Stop everything in a box until it is resumed
    Pause(BoxRef),
    /// Let a paused box go on
    Resume(BoxRef),
    /// Copy a paused box: its files and settings, and none of its programs
    Fork(ForkArgs),
    /// Programs that outlive the command that started them
    #[command(visible_alias = "proc")]
    Process {
        #[command(subcommand)]
        verb: ProcessVerb,
    },
    /// Show the ports that listen in a box, or publish one on 127.0.0.1 of this machine until Ctrl-C
    #[command(visible_alias = "tunnel")]
    Ports(PortsArgs),
    /// Delete boxes and everything in them
    #[command(visible_aliases = ["delete", "destroy"])]
    Rm {
        /// Do not ask
        #[arg(short, long, visible_alias = "force")]
        yes: bool,
        /// Full ids or exact names
        #[arg(value_name = "REF", required = true)]
        references: Vec<String>,
    },
}

/// A sandbox.
#[derive(Debug, Args)]
pub(crate) struct BoxRef {
    /// Full id or exact name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
}

/// `ports`.
#[derive(Debug, Args)]
pub(crate) struct PortsArgs {
    /// Full id or exact name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// The port of the box to publish
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// The port of this machine, from 1024 on; without it a free one
    #[arg(value_parser = clap::value_parser!(u16).range(1024..))]
    pub(crate) local: Option<u16>,
}

/// A process in a box.
#[derive(Debug, Args)]
pub(crate) struct ProcessRef {
    /// Full id or exact name of the box
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// The process
    #[arg(value_name = "PROCESS")]
    pub(crate) process: String,
}

/// `create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Processors and memory, such as s-2vcpu-4gb: gives the limits for processes and for the memory of each; processors are not
    /// limited on this machine
    #[arg(long)]
    pub(crate) shape: String,
    /// Its name: at most 22 of a-z, 0-9 and -
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The image: only `host`, this machine's own programs (`devbox:1` is taken to mean it)
    #[arg(long)]
    pub(crate) rootfs: Option<String>,
    /// Where it may connect to: a host, *.host, an address or a range, each with :port or not, or *. Without it: any
    /// public address
    #[arg(long, value_name = "RULE")]
    pub(crate) egress: Vec<String>,
    /// A variable of every program in the box
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,
    /// `own`: a network of its own, with a way out by the rules of --egress; `host`: this machine's, with no rules; `none`:
    /// none [default: own]
    #[arg(long, visible_alias = "net")]
    pub(crate) network: Option<String>,
    /// Let programs in it make namespaces, as those with a sandbox of their own need them (codex, bubblewrap, Chromium); they
    /// then reach more of the kernel
    #[arg(long)]
    pub(crate) nested: bool,
    /// Pause after this time without activity, 1m to 24h
    #[arg(long, value_name = "DURATION")]
    pub(crate) auto_pause: Option<String>,
}

/// `fork`.
#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// So many copies
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) count: u8,
    /// Full id or exact name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
}

/// `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// At most so many
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
    /// Leave out the first so many
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: usize,
    /// Only those with this status
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Deleted ones too
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Only the ids, one a line
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// As without it: a local listing has no more columns
    #[arg(long)]
    pub(crate) wide: bool,
}

/// `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// Pass output on as it comes, byte for byte
    #[arg(short, long)]
    pub(crate) stream: bool,
    /// Another value for a variable that `create` declared
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,
    /// The program's stdin: a file, or `-`. Without it stdin is passed on unless it is a terminal
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<String>,
    /// Full id or exact name
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// The program and its arguments; no shell is involved
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// What can be done with a process.
#[derive(Debug, Subcommand)]
pub(crate) enum ProcessVerb {
    /// Start a program that goes on by itself
    Start(StartArgs),
    /// Show the processes of a box, newest first
    #[command(visible_aliases = ["ls", "ps"])]
    List {
        /// Full id or exact name of the box
        #[arg(value_name = "REF")]
        reference: String,
    },
    /// Show one process
    Get(ProcessRef),
    /// End a process and everything that it has started
    #[command(visible_aliases = ["kill", "rm"])]
    Stop {
        /// How long it has after SIGTERM
        #[arg(long, value_name = "DURATION", default_value = "1s")]
        grace: String,
        /// Do not ask
        #[arg(short, long, visible_alias = "force", visible_short_alias = 'f')]
        yes: bool,
        #[command(flatten)]
        of: ProcessRef,
    },
    /// Give a process's terminal another size
    Resize {
        /// Lines
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
        rows: Option<u16>,
        /// Columns
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
        cols: Option<u16>,
        #[command(flatten)]
        of: ProcessRef,
    },
    /// Send a signal to what has the terminal of a process, or to a process on pipes
    Signal {
        #[command(flatten)]
        of: ProcessRef,
        /// Its name, such as SIGINT
        #[arg(value_name = "SIGNAL")]
        signal: String,
    },
    /// Connect this terminal with a process; Ctrl-] detaches, or --detach-key
    #[command(visible_alias = "connect")]
    Attach(AttachArgs),
}

/// `process start`.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// On a terminal of its own
    #[arg(short = 't', long, visible_alias = "tty")]
    pub(crate) pty: bool,
    /// The folder to start in
    #[arg(long, value_name = "DIR", default_value = "/home/agent")]
    pub(crate) cwd: OsString,
    /// A variable of the program
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,
    /// Lines of the terminal; without it as here, else 24
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rows: Option<u16>,
    /// Columns of the terminal; without it as here, else 80
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) cols: Option<u16>,
    /// Full id or exact name of the box
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// The program and its arguments; a login shell when there is a terminal and nothing is named
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// `process attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Show the output from this byte on; 0 is everything that is still kept. Without it a terminal shows the screen
    /// as it is, and anything else only new output
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<u64>,
    /// Show what is there and end
    #[arg(long)]
    pub(crate) no_follow: bool,
    /// Pass stdin on although it is no terminal
    #[arg(long)]
    pub(crate) stdin: bool,
    /// The key that detaches a terminal: ctrl+ and a letter, ] or \ [default: ctrl+]]
    #[arg(long, value_name = "KEY")]
    pub(crate) detach_key: Option<String>,
    /// Tell a detach from the end by exit code 3 (our own panes ask for it)
    #[arg(long, hide = true)]
    pub(crate) for_pane: bool,
    #[command(flatten)]
    pub(crate) of: ProcessRef,
}

/// The command lines by which this program starts itself. They are read here and not by clap, which would
/// propose them to people and complete them.
pub(super) fn own(args: &[OsString]) -> Option<LocalCommand> {
    match args {
        [_, local, verb] if local == "local" && verb == "enter" => Some(LocalCommand::Enter),
        [_, local, verb] if local == "local" && verb == "supervise" => Some(LocalCommand::Supervise),
        [_, local, verb] if local == "local" && verb == "keep" => Some(LocalCommand::Keep),
        _ => None,
    }
}

/// A flag that stands behind the box: the createos command line would drop it without a word. Only
/// `rm` takes them there (docs/measured/createos-cli.md 3.12). Gives back the flag's name.
pub(crate) fn late_flag(matches: &ArgMatches) -> Option<String> {
    let mut verb = matches;
    let mut names = Vec::new();
    while let Some((name, inner)) = verb.subcommand() {
        names.push(name);
        verb = inner;
    }
    if !names.starts_with(&["local", "sandbox"]) || names.last() == Some(&"rm") {
        return None;
    }
    let first = verb.try_contains_id("reference").ok().and_then(|_| verb.index_of("reference"))?;
    let typed = |id: &str| verb.value_source(id) == Some(ValueSource::CommandLine);
    verb.ids()
        .map(clap::Id::as_str)
        .filter(|id| {
            !["reference", "process", "signal", "port", "local", "remote", "command", "output"].contains(id)
        })
        .filter(|id| typed(id))
        .find(|id| verb.indices_of(id).is_some_and(|mut at| at.any(|index| index > first)))
        .map(|id| format!("--{}", id.replace('_', "-")))
}
