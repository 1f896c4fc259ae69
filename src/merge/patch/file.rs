//! A patch of many paths, in a file.

use super::{Contents, Side, Stat};
use crate::error::{IoContext, Result};
use crate::merge::ours::{self, Here};
use crate::merge::parcel::Parcel;
use crate::merge::spool::Spool;
use crate::merge::transaction::Change;
use crate::worktree::{Base, FileKind, RelPath};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A patch in git's format: of all changes, or, where something clashes, of what the box did.
#[derive(Debug, Clone)]
pub(crate) struct PatchFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// Files that it touches.
    pub(crate) files: usize,
    /// Lines added and taken away.
    pub(crate) lines: Stat,
}

/// What the changes do here, as a patch.
///
/// # Errors
/// Contents cannot be read.
pub(in crate::merge) fn of_changes(spool: &Spool, worktree: &Path, changes: &[Change]) -> Result<PatchFile> {
    let sides = changes.iter().map(|change| {
        let before = change.before.map(|entry| local(worktree, &change.path, entry.kind));
        let after = change.after.as_ref().map(|after| side(after.entry.kind, &after.contents));
        (&change.path, before, after)
    });
    write_all(spool, sides)
}

/// What the box did, as a patch: from the base where its contents are at hand, else from nothing.
///
/// # Errors
/// Contents cannot be read.
pub(in crate::merge) fn of_theirs<'a>(
    spool: &Spool,
    worktree: &Path,
    base: &Base,
    parcel: &Parcel,
    bases: &BTreeMap<RelPath, PathBuf>,
    paths: impl Iterator<Item = &'a RelPath>,
) -> Result<PatchFile> {
    let mut sides = Vec::new();
    for path in paths {
        let before = match (base.get(path), bases.get(path)) {
            (Some(entry), Some(contents)) => Some(Ok(side(entry.kind, contents))),
            (Some(entry), None) => {
                let here = ours::here(&worktree.join(path.as_path()))?;
                (here == Here::Entry(*entry)).then(|| local(worktree, path, entry.kind))
            }
            (None, _) => None,
        };
        let after = parcel.changed.get(path).map(|arrived| side(arrived.entry.kind, &arrived.contents));
        if before.is_some() || after.is_some() {
            sides.push((path, before, after));
        }
    }
    write_all(spool, sides.into_iter())
}

/// The side that is in the worktree now.
fn local(worktree: &Path, path: &RelPath, kind: FileKind) -> Result<Side> {
    let full = worktree.join(path.as_path());
    let contents = if kind == FileKind::Link {
        Contents::Bytes(std::fs::read_link(&full).at("read the link", &full)?.as_os_str().as_bytes().to_vec())
    } else {
        Contents::File(full)
    };
    Ok(Side { kind, contents })
}

fn side(kind: FileKind, contents: &Path) -> Side {
    Side { kind, contents: Contents::File(contents.to_path_buf()) }
}

fn write_all<'a>(
    spool: &Spool,
    sides: impl Iterator<Item = (&'a RelPath, Option<Result<Side>>, Option<Side>)>,
) -> Result<PatchFile> {
    let path = spool.fresh();
    let mut out = BufWriter::new(File::create_new(&path).at("create", &path)?);
    let (mut files, mut lines) = (0, Stat::default());
    for (name, before, after) in sides {
        let before = before.transpose()?;
        super::write(&mut out, name, before.as_ref(), after.as_ref(), &mut lines).at("write", &path)?;
        files += 1;
    }
    out.flush().at("write", &path)?;
    let bytes = std::fs::metadata(&path).at("look at", &path)?.len();
    Ok(PatchFile { path, bytes, files, lines })
}
