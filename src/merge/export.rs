//! What a box did as a patch in a file, for a worktree that is not here.

use super::patch::{self, PatchFile};
use super::source::Source;
use super::spool::Spool;
use super::{Limits, Remote};
use crate::config::RemoteRoot;
use crate::error::{Error, IoContext, Result};
use crate::worktree::Base;
use std::fs::File;
use std::path::Path;

/// Writes what the box changed since `base` to the new file `to`; `None` when that is nothing. The worktree is looked
/// at only for what the box itself no longer has.
///
/// # Errors
/// The box cannot be asked, its answer cannot be trusted, or `to` is there already.
pub(crate) fn export(
    remote: &mut dyn Remote,
    root: &RemoteRoot,
    worktree: &Path,
    base: &Base,
    to: &Path,
) -> Result<Option<PatchFile>> {
    let spool = Spool::new()?;
    let mut source = Source { remote, root, limits: Limits::default() };
    let (parcel, _) = source.settled(base, &spool)?;
    let paths = || parcel.paths(base);
    if paths().next().is_none() {
        return Ok(None);
    }
    let bases = source.base_contents(base, paths(), &spool)?;
    let patch = patch::of_theirs(&spool, worktree, base, &parcel, &bases, paths())?;
    let mut out = File::create_new(to).map_err(|source| match source.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::usage(format!("{} is there already", to.display())).help("name another file")
        }
        _ => Error::io("create", to, &source),
    })?;
    let mut from = File::open(&patch.path).at("open", &patch.path)?;
    std::io::copy(&mut from, &mut out).at("write", to)?;
    out.sync_all().at("write", to)?;
    Ok(Some(PatchFile { path: to.to_path_buf(), ..patch }))
}
