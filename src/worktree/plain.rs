//! A folder that is in no worktree: walked, and never through a link.

use super::RelPath;
use super::path::is_git;
use super::rules::{ByName, Rules, by_name};
use super::select::{Lifted, Selection};
use super::stayed::{Reason, Stayed};
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Lists what is below `root` and filters by name: `leaves_out`, which is told whether it is a folder and gives the rule,
/// the excludes and the deny-list. git's own folders are left out.
///
/// # Errors
/// The folder itself cannot be read.
pub(crate) fn walk(
    root: &Path,
    rules: &Rules,
    leaves_out: &dyn Fn(&RelPath, bool) -> Option<String>,
) -> Result<Selection> {
    below(Selection::of(root, rules), root, vec![Vec::new()], rules, leaves_out)
}

/// These files of `root`, and what is below these folders of it, filtered as by [`walk`]. What is not there is left out.
///
/// # Errors
/// A folder's entry cannot be read.
pub(crate) fn chosen(root: &Path, paths: &[RelPath], rules: &Rules) -> Result<Selection> {
    let mut selection = Selection::of(root, rules);
    let mut folders = Vec::new();
    for path in paths {
        match std::fs::symlink_metadata(root.join(path.as_path())) {
            Ok(found) if found.is_dir() => folders.push(path.as_bytes().to_vec()),
            Ok(_) => file(&mut selection, path.clone(), rules),
            Err(_) => {}
        }
    }
    let mut selection = below(selection, root, folders, rules, &|_, _| None)?;
    selection.files.dedup();
    Ok(selection)
}

fn below(
    mut selection: Selection,
    root: &Path,
    mut folders: Vec<Vec<u8>>,
    rules: &Rules,
    leaves_out: &dyn Fn(&RelPath, bool) -> Option<String>,
) -> Result<Selection> {
    while let Some(folder) = folders.pop() {
        let full = root.join(OsStr::from_bytes(&folder));
        let entries = match std::fs::read_dir(&full) {
            Ok(entries) => entries,
            Err(source) if folder.is_empty() => return Err(Error::io("read", &full, &source)),
            Err(source) => {
                let below = Path::new(OsStr::from_bytes(&folder));
                selection.stayed.push(Stayed::new(below, Reason::Unreadable, source.to_string()));
                continue;
            }
        };
        for entry in entries {
            let entry = entry.map_err(|source| Error::io("read", &full, &source))?;
            let name = entry.file_name();
            let inner = match &folder[..] {
                [] => name.as_bytes().to_vec(),
                above => [above, b"/", name.as_bytes()].concat(),
            };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && is_git(name.as_bytes()) {
                continue;
            }
            let path = match RelPath::new(&inner) {
                Ok(path) => path,
                Err(why) => {
                    let shown = Path::new(OsStr::from_bytes(&inner));
                    selection.stayed.push(Stayed::new(shown, Reason::Name, why.to_string()));
                    continue;
                }
            };
            if let Some(rule) = leaves_out(&path, is_folder) {
                selection.stayed.push(Stayed::new(path.as_path(), Reason::Excluded, rule));
            } else if is_folder {
                folders.push(inner);
            } else {
                file(&mut selection, path, rules);
            }
        }
    }
    selection.files.sort();
    Ok(selection)
}

fn file(selection: &mut Selection, path: RelPath, rules: &Rules) {
    match by_name(&path, rules) {
        ByName::Stays(reason, rule) => {
            selection.stayed.push(Stayed::new(path.as_path(), reason, rule));
            return;
        }
        ByName::Allowed(entry) => {
            let text = rules.allow_files[entry].pattern.to_string();
            selection.let_through.insert(path.clone(), Lifted::Allowed(text));
        }
        ByName::Depends(denied) => drop(selection.depends.insert(path.clone(), denied)),
        ByName::Leaves => {}
    }
    selection.files.push(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_walked_without_git_without_links_and_without_what_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in [".git", "src/deep", "node_modules/a"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [".git/config", "a.txt", "src/deep/b.txt", "node_modules/a/c.js", ".env", "src/.ssh"] {
            std::fs::write(root.join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("src", root.join("in")).unwrap();
        let left_out = |path: &RelPath, folder: bool| {
            (folder && path.file_name() == b"node_modules").then(|| "node_modules".to_owned())
        };
        let selection = walk(root, &Rules::default(), &left_out).unwrap();
        let files: Vec<String> = selection.files.iter().map(ToString::to_string).collect();
        assert_eq!(files, ["a.txt", "in", "out", "src/.ssh", "src/deep/b.txt"]);
        let stayed: Vec<_> =
            selection.stayed.iter().map(|stayed| (stayed.path.to_str().unwrap(), stayed.reason)).collect();
        assert!(stayed.contains(&(".env", Reason::Denied)), "{stayed:?}");
        assert!(stayed.contains(&("node_modules", Reason::Excluded)), "{stayed:?}");
        assert!(!stayed.iter().any(|(path, _)| path.starts_with(".git")), "{stayed:?}");
        let packed = crate::worktree::judge(&selection, &mut |_, _| {}).unwrap();
        let stays = |name: &str| packed.stayed.iter().find(|stayed| stayed.path == Path::new(name));
        assert_eq!(stays("out").unwrap().reason, Reason::LinkOut);
        assert!(stays("in").is_none());
    }
}
