//! The receipt while a run goes on: what is about to be made is written down before it is there.

use crate::error::{IoContext, Result};
use crate::paths::Paths;
use crate::setup::receipt::{Progress, Receipt, VERSION};
use std::path::{Path, PathBuf};

/// What a plan is applied for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To set up: a receipt is kept.
    Setup,
    /// To take back: the receipt goes at the end.
    Undo,
}

/// The receipt of a run, and the folders that the run made.
pub(crate) struct Ledger<'a> {
    paths: &'a Paths,
    purpose: Purpose,
    /// As it is on the disk.
    pub(super) receipt: Receipt,
    made: Vec<PathBuf>,
}

impl<'a> Ledger<'a> {
    /// A run that begins with the receipt of earlier ones.
    pub(crate) fn new(paths: &'a Paths, before: Option<Receipt>, purpose: Purpose) -> Self {
        let begun = Receipt { schema_version: VERSION, ..Receipt::default() };
        let receipt = Receipt { state: Progress::Applying, ..before.unwrap_or(begun) };
        Self { paths, purpose, receipt, made: Vec::new() }
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Writes the receipt for the first time, with the folders that lead to it.
    ///
    /// # Errors
    /// A folder or the file cannot be made.
    pub(super) fn open(&mut self) -> Result<()> {
        let missing = missing(&self.paths.receipts());
        self.receipt.folders.extend(missing.iter().cloned());
        self.receipt.write_with(&missing, self.paths)?;
        self.made.extend(missing);
        Ok(())
    }

    /// Writes it as it is now.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self) -> Result<()> {
        self.receipt.write(self.paths)
    }

    /// Makes a folder with its parents.
    ///
    /// # Errors
    /// One of them cannot be made.
    pub(super) fn make(&mut self, folder: &Path) -> Result<()> {
        let missing = missing(folder);
        let new: Vec<PathBuf> =
            missing.iter().filter(|folder| !self.receipt.folders.contains(folder)).cloned().collect();
        if self.purpose == Purpose::Setup && !new.is_empty() {
            self.receipt.folders.extend(new);
            self.write()?;
        }
        for folder in missing {
            std::fs::create_dir(&folder).at("create the folder", &folder)?;
            crate::fs::kill_point();
            self.made.push(folder);
        }
        Ok(())
    }

    /// Removes the folders of this run, unless something is in them now.
    pub(super) fn remove_made(&self) {
        for folder in self.made.iter().rev() {
            let _in_use_or_gone = std::fs::remove_dir(folder);
        }
    }
}

/// The folders that are not there on the way to `folder`, the outermost first, by their real paths.
fn missing(folder: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    let Some(outermost) = missing.last().and_then(|outermost| outermost.parent()) else { return Vec::new() };
    let real = outermost.canonicalize().unwrap_or_else(|_is_relative| outermost.to_path_buf());
    let below = |folder: &&Path| folder.strip_prefix(outermost).map(|rest| real.join(rest)).ok();
    missing.iter().rev().filter_map(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_folders_are_named_by_their_real_paths() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        let expected = [root.join("b"), root.join("b/c")];
        assert_eq!(missing(&root.join("a/../b/c")), expected);
        assert_eq!(missing(&root.join("b/c")), expected);
        assert!(missing(&root.join("a")).is_empty());
    }
}
