//! `createos-sandbox setup …`: setup and doctor.

use clap::Args;

/// Options of `setup`.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {}
