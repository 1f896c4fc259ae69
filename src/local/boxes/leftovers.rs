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
/// A copy that is being made: its maker holds its lock.
pub(super) const COPY: &str = "copy-";
/// A folder that [`remove_tree`] had moved up.
const TRASH: &str = ".trash-";

/// Deletes them. The caller holds the lock of all boxes.
pub(super) fn sweep(boxes: &Path) -> Result<()> {
    for entry in std::fs::read_dir(boxes).at("read", boxes)?.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let may_be_held = [OLD, COPY].iter().any(|start| name.starts_with(start));
        if !may_be_held && ![NEW, TRASH].iter().any(|start| name.starts_with(start)) {
            continue;
        }
        // One that is being deleted or made just now is somebody's.
        let lock = may_be_held.then(|| Lock::try_take(&boxes.join(&name).join("lock")));
        if !matches!(lock.transpose(), Ok(Some(None))) {
            remove_tree(boxes, &name)?;
        }
    }
    Ok(())
}
