//! The project of a call: its top folder, and the key under which it is remembered.

use crate::error::{IoContext, Result};
use sha1::Digest;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A folder whose boxes belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    /// The top of the worktree, or the folder itself.
    pub(super) root: PathBuf,
    /// The first 12 hex digits of the SHA-1 of its path.
    pub(super) key: String,
}

impl Project {
    /// That of the current folder.
    ///
    /// # Errors
    /// It was removed.
    pub(super) fn here() -> Result<Self> {
        let here = std::env::current_dir().at("find the current folder", Path::new("."))?;
        Ok(Self::of(top(&here).unwrap_or_else(|| as_the_shell_has_it(&here))))
    }

    fn of(root: PathBuf) -> Self {
        let digest = sha1::Sha1::digest(root.as_os_str().as_bytes());
        let key: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self { root, key }
    }
}

/// The top of the worktree that a folder is in, as git finds it, without asking git.
pub(super) fn top(folder: &Path) -> Option<PathBuf> {
    let real = folder.canonicalize().ok()?;
    let found = real.ancestors().find(|above| is_repository(&above.join(".git")));
    found.map(Path::to_path_buf)
}

/// A repository, or the file of a linked worktree.
fn is_repository(git: &Path) -> bool {
    match git.metadata() {
        Ok(found) if found.is_dir() => git.join("HEAD").symlink_metadata().is_ok(),
        Ok(found) => found.is_file(),
        Err(_) => false,
    }
}

/// Outside of worktrees the earlier driver took the shell's own path, with its links.
fn as_the_shell_has_it(here: &Path) -> PathBuf {
    let shells = std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    shells
        .filter(|path| path.canonicalize().is_ok_and(|real| real == here))
        .unwrap_or_else(|| here.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_that_of_the_earlier_driver() {
        // printf %s /home/me/shop | sha1sum
        assert_eq!(Project::of(PathBuf::from("/home/me/shop")).key, "36e8ea8d4189");
    }

    #[test]
    fn a_worktree_is_found_from_below_and_a_linked_one_too() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(top(&root), None);
        std::fs::create_dir_all(root.join("a/.git")).unwrap();
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        assert_eq!(top(&root.join("a/b/c")), None, "an empty .git is no repository");
        std::fs::write(root.join("a/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(top(&root.join("a/b/c")), Some(root.join("a")));
        std::fs::write(root.join("a/b/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(top(&root.join("a/b/c")), Some(root.join("a/b")));
    }
}
