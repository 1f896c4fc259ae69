//! Installing what is missing or too old, when the user says yes: first the download, complete and
//! verified, then the change.

mod createos;
mod download;
mod machine;
mod script;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use machine::{Installed, Machine, OnPath};

use crate::error::Result;
use createos::CreateosInstall;
use script::ScriptInstall;
use std::path::{Path, PathBuf};

/// How one program gets onto this machine. The official CLI is fetched here, and by its own script only where a variable
/// names one: that script goes on where it cannot compare the checksum, may call sudo, and keeps no copy of what it
/// replaces.
#[derive(Debug)]
pub(crate) enum Installation {
    Createos(CreateosInstall),
    Script(ScriptInstall),
}

impl Installation {
    /// How the requirement with this id is installed; none for what the system's package manager brings.
    /// `existing` is the copy that is there already. Looks, but changes nothing and asks no network.
    ///
    /// # Errors
    /// A variable that says where from or where to is not valid.
    pub(crate) fn find(id: &str, existing: Option<&Path>, machine: &Machine<'_>) -> Result<Option<Self>> {
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

    /// Downloads it, and puts it in place or runs it.
    ///
    /// # Errors
    /// The download or the installer failed; what was there is there still.
    pub(crate) fn install(&self, machine: &Machine<'_>) -> Result<Installed> {
        match self {
            Self::Createos(install) => install.install(machine),
            Self::Script(install) => install.install(machine),
        }
    }
}

/// Whether the requirement with this id can be installed by us, on some machine.
pub(crate) fn brings(id: &str) -> bool {
    id == "createos" || template::TEMPLATE.script.iter().any(|script| script.id == id)
}

/// Copies of a program where its installer puts it, on PATH or not.
pub(crate) fn landed(id: &str, home: &Path) -> Vec<PathBuf> {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    template::places(id, home, &var).into_iter().filter(|path| path.is_file()).collect()
}
