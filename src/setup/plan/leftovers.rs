//! What runs left behind that were killed before their receipt was there, or after it was gone.

use crate::paths::Paths;
use crate::setup::observe::{Observed, plugin};
use crate::setup::receipt::{PluginState, disk};
use std::path::PathBuf;

/// Whether Herdr runs the plugin from our folder, or may: then the folder is in use.
pub(in crate::setup) fn is_in_use(paths: &Paths) -> bool {
    let plugin = plugin::registered(paths).map(|found| found.map(|found| found.plugin));
    plugin.map_or(true, |plugin| PluginState::from(plugin.as_ref()).is_bundled(paths))
}

/// What is provably ours and belongs to no receipt, in the order in which it goes: what is staged, copies that are
/// named by their own hash, folders of ours in which nothing else is. `without` goes by itself.
pub(in crate::setup) fn find(paths: &Paths, observed: &Observed, without: &[PathBuf]) -> Vec<PathBuf> {
    let (receipts, bundle) = (paths.receipts(), paths.bundled_plugin());
    let ours = [receipts.join("originals"), receipts, bundle, paths.data().to_path_buf()];
    let seen = [&observed.config, &observed.keys];
    let beside = seen.into_iter().flat_map(|file| [file.path.parent(), file.real.parent()]).flatten();
    let mut places: Vec<PathBuf> = ours.iter().cloned().chain(beside.map(PathBuf::from)).collect();
    places.extend(disk::folders(paths));
    places.sort();
    places.dedup();
    let mut found: Vec<PathBuf> = places.iter().flat_map(|place| disk::staged_in(place, paths)).collect();
    found.extend(disk::copies(paths, &[]));
    for folder in ours {
        let Ok(mut entries) = std::fs::read_dir(&folder) else { continue };
        let goes = |path: PathBuf| found.contains(&path) || without.contains(&path);
        if !without.contains(&folder) && entries.all(|entry| entry.is_ok_and(|entry| goes(entry.path()))) {
            found.push(folder);
        }
    }
    found
}
