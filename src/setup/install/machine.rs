//! The machine that something is installed on, and what is there afterwards.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What an installation needs to know of the machine.
pub(crate) struct Machine<'a> {
    pub(crate) home: &'a Path,
    pub(crate) path: &'a OsStr,
    /// Reads a variable; an empty one counts as unset.
    pub(crate) var: &'a dyn Fn(&str) -> Option<String>,
}

/// A program that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    pub(crate) path: PathBuf,
    /// Where the one is that it replaced.
    pub(crate) backup: Option<PathBuf>,
    /// What is in its way on PATH, if PATH does not lead to it: another copy, or nothing at all.
    pub(crate) not_first: Option<NotFirst>,
}

/// Why a shell does not find what was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotFirst {
    /// Its folder is not on PATH.
    OffPath,
    /// This copy comes before it.
    Behind(PathBuf),
}

/// Whether PATH leads to `program` under `name`.
pub(super) fn not_first(program: &Path, name: &str, path: &OsStr) -> Option<NotFirst> {
    let real = |path: &Path| path.canonicalize().ok();
    let own = crate::createos::Own::of_this_process();
    // Our own link under the official name passes calls on, so it is not in the way.
    let mut found = which::which_in_all(name, Some(path), "/").into_iter().flatten();
    match found.find(|found| !own.as_ref().is_some_and(|own| own.is(found))) {
        Some(first) if real(&first) == real(program) => None,
        Some(first) => Some(NotFirst::Behind(first)),
        None => Some(NotFirst::OffPath),
    }
}
