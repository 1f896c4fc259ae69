//! What is staged: made beside its place under a name of ours, and moved there at once. A run that was killed
//! may leave it.

use super::atomic::STAGED;
use crate::error::{IoContext, Result};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A new folder in `folder` under a name of ours; it goes when it is dropped.
///
/// # Errors
/// It cannot be made.
pub(crate) fn stage(folder: &Path) -> Result<TempDir> {
    tempfile::Builder::new().prefix(STAGED).tempdir_in(folder).at("create a folder in", folder)
}

/// Whether something below a folder is ours: its path, its path from that folder on, and whether it is a folder.
pub(crate) type IsOurs<'a> = &'a dyn Fn(&Path, &Path, bool) -> bool;

/// What is staged in `folder`: files, and folders in which everything is ours. A folder that cannot be read holds
/// nothing that we could remove.
pub(crate) fn staged(folder: &Path, is_ours: IsOurs<'_>) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_whole = |entry: &std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => all_of(&entry.path(), is_ours).is_some(),
        Ok(kind) => kind.is_file(),
        Err(_gone) => false,
    };
    let entries = entries.flatten().filter(|entry| is_staged(&entry.file_name()));
    entries.filter(is_whole).map(|entry| entry.path()).collect()
}

/// Everything below `folder`, what is in a folder before it, and `folder` itself at the end; none when something in
/// there is not ours.
pub(crate) fn all_of(folder: &Path, is_ours: IsOurs<'_>) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    into(folder, folder, is_ours, &mut found)?;
    Some(found)
}

fn into(root: &Path, folder: &Path, is_ours: IsOurs<'_>, found: &mut Vec<PathBuf>) -> Option<()> {
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let below = path.strip_prefix(root).ok()?;
        let is_plain = kind.is_dir() || kind.is_file();
        if !is_plain || !is_ours(&path, below, kind.is_dir()) {
            return None;
        }
        if kind.is_dir() { into(root, &path, is_ours, found)? } else { found.push(path) }
    }
    found.push(folder.to_path_buf());
    Some(())
}

/// Removes what [`all_of`] found, piece by piece: what was put there since stays, with its folders.
///
/// # Errors
/// A piece cannot be removed.
pub(crate) fn remove_pieces(pieces: &[PathBuf]) -> io::Result<()> {
    for piece in pieces {
        let removed = match piece.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir(piece),
            Ok(_) => std::fs::remove_file(piece),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {}
            removed => removed?,
        }
    }
    Ok(())
}

/// Removes something staged: a file, or a folder in which everything is ours.
///
/// # Errors
/// It, or something in it, cannot be removed.
pub(crate) fn remove_staged(path: &Path, is_ours: IsOurs<'_>) -> io::Result<()> {
    if !path.symlink_metadata()?.is_dir() {
        return std::fs::remove_file(path);
    }
    remove_pieces(&all_of(path, is_ours).unwrap_or_default())
}

/// Whether this is the name of something staged: our prefix and the six characters that make it unique.
pub(crate) fn is_staged(name: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(STAGED.as_bytes());
    rest.is_some_and(|rest| rest.len() == 6 && rest.iter().all(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_provably_staged_is_found_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        make(".createos-sandbox-aaaaaa");
        make(".createos-sandbox-bbbbbb/x/y/known.json");
        make(".createos-sandbox-cccccc/x/mine.txt");
        make(".createos-sandbox-dddddd/known.json");
        make(".createos-sandbox-notes.txt");
        make("other/.createos-sandbox-eeeeee");
        let is_ours =
            |_: &Path, below: &Path, is_folder: bool| is_folder || below.ends_with("x/y/known.json");
        let mut found = staged(dir.path(), &is_ours);
        found.sort();
        let name = |name: &str| dir.path().join(name);
        assert_eq!(found, [name(".createos-sandbox-aaaaaa"), name(".createos-sandbox-bbbbbb")]);
        found.iter().for_each(|path| remove_staged(path, &is_ours).unwrap());
        assert!(staged(dir.path(), &is_ours).is_empty());
        assert!(found.iter().all(|path| !path.exists()));
        let gone = stage(dir.path()).unwrap().path().to_path_buf();
        assert!(!gone.exists());
    }

    #[test]
    fn what_came_meanwhile_stays_with_its_folders() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a");
        std::fs::create_dir_all(root.join("b/c")).unwrap();
        std::fs::write(root.join("b/ours"), "").unwrap();
        let pieces = all_of(&root, &|_, _, _| true).unwrap();
        std::fs::write(root.join("b/his"), "").unwrap();
        remove_pieces(&pieces).unwrap();
        assert!(root.join("b/his").exists() && !root.join("b/ours").exists() && !root.join("b/c").exists());
    }
}
