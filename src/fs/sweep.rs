//! What is staged: made beside its place under a name of ours, and moved there at once. A run that was killed
//! may leave it.

use super::atomic::STAGED;
use crate::error::{IoContext, Result};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A new folder in `folder` under a name of ours; it goes when it is dropped.
///
/// # Errors
/// It cannot be made.
pub(crate) fn stage(folder: &Path) -> Result<TempDir> {
    tempfile::Builder::new().prefix(STAGED).tempdir_in(folder).at("create a folder in", folder)
}

/// What is staged in `folder`: files, and folders that hold nothing but folders, staged files and files whose names
/// are known. A folder that cannot be read holds nothing that we could remove.
pub(crate) fn staged(folder: &Path, is_known: &dyn Fn(&OsStr) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_ours = |entry: &std::fs::DirEntry| {
        let kind = entry.file_type();
        is_staged(&entry.file_name())
            && kind.is_ok_and(|kind| kind.is_file() || (kind.is_dir() && holds_only(&entry.path(), is_known)))
    };
    entries.flatten().filter(is_ours).map(|entry| entry.path()).collect()
}

/// Whether there is nothing below `folder` but folders, staged files and files whose names are known.
pub(crate) fn holds_only(folder: &Path, is_known: &dyn Fn(&OsStr) -> bool) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return false };
    entries.all(|entry| {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => holds_only(&entry.path(), is_known),
            Ok(kind) if kind.is_file() => is_staged(&name) || is_known(&name),
            _ => false,
        }
    })
}

/// Removes something staged.
///
/// # Errors
/// It, or something in it, cannot be removed.
pub(crate) fn remove_staged(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}

fn is_staged(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(STAGED.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_provably_staged_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        make(".createos-sandbox-a");
        make(".createos-sandbox-b/x/y/known.json");
        make(".createos-sandbox-c/x/mine.txt");
        make("other/.createos-sandbox-d");
        let is_known = |name: &OsStr| name == "known.json";
        let mut found = staged(dir.path(), &is_known);
        found.sort();
        let name = |name: &str| dir.path().join(name);
        assert_eq!(found, [name(".createos-sandbox-a"), name(".createos-sandbox-b")]);
        found.iter().for_each(|path| remove_staged(path).unwrap());
        assert!(staged(dir.path(), &is_known).is_empty());
        let gone = stage(dir.path()).unwrap().path().to_path_buf();
        assert!(!gone.exists());
    }
}
