//! `createos-sandbox herdr …`: the plugin's actions.

use clap::Subcommand;

/// One action each; Herdr calls them by key, a person may call them in a pane.
#[derive(Debug, Subcommand)]
pub(crate) enum HerdrCommand {}
