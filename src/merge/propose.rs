//! The way to a proposal: the box is asked, then everything is judged.

use super::case::Filters;
use super::judge;
use super::proposal::Proposal;
use super::source::Source;
use super::spool::Spool;
use super::{Limits, Remote};
use crate::config::RemoteRoot;
use crate::error::{IoContext, Result};
use crate::worktree::Base;
use std::path::Path;

/// Lists what the box changed since `base`, brings the contents here and judges every path. Changes
/// nothing here.
///
/// # Errors
/// The box cannot be asked, or its answer cannot be trusted; the worktree cannot be read.
pub(crate) fn propose(
    remote: &mut dyn Remote,
    root: &RemoteRoot,
    worktree: &Path,
    base: &Base,
    filters: &Filters<'_>,
) -> Result<Proposal> {
    propose_from(Source { remote, root, limits: Limits::default() }, worktree, base, filters)
}

/// [`propose`] with limits of the caller's.
pub(super) fn propose_from(
    mut source: Source<'_>,
    worktree: &Path,
    base: &Base,
    filters: &Filters<'_>,
) -> Result<Proposal> {
    let worktree = std::fs::canonicalize(worktree).at("look at", worktree)?;
    let spool = Spool::new()?;
    let (parcel, token) = source.settled(base, &spool)?;
    judge::judge(&mut source, &worktree, base, filters, parcel, token, spool)
}
