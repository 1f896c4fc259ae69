//! An exclusive advisory lock on a file of ours, held while the value lives.

use crate::error::{IoContext, Result};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// An exclusive lock; released when dropped or when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only held"))]
    file: File,
}

impl Lock {
    /// Waits for the lock on `path`, which is created with mode 0600 when missing.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn wait(path: &Path) -> Result<Self> {
        loop {
            let file = open(path)?;
            file.lock().at("lock", path)?;
            if is_at(&file, path) {
                return Ok(Self { file });
            }
        }
    }

    /// Writes down who holds it, for those who find it held.
    ///
    /// # Errors
    /// It cannot be written.
    #[cfg(target_os = "linux")]
    pub(crate) fn sign(&self, words: &str) -> std::io::Result<()> {
        use std::os::unix::fs::FileExt;
        self.file.set_len(0)?;
        self.file.write_all_at(words.as_bytes(), 0)
    }

    /// Whether the lock is held. Looking takes it shared, so that two processes that look do not see each other.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn is_held(path: &Path) -> Result<bool> {
        if !path.exists() {
            return Ok(false);
        }
        match open(path)?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(source).at("lock", path),
        }
    }

    /// As [`Lock::try_take`], but tries again for a moment: another process may be looking just now.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn take_soon(path: &Path) -> Result<Option<Self>> {
        Self::take_within(path, Duration::from_millis(250))
    }

    /// As [`Lock::try_take`], but tries again for so long.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn take_within(path: &Path, patience: Duration) -> Result<Option<Self>> {
        let deadline = Instant::now() + patience;
        loop {
            let taken = Self::try_take(path)?;
            if taken.is_some() || Instant::now() >= deadline {
                return Ok(taken);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Takes the lock; `None` when it is held.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn try_take(path: &Path) -> Result<Option<Self>> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Some(Self { file })),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(source).at("lock", path),
            }
        }
    }
}

/// Whether the file is still the one at its place: the lock of a removed file does not exclude anything.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |metadata: Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(place).ok() == std::fs::metadata(path).map(place).ok()
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .at("open", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waited_for_a_file_that_was_removed_meanwhile_waits_for_the_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = Lock::wait(&path).unwrap();
        let waits = std::thread::spawn({
            let path = path.clone();
            move || Lock::wait(&path).unwrap()
        });
        // Long enough to have opened it; if not, there is nothing to prove.
        std::thread::sleep(Duration::from_millis(200));
        std::fs::remove_file(&path).unwrap();
        let second = Lock::try_take(&path).unwrap().expect("a new file is free");
        drop(first);
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waits.is_finished(), "two have the lock");
        drop(second);
        drop(waits.join().unwrap());
        assert!(!Lock::is_held(&path).unwrap());
    }

    #[test]
    fn those_who_look_are_not_taken_for_an_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let looking = open(&path).unwrap();
        looking.try_lock_shared().unwrap();
        assert!(!Lock::is_held(&path).unwrap(), "another one looks");
        assert!(Lock::try_take(&path).unwrap().is_none(), "it bites");
        let looks_shortly = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(looking);
        });
        let owner = Lock::take_soon(&path).unwrap();
        assert!(owner.is_some() && Lock::is_held(&path).unwrap());
        looks_shortly.join().unwrap();
        drop(owner);
        assert!(!Lock::is_held(&path).unwrap());
    }
}
