//! Contents on their way: private files in a temporary folder, so that memory stays bounded.

use crate::error::{Error, IoContext, Result};
use crate::fs::Digest;
use sha2::Digest as _;
use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A private temporary folder of numbered files; removed when dropped.
#[derive(Debug)]
pub(super) struct Spool {
    folder: tempfile::TempDir,
    count: Cell<usize>,
}

impl Spool {
    pub(super) fn new() -> Result<Self> {
        // Without this it would be as open as the umask lets it be.
        let private = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("createos-sandbox-").permissions(private).tempdir();
        let folder = folder.at("create a temporary folder in", &std::env::temp_dir())?;
        Ok(Self { folder, count: Cell::new(0) })
    }

    /// A new empty file's path; the file is not there yet.
    pub(super) fn fresh(&self) -> PathBuf {
        self.count.set(self.count.get() + 1);
        self.folder.path().join(self.count.get().to_string())
    }

    /// Keeps these bytes.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.fresh();
        std::fs::write(&path, bytes).at("write", &path)?;
        Ok(path)
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
}
