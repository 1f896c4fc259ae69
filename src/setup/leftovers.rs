//! What runs left behind that were killed before their receipt was there, or after it was gone.

use super::observe::{self, Observed};
use super::receipt;
use super::template;
use crate::fs::sweep_staged;
use crate::paths::Paths;
use std::path::PathBuf;

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

/// Removes what is provably ours and belongs to no receipt: staged files, copies that are named by their
/// own hash, the two files of the bundled plugin when nobody has registered it, and empty folders of ours.
/// Says what went.
pub(super) fn sweep(paths: &Paths, observed: &Observed) -> Vec<PathBuf> {
    let (receipts, bundle) = (paths.receipts(), paths.bundled_plugin());
    let originals = receipts.join("originals");
    let mut gone = Vec::new();
    let files = [&observed.config, &observed.keys];
    let beside = files.into_iter().flat_map(|file| [file.path.parent(), file.real.parent()]).flatten();
    for folder in [originals.as_path(), &receipts, &bundle].into_iter().chain(beside) {
        gone.extend(sweep_staged(folder));
    }
    let mut files = receipt::copies(paths);
    if !is_in_use(paths) {
        files.extend(observed.bundle.keys().map(|name| bundle.join(name)));
    }
    gone.extend(files.into_iter().filter(|file| std::fs::remove_file(file).is_ok()));
    let folders = [originals, receipts, bundle, paths.data().to_path_buf()];
    gone.extend(folders.into_iter().filter(|folder| std::fs::remove_dir(folder).is_ok()));
    gone
}
