//! `createos-sandbox cos …`, and the same by the name `cos`: run a command in a box, from any terminal.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Options of `cos`.
#[derive(Debug, Args)]
#[command(
    after_help = "Options stand before DIR, or between DIR and the command; from the command on everything is the \
                        command's.\nExit codes: the command's; 128 + n when signal n ended it; 1 for a failure of ours or \
                        of the provider; 2 wrong use."
)]
pub(crate) struct CosArgs {
    /// Who makes the boxes: createos, or local (on this machine, no account) [env: COS_PROVIDER]
    #[arg(long, global = true, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    #[command(subcommand)]
    pub(crate) verb: CosVerb,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum CosVerb {
    /// Copy a folder into a new box, run a command there, and delete the box
    Offload(OffloadArgs),
    /// Copy a folder once, and run each command in a new box of its own
    Fanout(FanoutArgs),
    /// Make the project's box, or bring back the one that there is
    Up(UpArgs),
    /// Run a command in the project's box
    Run(RunArgs),
    /// Show the project's box, and what else of this project is left
    Status(StatusArgs),
    /// Delete the project's box; one that was adopted stays
    Down(DownArgs),
    /// Pause the project's box: a snapshot is kept, nothing runs
    Pause,
    /// Bring the project's paused box back
    Resume,
    /// Copy the project's box as it is now; prints the copy's id
    Fork,
    /// Open a shell in a new box, which goes with it
    Shell(ShellArgs),
    /// Say with which credential boxes are made; asks nobody
    Auth,
    /// Make the link by which this program is called `cos`
    Install {
        /// Where to make it [default: ~/.local/bin/cos]
        target: Option<PathBuf>,
    },
    /// Delete what a call that is gone has left (we call this ourselves)
    #[command(skip)]
    CleanUp(String),
    /// End a command in a box (we call this ourselves): provider, box and process
    #[command(skip)]
    StopRun([String; 3]),
}

/// How a box is made.
#[derive(Debug, Args)]
pub(crate) struct BoxArgs {
    /// The size of the box
    #[arg(short, long, value_name = "SHAPE")]
    pub(crate) shape: Option<String>,
    /// The image of the box [default: devbox:1]
    #[arg(short, long, value_name = "IMAGE")]
    pub(crate) rootfs: Option<String>,
    /// A host that the box may reach; give it once for each. Without it and -p: everything
    #[arg(short, long, value_name = "RULE", conflicts_with = "egress_all")]
    pub(crate) egress: Vec<String>,
    /// Hosts that belong together: github, npm, python-uv or rust-cargo
    #[arg(short = 'p', long, value_name = "PRESET", conflicts_with = "egress_all")]
    pub(crate) egress_preset: Vec<String>,
    /// Everything may be reached, and no line about it
    #[arg(short = 'E', long)]
    pub(crate) egress_all: bool,
}

/// Options of `cos offload`.
#[derive(Debug, Args)]
pub(crate) struct OffloadArgs {
    #[command(flatten)]
    pub(crate) of: BoxArgs,
    /// A name, a path below DIR or a folder/ that stays home, with *, ?, `[abc]` and **; give it once for each
    #[arg(short = 'x', long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// A variable of the command; without a value the one that it has here. Give it once for each
    #[arg(short = 'v', long, value_name = "KEY[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// A file or folder below /work that comes home into DIR, also when the command failed
    #[arg(short, long, visible_alias = "output", value_name = "PATH")]
    pub(crate) out: Option<String>,
    /// So many GB of swap, where the box can have it
    #[arg(short = 'w', long, value_name = "GB", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) swap: Option<u16>,
    /// Keep the box when the command fails
    #[arg(short = 'K', long)]
    pub(crate) keep_on_fail: bool,
    /// List what would leave and what would stay home, and make nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The folder; it is /work in the box
    pub(crate) dir: PathBuf,
    /// The command, as a shell reads it; several words are joined by blanks
    #[arg(value_name = "CMD", trailing_var_arg = true, required_unless_present = "dry_run")]
    pub(crate) command: Vec<OsString>,
}

/// Options of `cos fanout`.
#[derive(Debug, Args)]
pub(crate) struct FanoutArgs {
    /// So many boxes at once
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub(crate) jobs: u8,
    #[command(flatten)]
    pub(crate) of: BoxArgs,
    /// A name, a path below DIR or a folder/ that stays home, with *, ?, `[abc]` and **; give it once for each
    #[arg(short = 'x', long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// A variable of the commands; without a value the one that it has here. Give it once for each
    #[arg(short = 'v', long, value_name = "KEY[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// The folder; it is /work in each box
    pub(crate) dir: PathBuf,
    /// A command each, as a shell reads it
    #[arg(value_name = "CMD", trailing_var_arg = true, required = true)]
    pub(crate) commands: Vec<OsString>,
}

/// Options of `cos up`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    pub(crate) of: BoxArgs,
    /// The name of the box [default: cos-proj- and a key of the project]
    #[arg(short, long)]
    pub(crate) name: Option<String>,
    /// A variable of every program in it; without a value the one that it has here. Give it once for each
    #[arg(short = 'v', long, value_name = "KEY[=VALUE]")]
    pub(crate) env: Vec<String>,
    /// Take a box of that name that is there already; it is never deleted then
    #[arg(short, long)]
    pub(crate) adopt: bool,
}

/// Options of `cos run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The command, as a shell reads it; several words are joined by blanks
    #[arg(value_name = "CMD", trailing_var_arg = true, required = true)]
    pub(crate) command: Vec<OsString>,
}

/// Options of `cos down`.
#[derive(Debug, Args)]
pub(crate) struct DownArgs {
    /// Its forks too
    #[arg(short, long)]
    pub(crate) forks: bool,
}

/// Options of `cos shell`.
#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    #[command(flatten)]
    pub(crate) of: BoxArgs,
    /// A variable of the shell; without a value the one that it has here. Give it once for each
    #[arg(short = 'v', long, value_name = "KEY[=VALUE]")]
    pub(crate) env: Vec<String>,
}

/// Options of `cos status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// One JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// The command lines by which this program starts itself.
pub(super) fn own(args: &[OsString]) -> Option<CosVerb> {
    let text = |at: usize| args.get(at).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    match (args.len(), text(1).as_str(), text(2).as_str()) {
        (4, "cos", "clean-up") => Some(CosVerb::CleanUp(text(3))),
        (6, "cos", "stop-run") => Some(CosVerb::StopRun([text(3), text(4), text(5)])),
        _ => None,
    }
}
