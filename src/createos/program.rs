//! Which `createos` on PATH is the official program, when this binary answers to that name too.

use crate::error::{Error, Result};
use crate::paths::own_binary;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the official program, under which this binary can be linked.
pub(crate) const NAME: &str = "createos";

/// The official `createos`: the first one on `path` that is not this binary, be it by link or by copy.
pub(crate) fn official(path: &OsStr) -> Option<PathBuf> {
    let own = Own::of_this_process().ok();
    on_path(path).find(|candidate| !own.as_ref().is_some_and(|own| own.is(candidate)))
}

/// Every `createos` on `path` in its order.
pub(crate) fn on_path(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    which::which_in_all(NAME, Some(path), here).into_iter().flatten()
}

/// This binary, to be recognised under other names.
#[derive(Debug)]
pub(crate) struct Own {
    path: PathBuf,
    metadata: Metadata,
}

impl Own {
    /// The binary that runs now.
    ///
    /// # Errors
    /// It was moved or removed meanwhile.
    pub(crate) fn of_this_process() -> Result<Self> {
        let gone = || Error::cannot_run("this binary was moved or removed while it ran");
        let path = own_binary().ok().and_then(|path| path.canonicalize().ok()).ok_or_else(gone)?;
        Ok(Self { metadata: path.metadata().map_err(|_| gone())?, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path under which it is best linked: where `path` has it under its own name, since a package
    /// manager changes what that leads to; else its real path.
    pub(crate) fn lasting_path(&self, path: &OsStr) -> PathBuf {
        let found = which::which_in(env!("CARGO_PKG_NAME"), Some(path), "/").ok();
        let same = |found: &PathBuf| found.canonicalize().is_ok_and(|real| real == self.path);
        found.filter(same).unwrap_or_else(|| self.path.clone())
    }

    /// Whether `candidate` leads here: the same file, a file of our name behind a link, or the same bytes.
    pub(crate) fn is(&self, candidate: &Path) -> bool {
        let Ok(real) = candidate.canonicalize() else { return false };
        let Ok(metadata) = real.metadata() else { return false };
        (metadata.dev(), metadata.ino()) == (self.metadata.dev(), self.metadata.ino())
            || real.file_name() == Some(OsStr::new(env!("CARGO_PKG_NAME")))
            || (metadata.len() == self.metadata.len() && same_bytes(&real, &self.path))
    }
}

fn same_bytes(a: &Path, b: &Path) -> bool {
    matches!((std::fs::read(a), std::fs::read(b)), (Ok(a), Ok(b)) if a == b)
}
