//! Every command line: clap derive only, no logic. A file an area; what is one struct stands here.

mod anywhere;
mod cos;
mod herdr;
mod hint;
mod local;
#[cfg(test)]
mod reference;
mod setup;

pub(crate) use anywhere::{AnywhereCommand, StartHereArgs};
pub(crate) use cos::{
    BoxArgs, CosArgs, CosVerb, DownArgs, FanoutArgs, OffloadArgs, RunArgs, ShellArgs, StatusArgs, UpArgs,
};
pub(crate) use herdr::{
    ApplyArgs, BoxCommand, ClashArg, DeleteArgs, HerdrCommand, PruneArgs, UndoArgs, UploadArgs, Which,
};
#[cfg_attr(not(target_os = "linux"), allow(unused_imports, reason = "only Linux has local boxes"))]
pub(crate) use local::{
    AttachArgs, BoxRef, CreateArgs, ExecArgs, ForkArgs, ListArgs, LocalArgs, LocalCommand, PortsArgs,
    ProcessRef, ProcessVerb, SandboxVerb, StartArgs,
};
pub(crate) use setup::SetupArgs;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run each Herdr agent pane in a CreateOS Sandbox, or in a local one
#[derive(Debug, Parser)]
#[command(name = "createos-sandbox", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "To see it work: createos-sandbox try\n\
                        To start an agent in a box, in a worktree: createos-sandbox start\n\
                        To set Herdr up: createos-sandbox setup herdr, or first: createos-sandbox setup herdr --doctor")]
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
    /// An agent in a box, in any terminal.
    #[command(flatten)]
    Anywhere(AnywhereCommand),
    /// Set up Herdr for sandboxed agents, or check the setup
    Setup(Box<SetupArgs>),
    /// The plugin's actions, for the pane that has the focus in Herdr
    #[command(subcommand)]
    Herdr(HerdrCommand),
    /// Run a command in a box, from any terminal
    Cos(CosArgs),
    /// Say yes to this worktree's .worktreeinclude, whose ignored files leave then, and to its .createos-sandbox.toml
    Trust(TrustArgs),
    /// This binary under the name `createos`, for `createos sandbox setup herdr`
    #[command(subcommand)]
    Shim(ShimCommand),
    /// The embedded provider: the `createos sandbox` command line for boxes on this machine
    Local(LocalArgs),
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

/// Options of `trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Do not ask: the files are known
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Take an earlier yes back
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// What to do with the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum ShimCommand {
    /// Make the link and print the PATH line for your shell
    Install,
    /// Remove the link
    Remove,
}

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Where the script goes:\n  \
    bash   ~/.local/share/bash-completion/completions/createos-sandbox\n  \
    zsh    ~/.zfunc/_createos-sandbox, with fpath+=~/.zfunc before compinit in ~/.zshrc\n  \
    fish   ~/.config/fish/completions/createos-sandbox.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    pub(crate) shell: Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for every command into this folder, which is made when missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Options of `version`.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a command line.
///
/// # Errors
/// It cannot be read, or asks for help or the version.
pub(crate) fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    if let Some(own) = local::own(args) {
        return Ok(Cli { command: Command::Local(LocalArgs { output: None, command: own }) });
    }
    if let Some(verb) = cos::own(args) {
        return Ok(Cli { command: Command::Cos(CosArgs { provider: None, verb }) });
    }
    if let Some(own) = herdr::own(args) {
        return Ok(Cli { command: Command::Herdr(own) });
    }
    let mut command = Cli::command();
    let matches = match command.try_get_matches_from_mut(args) {
        Ok(matches) => matches,
        Err(error) => return Err(hint::advise(error, &command, args)),
    };
    if let Some(flag) = local::late_flag(&matches) {
        let words = format!(
            "{flag} stands behind the box, where the createos command line would drop it: put flags first"
        );
        return Err(command.error(ErrorKind::UnknownArgument, words));
    }
    Cli::from_arg_matches(&matches)
}

/// Reads a command line of this program under the name `cos`.
///
/// # Errors
/// It cannot be read, or asks for help.
pub(crate) fn parse_as_cos(args: &[OsString]) -> Result<CosArgs, clap::Error> {
    let root = Cli::command();
    let own = root.find_subcommand("cos").expect("it is one of the commands").clone();
    let mut command = own.bin_name("cos").max_term_width(100);
    CosArgs::from_arg_matches(&command.try_get_matches_from_mut(args)?)
}
