//! What a box did as a patch in a file, for a worktree that is not here.

use super::patch::{self, Stat};
use super::source::Source;
use super::spool::Spool;
use super::{Limits, Remote};
use crate::config::RemoteRoot;
use crate::error::{Error, IoContext, Result};
use crate::fs::Digest;
use crate::worktree::{Base, FileKind, RelPath};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A patch that was written.
#[derive(Debug)]
pub(crate) struct Exported {
    /// Files that it touches.
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// Lines added and taken away.
    pub(crate) lines: Stat,
}

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
) -> Result<Option<Exported>> {
    let spool = Spool::new()?;
    let mut source = Source { remote, root, limits: Limits::default() };
    let (parcel, _) = source.settled(base, &spool)?;
    let paths = || parcel.paths(base);
    if paths().next().is_none() {
        return Ok(None);
    }
    let wanted: Vec<(RelPath, Digest)> = paths()
        .filter_map(|path| {
            Some((path.clone(), base.get(path).filter(|was| was.kind != FileKind::Link)?.hash))
        })
        .collect();
    let found = source.base_contents(&wanted, &spool)?;
    let bases: BTreeMap<RelPath, PathBuf> =
        found.into_iter().map(|(number, contents)| (wanted[number].0.clone(), contents)).collect();
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
    Ok(Some(Exported { files: patch.files, bytes: patch.bytes, lines: patch.lines }))
}
