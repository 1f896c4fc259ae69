//! A record for each box that a call has made for itself: written with its name before there is a box.

use super::StateFolder;
use crate::cos::say::say;
use crate::createos::{BoxId, BoxName, ProcessId, ProviderKind};
use crate::error::{Error, IoContext, Result};
use crate::fs::{IfThere, Lock, Mode, read_if_there, write_atomic};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// In the state folder.
const FOLDER: &str = "boxes";

/// How far a box is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// A call has it, or was killed with it: then it is deleted.
    InUse,
    /// It was kept for a person.
    Kept,
    /// It should be gone, and could not be deleted.
    Leftover,
}

/// What is on record of a box.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BoxRecord {
    pub(crate) name: BoxName,
    /// Its id, as soon as it is known.
    pub(crate) id: Option<BoxId>,
    pub(crate) provider: ProviderKind,
    /// The key of its project.
    pub(crate) project: String,
    /// The project's folder, for people.
    pub(crate) folder: PathBuf,
    /// The verb that has made it.
    pub(crate) verb: String,
    pub(crate) phase: Phase,
    /// The create call was made: there may be a box.
    pub(crate) create_called: bool,
    /// The command that runs in it.
    pub(crate) process: Option<ProcessId>,
    /// Seconds since 1970.
    pub(crate) created_at: u64,
}

impl BoxRecord {
    /// The record of a box that is about to be made.
    pub(crate) fn new(
        name: BoxName,
        provider: ProviderKind,
        project: &str,
        folder: PathBuf,
        verb: &str,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        Self {
            name,
            id: None,
            provider,
            project: project.into(),
            folder,
            verb: verb.into(),
            phase: Phase::InUse,
            create_called: false,
            process: None,
            created_at: now,
        }
    }
}

/// A record that this process has: nobody tidies its box up meanwhile.
#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) record: BoxRecord,
    state: StateFolder,
    _lock: Lock,
}

impl Owned {
    /// Changes the record, here and on the disk.
    ///
    /// # Errors
    /// It cannot be written; here it is changed all the same.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut BoxRecord)) -> Result<()> {
        change(&mut self.record);
        let mut bytes = serde_json::to_vec_pretty(&self.record).expect("records of ours have text keys");
        bytes.push(b'\n');
        write_atomic(&self.state.record(&self.record.name), &bytes, Mode::Private)
    }

    /// Gives it another name: that one is on the disk before the old one goes.
    ///
    /// # Errors
    /// It cannot be written, or somebody has a box of that name.
    pub(crate) fn rename(self, name: BoxName) -> Result<Self> {
        let record = BoxRecord { name, create_called: false, ..self.record.clone() };
        let renamed = self.state.own_new(record)?;
        self.forget()?;
        Ok(renamed)
    }

    /// Its box is gone.
    ///
    /// # Errors
    /// The record cannot be removed.
    pub(crate) fn forget(self) -> Result<()> {
        let path = self.state.record(&self.record.name);
        std::fs::remove_file(&path).if_there().at("remove", &path)?;
        // Last, and still held: nobody finds a record without its lock.
        let _gone = std::fs::remove_file(self.state.record_lock(&self.record.name));
        Ok(())
    }
}

impl StateFolder {
    fn record(&self, name: &BoxName) -> PathBuf {
        self.path().join(FOLDER).join(format!("{name}.json"))
    }

    fn record_lock(&self, name: &BoxName) -> PathBuf {
        self.path().join(FOLDER).join(format!("{name}.lock"))
    }

    /// Writes a new record, and has it.
    ///
    /// # Errors
    /// The folder cannot be written, or another call has a box of that name.
    pub(crate) fn own_new(&self, record: BoxRecord) -> Result<Owned> {
        self.make(FOLDER)?;
        let lock = Lock::try_take(&self.record_lock(&record.name))?
            .ok_or_else(|| Error::failed(format!("another call makes a box named {}", record.name)))?;
        let mut owned = Owned { record, state: self.clone(), _lock: lock };
        owned.change(|_| {})?;
        Ok(owned)
    }

    /// Waits until nobody has the record, and has it then; `None` when it is gone.
    ///
    /// # Errors
    /// It cannot be read or locked.
    pub(crate) fn own(&self, name: &BoxName) -> Result<Option<Owned>> {
        if !self.record(name).exists() {
            return Ok(None);
        }
        let lock = Lock::wait(&self.record_lock(name))?;
        self.owned(name, lock)
    }

    /// The same, when nobody has it now.
    ///
    /// # Errors
    /// It cannot be read or locked.
    pub(crate) fn own_if_free(&self, name: &BoxName) -> Result<Option<Owned>> {
        match Lock::try_take(&self.record_lock(name))? {
            Some(lock) => self.owned(name, lock),
            None => Ok(None),
        }
    }

    fn owned(&self, name: &BoxName, lock: Lock) -> Result<Option<Owned>> {
        let record = self.read_record(&self.record(name))?;
        if record.is_none() {
            let _nobodys = std::fs::remove_file(self.record_lock(name));
        }
        Ok(record.map(|record| Owned { record, state: self.clone(), _lock: lock }))
    }

    /// The boxes that are on record; none when that cannot be read, which proves less.
    pub(crate) fn ours(&self) -> HashSet<BoxId> {
        self.records().unwrap_or_default().into_iter().filter_map(|(record, _)| record.id).collect()
    }

    /// Whether a record is still there.
    pub(crate) fn has(&self, name: &BoxName) -> bool {
        self.record(name).exists()
    }

    /// All records, the oldest first, with whether somebody has each now.
    ///
    /// # Errors
    /// The folder, or one of them, cannot be read.
    pub(crate) fn records(&self) -> Result<Vec<(BoxRecord, bool)>> {
        let folder = self.path().join(FOLDER);
        let entries = std::fs::read_dir(&folder).if_there().at("read", &folder)?;
        let mut records = Vec::new();
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            if let Some(record) = self.read_record(&path)? {
                let held = Lock::is_held(&self.record_lock(&record.name))?;
                records.push((record, held));
            }
        }
        records.sort_by_key(|(record, _)| record.created_at);
        Ok(records)
    }

    /// One that is damaged is moved aside, and said: its box has the file's name.
    fn read_record(&self, path: &Path) -> Result<Option<BoxRecord>> {
        let Some(bytes) = read_if_there(path)? else { return Ok(None) };
        let error = match serde_json::from_slice(&bytes) {
            Ok(record) => return Ok(Some(record)),
            Err(error) => error,
        };
        let aside = (1..).map(|number| path.with_extension(format!("damaged-{number}")));
        let aside = aside.into_iter().find(|aside| !aside.exists()).expect("there is always another");
        std::fs::rename(path, &aside).at("move aside", path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        say(format!(
            "{}:{}:{}: the record of box {name} cannot be read: {error}; moved to {}; see whether that box is still there",
            path.display(),
            error.line(),
            error.column(),
            aside.display()
        ));
        Ok(None)
    }
}
