//! `createos-sandbox local …`: the embedded provider.

use clap::Subcommand;

/// The provider's command line, as the contract of `createos sandbox` has it.
#[derive(Debug, Subcommand)]
pub(crate) enum LocalCommand {}
