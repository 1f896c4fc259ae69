//! An exclusive advisory lock on a file of ours, held while the value lives.

use crate::error::{IoContext, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// An exclusive lock; released when dropped or when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock on `path`, which is created with mode 0600 when missing.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn wait(path: &Path) -> Result<Self> {
        let file = open(path)?;
        file.lock().at("lock", path)?;
        Ok(Self { _file: file })
    }

    /// Takes the lock if nobody holds it; `None` when somebody does.
    ///
    /// # Errors
    /// The file cannot be opened, created or locked.
    pub(crate) fn try_take(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(source).at("lock", path),
        }
    }
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
