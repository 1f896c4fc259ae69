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
    pub(crate) on_path: OnPath,
}

/// What a shell runs under a program's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OnPath {
    Chosen,
    /// This copy comes before the chosen one.
    Other(PathBuf),
    /// PATH has none.
    Nothing,
}

impl OnPath {
    /// What PATH has first, as seen by who has chosen a copy, or found none.
    pub(crate) fn new(first: Option<PathBuf>, chosen: Option<&Path>) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        match first {
            None => Self::Nothing,
            Some(first) if chosen.is_some_and(|chosen| real(&first) != real(chosen)) => Self::Other(first),
            Some(_) => Self::Chosen,
        }
    }

    /// What a shell runs under `name`, after an installation of `program`.
    pub(super) fn look(program: &Path, name: &str, path: &OsStr) -> Self {
        let own = crate::createos::Own::of_this_process().ok();
        // Our own link under the official name passes calls on, so it is not in the way.
        let mut found = which::which_in_all(name, Some(path), "/").into_iter().flatten();
        Self::new(found.find(|found| !own.as_ref().is_some_and(|own| own.is(found))), Some(program))
    }
}
