//! `createos-sandbox start …`: an agent in a box in any terminal, and what is done with its box.

use super::herdr::{BoxCommand, ReattachArgs};
use clap::{Args, Subcommand};

/// What needs no Herdr.
#[derive(Debug, Subcommand)]
pub(crate) enum AnywhereCommand {
    /// Start an agent in a box of this worktree, in this terminal; or go on with the one that is there
    Start(StartHereArgs),
    /// Show a box's agent in this terminal; resumes the box, and starts an agent again that has ended
    Attach(ReattachArgs),
    /// What is done with a box.
    #[command(flatten)]
    Of(BoxCommand),
    /// Every box, redrawn every five seconds; Enter attaches to one, d deletes one of ours
    Boxes,
}

/// Options of `start`.
#[derive(Debug, Args)]
pub(crate) struct StartHereArgs {
    /// The agent; without it that of config.json
    pub(crate) agent: Option<String>,
    /// Make another box, also when one of this worktree and agent is there
    #[arg(long)]
    pub(crate) new: bool,
    /// Who makes the box: createos or local; without it that of config.json
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// What the agent is given behind its own arguments
    #[arg(last = true)]
    pub(crate) args: Vec<String>,
}
