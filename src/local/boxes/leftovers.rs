//! What creations and deletions leave that were cut off: folders of no box any more.

use super::remove::remove_tree;
use crate::error::IoContext;
use crate::fs::Lock;
use crate::local::failure::Result;
use std::path::Path;

/// A box that is being made: it appears under its id when it is complete.
pub(super) const NEW: &str = "new-";
/// A box that is being deleted.
pub(super) const OLD: &str = "old-";
/// A folder that [`remove_tree`] had moved up.
const TRASH: &str = ".trash-";

/// Deletes them. The caller holds the lock of all boxes.
pub(super) fn sweep(boxes: &Path) -> Result<()> {
    for entry in std::fs::read_dir(boxes).at("read", boxes)?.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_doomed = name.starts_with(OLD);
        if !is_doomed && ![NEW, TRASH].iter().any(|start| name.starts_with(start)) {
            continue;
        }
        // One that is being deleted just now is its deleter's.
        let lock = is_doomed.then(|| Lock::try_take(&boxes.join(&name).join("lock")));
        if !matches!(lock.transpose(), Ok(Some(None))) {
            remove_tree(boxes, &name)?;
        }
    }
    Ok(())
}
