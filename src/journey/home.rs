//! Home: what a box would change here, judged with the rules by which its files have left.

use crate::config::RemoteRoot;
use crate::error::Result;
use crate::merge::{self, Filters, OnClash, Proposal, Remote};
use crate::worktree::{Base, RelPath, Rules, stays_home};
use std::path::Path;

/// Asks a running box what it changed since `base`.
///
/// # Errors
/// The box cannot be asked, its answer cannot be trusted, or the worktree not be read.
pub(crate) fn propose(
    remote: &mut dyn Remote,
    root: &RemoteRoot,
    worktree: &Path,
    base: &Base,
    git: &Path,
    rules: &Rules,
    on_clash: OnClash,
) -> Result<Proposal> {
    let keeps_home = |path: &RelPath| {
        let why = stays_home(path, base.get(path).is_some(), rules);
        why.map(|(reason, rule)| format!("{} ({rule})", reason.words()))
    };
    merge::propose(remote, root, worktree, base, &Filters { git, keeps_home: &keeps_home, on_clash })
}
