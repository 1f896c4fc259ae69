//! Staged files that a killed write left behind.

use super::atomic::STAGED;
use std::path::{Path, PathBuf};

/// Removes staged files of ours from `folder`; says which went.
/// A folder that cannot be read holds none that we could remove.
pub(crate) fn sweep_staged(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_ours = |entry: &std::fs::DirEntry| {
        entry.file_name().as_encoded_bytes().starts_with(STAGED.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    let staged = entries.flatten().filter(is_ours).map(|entry| entry.path());
    staged.filter(|path| std::fs::remove_file(path).is_ok()).collect()
}
