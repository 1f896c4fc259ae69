//! Contents on their way: private files in a temporary folder, so that memory stays bounded.

use crate::error::{Error, IoContext, Result};
use crate::fs::Digest;
use sha2::Digest as _;
use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the folders' names begin with.
const PREFIX: &str = "createos-sandbox-work-";
/// A folder younger than this may not be locked yet by whoever makes it.
const YOUNG: Duration = Duration::from_secs(60);

/// A private temporary folder of numbered files; removed when dropped. It is locked while it is used, so
/// that the next run can tell and remove what a killed one has left.
#[derive(Debug)]
pub(super) struct Spool {
    folder: tempfile::TempDir,
    count: Cell<usize>,
    _in_use: File,
}

impl Spool {
    pub(super) fn new() -> Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(temporary: &Path) -> Result<Self> {
        remove_abandoned(temporary);
        // Without this it would be as open as the umask lets it be.
        let private = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(temporary);
        let folder = folder.at("create a temporary folder in", temporary)?;
        let in_use = File::open(folder.path()).at("open", folder.path())?;
        in_use.lock().at("lock", folder.path())?;
        Ok(Self { folder, count: Cell::new(0), _in_use: in_use })
    }

    /// A new empty file's path; the file is not there yet.
    pub(super) fn fresh(&self) -> PathBuf {
        self.count.set(self.count.get() + 1);
        self.folder.path().join(self.count.get().to_string())
    }

    /// Keeps a copy of the file `from`, whose hash is that of the copy.
    ///
    /// # Errors
    /// It cannot be read, or the copy not be written.
    pub(super) fn copy(&self, from: &Path) -> Result<(PathBuf, Digest)> {
        let path = self.fresh();
        let mut copy = File::create_new(&path).at("create", &path)?;
        let (_, hash) =
            copy_hashed(&mut File::open(from).at("open", from)?, &mut copy, u64::MAX).at("copy", from)?;
        Ok((path, hash))
    }

    /// Keeps these bytes.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.fresh();
        std::fs::write(&path, bytes).at("write", &path)?;
        Ok(path)
    }
}

/// Removes the folders of killed runs. What cannot be removed is in nobody's way.
fn remove_abandoned(temporary: &Path) {
    let Ok(entries) = std::fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let ours = std::fs::symlink_metadata(&path).is_ok_and(|found| {
            let old = found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > YOUNG));
            found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && old
        });
        if ours && File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()) {
            let _a_later_run_tries_again = std::fs::remove_dir_all(&path);
        }
    }
}

/// Copies `from` to `to` and hashes it on the way; at most `limit` bytes.
///
/// # Errors
/// Reading or writing failed, or there is more than `limit`.
pub(super) fn copy_hashed(
    from: &mut impl Read,
    to: &mut impl Write,
    limit: u64,
) -> std::io::Result<(u64, Digest)> {
    let mut hash = sha2::Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0u64;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok((total, <[u8; 32]>::from(hash.finalize()).into())),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        total += count as u64;
        if total > limit {
            return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "more than it may be"));
        }
        hash.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
    }
}

/// The hash of a file's contents, read as a stream.
pub(super) fn hash_file(path: &Path) -> Result<Digest> {
    let mut file = File::open(path).at("open", path)?;
    match copy_hashed(&mut file, &mut std::io::sink(), u64::MAX) {
        Ok((_, hash)) => Ok(hash),
        Err(source) => Err(Error::io("read", path, &source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_look_into_the_folder() {
        let spool = Spool::new().unwrap();
        let folder = spool.keep(b"a user's work").unwrap().parent().unwrap().to_path_buf();
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        drop(spool);
        assert!(!folder.exists());
    }
    #[test]
    fn what_a_killed_run_left_goes_and_what_is_in_use_or_not_ours_stays() {
        let dir = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * YOUNG;
        let age = |path: &Path| File::open(path).unwrap().set_modified(old).unwrap();
        let make = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("1"), "work").unwrap();
            path
        };
        let (killed, young) = (make("createos-sandbox-work-a"), make("createos-sandbox-work-b"));
        let (other, outside) = (make("createos-sandbox-x"), make("outside"));
        let link = dir.path().join("createos-sandbox-work-link");
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let in_use = Spool::new_in(dir.path()).unwrap();
        let used = in_use.keep(b"work").unwrap();
        for path in [&killed, &other, &outside, used.parent().unwrap()] {
            age(path);
        }
        drop(Spool::new_in(dir.path()).unwrap());
        assert!(!killed.exists());
        for path in [&young, &other, &outside.join("1"), &link, &used] {
            assert!(path.exists(), "{}", path.display());
        }
    }
}
