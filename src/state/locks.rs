//! The locks of the state folder: of a pane in which start was pressed, and of a record's process.

use super::record::{Record, RecordId};
use super::store::Store;
use crate::error::Result;
use crate::fs::{Lock, digest};
use crate::herdr::TerminalId;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Store {
    /// Takes the lock of a pane in which start was pressed; `None` when a start holds it.
    pub(crate) fn lock_source(&self, socket: &str, terminal: &TerminalId) -> Result<Option<Lock>> {
        self.take_soon(&self.lock("source", hashed(format!("{socket}\0{terminal}").as_bytes())))
    }

    /// Whether a start that was pressed in this pane is under way.
    pub(crate) fn is_source_locked(&self, socket: &str, terminal: &TerminalId) -> Result<bool> {
        Lock::is_held(&self.lock("source", hashed(format!("{socket}\0{terminal}").as_bytes())))
    }

    /// Takes the lock of a record for its pane's process; `None` when another one lives.
    pub(crate) fn own_record(&self, id: &RecordId) -> Result<Option<Lock>> {
        self.take_soon(&self.lock("record", id))
    }

    /// Whether a record's process lives: it holds the record's lock.
    pub(crate) fn is_record_owned(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.lock("record", id))
    }

    /// Waits until no other process opens a pane for this record.
    pub(crate) fn lock_showing(&self, id: &RecordId) -> Result<Lock> {
        self.wait(&self.lock("showing", id))
    }

    /// Takes the lock of a record's holding screen, for its pane's process.
    pub(crate) fn hold(&self, id: &RecordId) -> Result<Option<Lock>> {
        self.take_soon(&self.lock("holding", id))
    }

    /// Whether a record's pane shows its holding screen.
    pub(crate) fn is_holding(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.lock("holding", id))
    }

    /// Waits until no other process brings this record's agent back: two would start two agents.
    pub(crate) fn lock_agent(&self, id: &RecordId) -> Result<Lock> {
        self.wait(&self.lock("agent", id))
    }

    /// Whether a process brings this record's agent back just now.
    pub(crate) fn is_agent_locked(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.lock("agent", id))
    }

    /// Waits until no other popup asks about this worktree.
    pub(crate) fn ask(&self, worktree: &Path) -> Result<Lock> {
        self.wait(&self.lock("asking", hashed(worktree.as_os_str().as_bytes())))
    }

    /// Whether a popup asks about this worktree.
    pub(crate) fn is_asked(&self, worktree: &Path) -> Result<bool> {
        Lock::is_held(&self.lock("asking", hashed(worktree.as_os_str().as_bytes())))
    }

    /// Waits for the lock of a record.
    pub(crate) fn lock_record(&self, id: &RecordId) -> Result<Lock> {
        self.wait(&self.lock("record", id))
    }

    pub(super) fn lock(&self, what: &str, whose: impl Display) -> PathBuf {
        self.folder().join("locks").join(format!("{what}-{whose}.lock"))
    }

    fn take_soon(&self, lock: &Path) -> Result<Option<Lock>> {
        self.made()?;
        Lock::take_soon(lock)
    }

    fn wait(&self, lock: &Path) -> Result<Lock> {
        self.made()?;
        Lock::wait(lock)
    }

    /// Removes locks of panes and records that are gone, after Herdr's start: terminals have new ids then,
    /// so the old ones are not used any more. One that is held stays.
    pub(crate) fn sweep_locks(&self, records: &[Record]) {
        for entry in std::fs::read_dir(self.folder().join("locks")).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let needed = records.iter().any(|record| name.starts_with(&format!("record-{}", record.id)));
            let free = || Lock::is_held(&path).is_ok_and(|held| !held);
            if !needed && name.ends_with(".lock") && free() {
                let _already_gone = std::fs::remove_file(&path);
            }
        }
    }

    /// The file by which an attach wakes the holding screen of a record.
    pub(crate) fn wake_file(&self, id: &RecordId) -> PathBuf {
        self.folder().join("locks").join(format!("record-{id}.wake"))
    }
}

/// For what is no name of a file by itself.
fn hashed(key: &[u8]) -> String {
    digest(key).to_string()[..16].to_owned()
}
