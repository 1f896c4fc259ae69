//! `createos-sandbox shim …`: this binary under the name `createos`.

use clap::Subcommand;

/// What to do with the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum ShimCommand {
    /// Make the link and print the PATH line for your shell
    Install,
    /// Remove the link
    Remove,
}
