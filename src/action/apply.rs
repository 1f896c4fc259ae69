//! `apply`: the box's new work comes home. The merge is `merge`'s; this is its driver and result line.

use super::bring_back::run_box;
use super::report::Report;
use super::session::Session;
use super::which::choose;
use crate::config::RemoteRoot;
use crate::createos::ProviderBox;
use crate::error::{Error, Result};
use crate::worktree::Base;

/// Brings the work home.
///
/// # Errors
/// There is no box, it cannot be asked, or its work conflicts with the worktree.
pub(super) fn apply(session: &Session) -> Result<Report> {
    let chosen = choose(session)?;
    let record = chosen.record;
    let remote = session.remote(&record)?;
    run_box(session, &record, &remote.provider, &remote.id)?;
    Err(Error::failed("not yet"))
}

/// The paths that differ in the box from what was last in step.
///
/// # Errors
/// The box cannot be asked.
pub(super) fn changed_paths(
    _remote: &mut ProviderBox,
    _root: &RemoteRoot,
    _base: &Base,
) -> Result<Vec<String>> {
    Err(Error::failed("not yet"))
}
