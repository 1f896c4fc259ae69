//! Every command line: clap derive only, no logic. A file an area.

mod about;
mod herdr;
mod local;
mod setup;
mod shim;

pub(crate) use about::{CompletionsArgs, ManArgs, VersionArgs};
pub(crate) use herdr::{HerdrCommand, UploadArgs};
pub(crate) use local::LocalCommand;
pub(crate) use setup::SetupArgs;
pub(crate) use shim::ShimCommand;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Run each Herdr agent pane in a CreateOS Sandbox, or in a local one
#[derive(Debug, Parser)]
#[command(name = "createos-sandbox", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Try the whole loop on this machine: no account, no Herdr, nothing left behind
    Try(TryArgs),
    /// Set up Herdr for sandboxed agents, or check the setup
    Setup(Box<SetupArgs>),
    /// The plugin's actions, for the pane that has the focus in Herdr
    #[command(subcommand)]
    Herdr(HerdrCommand),
    /// This binary under the name `createos`, for `createos sandbox setup herdr`
    #[command(subcommand)]
    Shim(ShimCommand),
    /// The embedded provider: the `createos sandbox` command line for boxes on this machine
    #[command(subcommand)]
    Local(LocalCommand),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write a page for every command
    Man(ManArgs),
    /// Print the version
    Version(VersionArgs),
}

/// Options of `try`.
#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// Use a throw-away copy of this git worktree instead of a made-up one
    #[arg(long, value_name = "DIR")]
    pub(crate) worktree: Option<PathBuf>,
}
