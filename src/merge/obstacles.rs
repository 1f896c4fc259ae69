//! What stands in the way of new files: other files, links, folders, and names that a disk takes for one.

use super::folders_of;
use super::ours::{Here, Ours, Way};
use super::transaction::Change;
use crate::error::Result;
use crate::worktree::RelPath;
use std::collections::{BTreeMap, BTreeSet};

/// What stands in the way of the changes, apart from the paths' own contents: path and reason.
///
/// # Errors
/// The worktree cannot be looked at.
pub(super) fn obstacles(ours: &mut Ours<'_>, changes: &[Change]) -> Result<Vec<(RelPath, String)>> {
    let deletes: BTreeSet<&[u8]> =
        changes.iter().filter(|c| c.after.is_none()).map(|c| c.path.as_bytes()).collect();
    let mut found = Vec::new();
    let mut spellings = BTreeMap::new();
    for Change { path, .. } in changes.iter().filter(|change| change.after.is_some()) {
        let mut why = None;
        for folder in folders_of(path) {
            let what = match ours.way(&folder)? {
                Way::Folder | Way::Repository | Way::Missing => continue,
                Way::Link => "a link",
                Way::File => "a file",
            };
            if !deletes.contains(folder.as_bytes()) {
                why = Some(format!("{folder} is {what} here"));
            }
        }
        if ours.at(path)? == Here::Folder {
            let below = ours.below(path)?;
            if let Some(other) = below.iter().find(|other| !deletes.contains(&other[..])) {
                why = Some(format!("a folder here, with {}", String::from_utf8_lossy(other)));
            }
        }
        if let Some(twin) = ours.twin(path)?
            && !deletes.contains(twin.as_bytes())
        {
            why = Some(format!("differs only in letter case from {twin}, and this disk takes them for one"));
        }
        if ours.folds_case() {
            let folded = String::from_utf8_lossy(path.as_bytes()).to_lowercase();
            if let Some(other) = spellings.insert(folded, path) {
                why = Some(format!(
                    "differs only in letter case from {other}, and this disk takes them for one"
                ));
            }
        }
        found.extend(why.map(|why| (path.clone(), why)));
    }
    Ok(found)
}
