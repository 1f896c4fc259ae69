//! Installing what is missing or too old, when the user says yes: first the download, complete and
//! verified, then the change.

mod createos;
mod download;
mod script;
mod template;
#[cfg(test)]
mod tests;
mod url;

pub(crate) use createos::CreateosInstall;
pub(crate) use script::ScriptInstall;

use crate::error::Result;
use std::path::{Path, PathBuf};

/// How one program gets onto this machine.
#[derive(Debug)]
pub(crate) enum Installation {
    /// The official CLI, natively.
    Createos(CreateosInstall),
    /// By an installer script.
    Script(ScriptInstall),
}

/// What an installation needs to know of the machine.
pub(crate) struct Machine<'a> {
    /// The user's home folder.
    pub(crate) home: &'a Path,
    /// The value of PATH.
    pub(crate) path: &'a std::ffi::OsStr,
    /// Reads a variable; an empty one counts as unset.
    pub(crate) var: &'a dyn Fn(&str) -> Option<String>,
}

/// A program that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    /// Where it is now.
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

impl Installation {
    /// How the requirement with this id is installed; none for what the system's package manager brings.
    /// `existing` is the copy that is there already. Looks, but changes nothing and asks no network.
    ///
    /// # Errors
    /// A variable that says where from or where to is not valid.
    pub(crate) fn of(id: &str, existing: Option<&Path>, machine: &Machine<'_>) -> Result<Option<Self>> {
        if id == "createos" && (machine.var)(script::CREATEOS_URL).is_none() {
            return CreateosInstall::new(existing, machine).map(Self::Createos).map(Some);
        }
        Ok(ScriptInstall::new(id, machine)?.map(Self::Script))
    }

    /// Exactly what will happen, a line each, for the question before it.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Self::Createos(install) => install.lines(),
            Self::Script(install) => install.lines(),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// The download or the installer failed; what was there is there still.
    pub(crate) fn run(&self, machine: &Machine<'_>) -> Result<Installed> {
        match self {
            Self::Createos(install) => install.run(machine),
            Self::Script(install) => install.run(machine),
        }
    }
}

/// Whether the requirement with this id can be installed by us, on some machine.
pub(crate) fn brings(id: &str) -> bool {
    id == "createos" || template::template().script.iter().any(|script| script.id == id)
}

/// Copies of a program where its installer puts it, on PATH or not.
pub(crate) fn landed(id: &str, home: &Path) -> Vec<PathBuf> {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    template::places(id, home, &var).into_iter().filter(|path| path.is_file()).collect()
}

/// Whether PATH leads to `program` under `name`.
fn not_first(program: &Path, name: &str, path: &std::ffi::OsStr) -> Option<NotFirst> {
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
