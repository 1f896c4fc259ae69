//! `createos-sandbox herdr …`: the plugin's actions.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// One action each; Herdr calls them by key, a person may call them in a pane.
#[derive(Debug, Subcommand)]
pub(crate) enum HerdrCommand {
    /// Show what start uploads from this worktree and what stays home, or write the archive to a file
    Upload(UploadArgs),
}

/// Options of `herdr upload`.
#[derive(Debug, Args)]
pub(crate) struct UploadArgs {
    /// List what would leave, and why each other file stays
    #[arg(long, conflicts_with = "output", required_unless_present = "output")]
    pub(crate) dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the archive (tar, gzip) to this file; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
