//! Whole or not at all: temporary file beside the real one, fsync, rename, fsync of the folder.

use super::{irregular, kill_point, resolve};
use crate::error::{Error, IoContext, Result};
use std::fs::{File, Metadata, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// How the names of staged files begin.
pub(super) const STAGED: &str = ".createos-sandbox-";

/// The mode that a new file gets. An existing file keeps its own mode and owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// 0600: the owner only.
    Private,
    /// 0644: readable by everybody.
    Shared,
}

impl Mode {
    fn bits(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Shared => 0o644,
        }
    }
}

/// Replaces the contents of `path`. Links are followed, so that a linked dotfile stays a link;
/// mode and owner of an existing file are kept, `new` is the mode of one that did not exist.
///
/// # Errors
/// Anything that keeps the write from being complete; the old contents are then still there. What is there
/// is a device, a FIFO, a socket or a folder, which is nobody's to replace.
pub(crate) fn write_atomic(path: &Path, contents: &[u8], new: Mode) -> Result<()> {
    let real = resolve(path)?;
    let folder = real.parent().ok_or_else(|| Error::failed(format!("{} has no folder", real.display())))?;
    if let Some(kind) = irregular(&real) {
        return Err(Error::failed(format!(
            "{} is {kind}, not a regular file; it is left alone",
            real.display()
        )));
    }
    let existing = match std::fs::metadata(&real) {
        Ok(metadata) => Some(metadata),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => return Err(Error::io("read", &real, &source)),
    };
    let mut staged =
        tempfile::Builder::new().prefix(STAGED).tempfile_in(folder).at("create a file in", folder)?;
    kill_point();
    staged.write_all(contents).at("write", staged.path())?;
    take_over(staged.as_file(), existing.as_ref(), new).at("set the mode of", staged.path())?;
    staged.as_file().sync_all().at("sync", staged.path())?;
    kill_point();
    staged.persist(&real).map_err(|refused| Error::io("replace", &real, &refused.error))?;
    kill_point();
    File::open(folder).and_then(|folder| folder.sync_all()).at("sync", folder)
}

fn take_over(file: &File, existing: Option<&Metadata>, new: Mode) -> std::io::Result<()> {
    let Some(old) = existing else {
        return file.set_permissions(Permissions::from_mode(new.bits()));
    };
    let mine = file.metadata()?;
    if (mine.uid(), mine.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays_too() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o664)).unwrap();
        symlink("real", &link).unwrap();
        write_atomic(&link, b"new", Mode::Private).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o777, 0o664);
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, link) = (dir.path().join("fifo"), dir.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        symlink("fifo", &link).unwrap();
        let refused = write_atomic(&link, b"x", Mode::Private).unwrap_err();
        assert!(refused.message().contains("fifo is a FIFO"), "{}", refused.message());
        assert_eq!(irregular(&fifo), Some("a FIFO"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing staged is left");
    }

    #[test]
    fn a_new_file_gets_the_mode_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        write_atomic(&path, b"{}", Mode::Private).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing staged is left");
    }
}
