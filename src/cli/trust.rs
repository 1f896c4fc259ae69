//! `createos-sandbox trust`: a yes to `.worktreeinclude`.

use clap::Args;

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
