//! The locks of the state folder: of a pane in which start was pressed, and of a record's process.

use super::record::{Record, RecordId};
use super::store::Store;
use crate::error::Result;
use crate::fs::{Lock, digest};
use crate::herdr::TerminalId;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Store {
    /// Takes the lock of a pane in which start was pressed; `None` when a start holds it.
    pub(crate) fn lock_source(&self, socket: &str, terminal: &TerminalId) -> Result<Option<Lock>> {
        self.made()?;
        Lock::take_soon(&self.source_lock(socket, terminal))
    }

    /// Whether a start that was pressed in this pane is under way.
    pub(crate) fn is_source_locked(&self, socket: &str, terminal: &TerminalId) -> Result<bool> {
        Lock::is_held(&self.source_lock(socket, terminal))
    }

    fn source_lock(&self, socket: &str, terminal: &TerminalId) -> PathBuf {
        let key = digest(format!("{socket}\0{terminal}").as_bytes()).to_string();
        self.folder().join("locks").join(format!("source-{}.lock", &key[..16]))
    }

    /// Takes the lock of a record for its pane's process; `None` when another one lives.
    pub(crate) fn own_record(&self, id: &RecordId) -> Result<Option<Lock>> {
        self.made()?;
        Lock::take_soon(&self.record_lock(id))
    }

    /// Whether a record's process lives: it holds the record's lock.
    pub(crate) fn is_record_owned(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.record_lock(id))
    }

    /// Waits until no other process opens a pane for this record.
    pub(crate) fn lock_showing(&self, id: &RecordId) -> Result<Lock> {
        self.made()?;
        Lock::wait(&self.folder().join("locks").join(format!("showing-{id}.lock")))
    }

    /// Takes the lock of a record's holding screen, for its pane's process.
    pub(crate) fn hold(&self, id: &RecordId) -> Result<Option<Lock>> {
        self.made()?;
        Lock::take_soon(&self.holding_lock(id))
    }

    /// Whether a record's pane shows its holding screen.
    pub(crate) fn is_holding(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.holding_lock(id))
    }

    fn holding_lock(&self, id: &RecordId) -> PathBuf {
        self.folder().join("locks").join(format!("holding-{id}.lock"))
    }

    /// Waits until no other process brings this record's agent back: two would start two agents.
    pub(crate) fn lock_agent(&self, id: &RecordId) -> Result<Lock> {
        self.made()?;
        Lock::wait(&self.agent_lock(id))
    }

    /// Whether a process brings this record's agent back just now.
    pub(crate) fn is_agent_locked(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.agent_lock(id))
    }

    fn agent_lock(&self, id: &RecordId) -> PathBuf {
        self.folder().join("locks").join(format!("agent-{id}.lock"))
    }

    /// Waits until no other popup asks about this worktree.
    pub(crate) fn ask(&self, worktree: &Path) -> Result<Lock> {
        self.made()?;
        Lock::wait(&self.asking_lock(worktree))
    }

    /// Whether a popup asks about this worktree.
    pub(crate) fn is_asked(&self, worktree: &Path) -> Result<bool> {
        Lock::is_held(&self.asking_lock(worktree))
    }

    fn asking_lock(&self, worktree: &Path) -> PathBuf {
        let key = digest(worktree.as_os_str().as_bytes()).to_string();
        self.folder().join("locks").join(format!("asking-{}.lock", &key[..16]))
    }

    /// Waits for the lock of a record.
    pub(crate) fn lock_record(&self, id: &RecordId) -> Result<Lock> {
        self.made()?;
        Lock::wait(&self.record_lock(id))
    }

    pub(super) fn record_lock(&self, id: &RecordId) -> PathBuf {
        self.folder().join("locks").join(format!("record-{id}.lock"))
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
