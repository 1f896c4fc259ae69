//! Backups of users' files: the first one is kept for ever, later ones are numbered, none is made twice.

use crate::fs::digest;
use crate::setup::observe::files::FileSeen;
use crate::setup::receipt::Receipt;
use std::path::{Path, PathBuf};

/// What a backup's name adds to the file's.
const SUFFIX: &str = ".before-createos";

/// Where a copy of a file's bytes goes beside it; none when there is such a copy already, or when the bytes are what an
/// earlier setup left, which are never given back.
pub(super) fn needed(file: &FileSeen, receipt: Option<&Receipt>) -> Option<PathBuf> {
    let bytes = file.bytes.as_ref()?;
    let is_ours = receipt.is_some_and(|receipt| {
        let hash = digest(bytes);
        receipt.files.iter().any(|known| known.path == file.path && known.left.contains(&hash))
    });
    if is_ours { None } else { place(&file.path, bytes) }
}

/// Where a copy of `bytes` goes beside `path`; none when there is such a copy already.
pub(super) fn place(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(SUFFIX);
        if number > 1 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    let mut number = 1;
    loop {
        let place = numbered(number);
        match crate::fs::read_regular(&place) {
            Ok(old) if old == bytes => return None,
            // Something is there, even if it cannot be read.
            _ if place.symlink_metadata().is_ok() => number += 1,
            _ => return Some(place),
        }
    }
}

/// The backups beside `path`, the first one first.
pub(super) fn all(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let first = [name.as_encoded_bytes(), SUFFIX.as_bytes()].concat();
    let number = |entry: &Path| -> Option<u32> {
        let rest = entry.file_name()?.as_encoded_bytes().strip_prefix(&first[..])?;
        match rest {
            [] => Some(1),
            rest => std::str::from_utf8(rest).ok()?.strip_prefix('.')?.parse().ok(),
        }
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> =
        entries.flatten().filter_map(|entry| Some((number(&entry.path())?, entry.path()))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_backup_stays_and_the_next_one_is_numbered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let first = place(&path, b"one").unwrap();
        assert_eq!(first, dir.path().join("config.toml.before-createos"));
        std::fs::write(&first, "one").unwrap();
        assert_eq!(place(&path, b"one"), None);
        assert_eq!(place(&path, b"two").unwrap(), dir.path().join("config.toml.before-createos.2"));
    }
}
