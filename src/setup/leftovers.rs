//! What runs left behind that were killed before their receipt was there, or after it was gone.

use super::observe::{self, Observed};
use super::receipt;
use super::template;
use crate::error::{IoContext, Result};
use crate::fs::remove_staged;
use crate::paths::Paths;
use std::path::PathBuf;

/// Folders through which the way to the receipts leads, as far as they are there: the receipt is staged in one of
/// them. Above the home folder nothing is ours.
pub(super) fn way_to_receipts(paths: &Paths) -> Vec<PathBuf> {
    let receipts = paths.receipts();
    let there = receipts.ancestors().skip(1).filter(|folder| folder.is_dir());
    let mut way: Vec<PathBuf> = there.clone().take(1).map(PathBuf::from).collect();
    way.extend(there.skip(1).take_while(|folder| folder.starts_with(paths.home())).map(PathBuf::from));
    way
}

/// Whether Herdr runs the plugin from our folder, or may: then the folder is in use.
fn is_in_use(paths: &Paths) -> bool {
    let registry = paths.herdr_config_dir().join("plugins.json");
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    match observe::registered(&registry, &template::herdr().plugin.id) {
        Ok(None) => false,
        Ok(Some(registered)) => real(registered.plugin.root) == real(paths.bundled_plugin()),
        Err(_unknown) => true,
    }
}

/// What is provably ours and belongs to no receipt.
#[derive(Debug)]
pub(super) struct Leftovers {
    /// Staged files and folders.
    staged: Vec<PathBuf>,
    /// Copies that are named by their own hash, and the two files of the bundled plugin when nobody has registered it.
    files: Vec<PathBuf>,
    /// Folders of ours in which nothing else is, the inner ones first.
    folders: Vec<PathBuf>,
}

impl Leftovers {
    /// Looks for them.
    pub(super) fn find(paths: &Paths, observed: &Observed) -> Self {
        let (receipts, bundle) = (paths.receipts(), paths.bundled_plugin());
        let ours = [receipts.join("originals"), receipts, bundle.clone(), paths.data().to_path_buf()];
        let seen = [&observed.config, &observed.keys];
        let beside = seen.into_iter().flat_map(|file| [file.path.parent(), file.real.parent()]).flatten();
        let mut places: Vec<PathBuf> = ours.iter().cloned().chain(beside.map(PathBuf::from)).collect();
        places.extend(way_to_receipts(paths));
        places.sort();
        places.dedup();
        let staged: Vec<PathBuf> = places.iter().flat_map(|place| receipt::staged_in(place)).collect();
        let mut files = receipt::copies(paths);
        if !is_in_use(paths) {
            files.extend(observed.bundle.keys().map(|name| bundle.join(name)));
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in ours {
            let Ok(mut entries) = std::fs::read_dir(&folder) else { continue };
            let goes =
                |path: PathBuf| [&staged, &files, &folders].into_iter().any(|list| list.contains(&path));
            if entries.all(|entry| entry.is_ok_and(|entry| goes(entry.path()))) {
                folders.push(folder);
            }
        }
        Self { staged, files, folders }
    }

    /// All of them, in the order in which they go.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.staged.iter().chain(&self.files).chain(&self.folders)
    }

    /// Removes them. A folder into which somebody has put something meanwhile stays.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(super) fn remove(&self) -> Result<()> {
        for path in &self.staged {
            remove_staged(path).at("remove", path)?;
        }
        for path in &self.files {
            std::fs::remove_file(path).at("remove", path)?;
        }
        for path in &self.folders {
            match std::fs::remove_dir(path) {
                Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => {}
                removed => removed.at("remove", path)?,
            }
        }
        Ok(())
    }
}
