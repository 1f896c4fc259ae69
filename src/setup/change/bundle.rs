//! The files of the bundled plugin's folder.

use super::step::{Done, Line, Step, Work};
use crate::error::{IoContext, Result};
use crate::fs::{IfThere, Mode, write_atomic};
use crate::paths::Paths;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files by their names.
type Files = BTreeMap<&'static str, Vec<u8>>;

/// Files of our own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BundleChange {
    pub(crate) folder: PathBuf,
    pub(crate) before: Files,
    /// Empty when the folder goes.
    pub(crate) after: Files,
}

impl Step for BundleChange {
    fn line(&self, paths: &Paths) -> Line {
        let verb = if self.after.is_empty() { "remove" } else { "write" };
        Line::new(verb, "the bundled plugin", paths.show(&self.folder))
    }

    fn apply(&self, work: &mut Work<'_>) -> Result<Done> {
        write(&self.folder, &self.before, &self.after, work).map(|()| Done::Made)
    }

    fn revert(&self, work: &mut Work<'_>) -> Result<()> {
        write(&self.folder, &self.after, &self.before, work)
    }

    fn may_be_half(&self) -> bool {
        true
    }
}

fn write(folder: &Path, before: &Files, after: &Files, work: &mut Work<'_>) -> Result<()> {
    if !after.is_empty() {
        work.ledger.make(folder)?;
    }
    for (name, contents) in after {
        if before.get(name) != Some(contents) {
            write_atomic(&folder.join(name), contents, Mode::Shared)?;
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        let path = folder.join(name);
        if crate::fs::irregular(&path).is_some() {
            // We write files only, so this is not ours.
            continue;
        }
        std::fs::remove_file(&path).if_there().at("remove", &path)?;
    }
    if after.is_empty() {
        // It stays when something else is in it.
        let _not_empty = std::fs::remove_dir(folder);
    }
    Ok(())
}
