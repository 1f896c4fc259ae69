//! The state folder: one versioned file under a lock, a lock file a record and a pane, a folder a box.

use super::record::{Record, RecordId};
use super::state::{State, VERSION};
use crate::createos::BoxId;
use crate::error::{Error, IoContext, Result};
use crate::fs::{Lock, Mode, digest, write_atomic};
use crate::herdr::TerminalId;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder in which the actions remember things.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in this folder, which is made when something is remembered: looking leaves nothing behind.
    pub(crate) fn open(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// Makes the folders, with mode 0700, where they are missing.
    fn made(&self) -> Result<()> {
        for folder in [self.folder.clone(), self.folder.join("locks"), self.folder.join("boxes")] {
            make_private(&folder).map_err(|error| {
                error
                    .help(format!(
                        "it must be writable for you; look at it with: ls -ld {}",
                        self.folder.display()
                    ))
                    .fact("folder", self.folder.display().to_string())
            })?;
        }
        Ok(())
    }

    /// The state in `folder`, for readers who must not change anything: no folder is made, and a corrupt
    /// file stays where it is.
    ///
    /// # Errors
    /// It cannot be read, is corrupt, or a newer version of this program wrote it.
    pub(crate) fn peek(folder: &Path) -> Result<State> {
        let store = Self { folder: folder.to_path_buf() };
        match store.parse()? {
            Parsed::State(state) => Ok(state),
            Parsed::Corrupt(reason) => Err(Error::failed(format!("{}: {reason}", store.file().display()))),
        }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    /// The state as it is now. A file that was moved aside or is missing counts as empty.
    ///
    /// # Errors
    /// It cannot be read, or a newer version of this program wrote it.
    pub(crate) fn read(&self) -> Result<State> {
        match self.parse()? {
            Parsed::State(state) => Ok(state),
            Parsed::Corrupt(_) => self.update(|state| Ok(state.clone())),
        }
    }

    /// Changes the state under its lock. Nothing is written when the change fails.
    ///
    /// # Errors
    /// The change's own, or the file cannot be read, locked or written.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        self.made()?;
        let _lock = Lock::wait(&self.folder.join("state.lock"))?;
        let mut state = match self.parse()? {
            Parsed::State(state) => state,
            Parsed::Corrupt(reason) => {
                self.move_aside(&reason)?;
                State::default()
            }
        };
        let result = change(&mut state)?;
        let mut text = serde_json::to_vec_pretty(&state)
            .map_err(|error| Error::failed(format!("the state cannot be written: {error}")))?;
        text.push(b'\n');
        write_atomic(&self.file(), &text, Mode::Private)?;
        Ok(result)
    }

    fn parse(&self) -> Result<Parsed> {
        let path = self.file();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Parsed::State(State::default()));
            }
            Err(source) => return Err(Error::io("read", &path, &source)),
        };
        // The version first: a newer file may well look corrupt to us.
        let version = serde_json::from_slice::<serde_json::Value>(&bytes)
            .ok()
            .and_then(|value| value.get("version")?.as_u64());
        if version.is_some_and(|version| version > u64::from(VERSION)) {
            return Err(Error::cannot_run(format!(
                "{} was written by a newer createos-sandbox",
                path.display()
            ))
            .help("update createos-sandbox, then run: createos-sandbox setup herdr"));
        }
        Ok(match serde_json::from_slice::<State>(&bytes) {
            Ok(state) => Parsed::State(state),
            Err(error) => Parsed::Corrupt(error.to_string()),
        })
    }

    /// A corrupt file is kept for a person to read, and said so on stderr and in the plugin's log.
    fn move_aside(&self, reason: &str) -> Result<()> {
        let path = self.file();
        let aside = (0..)
            .map(|n| self.folder.join(format!("state.json.corrupt-{n}")))
            .find(|path| !path.exists())
            .expect("there is always another number");
        std::fs::rename(&path, &aside).at("move aside", &path)?;
        crate::ui::note(format!(
            "warning: {} could not be read ({reason}); it was moved to {}. Boxes that it named are still there: \
             createos-sandbox herdr boxes",
            path.display(),
            aside.display()
        ));
        Ok(())
    }

    /// Takes the lock of a pane in which start was pressed; `None` when a start holds it.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub(crate) fn lock_source(&self, socket: &str, terminal: &TerminalId) -> Result<Option<Lock>> {
        self.made()?;
        Lock::take_soon(&self.source_lock(socket, terminal))
    }

    /// Whether a start that was pressed in this pane is under way.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub(crate) fn is_source_locked(&self, socket: &str, terminal: &TerminalId) -> Result<bool> {
        Lock::is_held(&self.source_lock(socket, terminal))
    }

    fn source_lock(&self, socket: &str, terminal: &TerminalId) -> PathBuf {
        let key = digest(format!("{socket}\0{terminal}").as_bytes()).to_string();
        self.folder.join("locks").join(format!("source-{}.lock", &key[..16]))
    }

    /// Takes the lock of a record for its pane's process; `None` when another one lives.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub(crate) fn own_record(&self, id: &RecordId) -> Result<Option<Lock>> {
        self.made()?;
        Lock::take_soon(&self.record_lock(id))
    }

    /// Whether a record's process lives: it holds the record's lock.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub(crate) fn is_record_owned(&self, id: &RecordId) -> Result<bool> {
        Lock::is_held(&self.record_lock(id))
    }

    /// Waits for the lock of a record.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub(crate) fn lock_record(&self, id: &RecordId) -> Result<Lock> {
        self.made()?;
        Lock::wait(&self.record_lock(id))
    }

    fn record_lock(&self, id: &RecordId) -> PathBuf {
        self.folder.join("locks").join(format!("record-{id}.lock"))
    }

    /// Removes locks of panes and records that are gone, after Herdr's start: terminals have new ids then,
    /// so nobody asks for the old ones. One that is held stays.
    pub(crate) fn sweep_locks(&self, records: &[Record]) {
        for entry in std::fs::read_dir(self.folder.join("locks")).into_iter().flatten().flatten() {
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
        self.folder.join("locks").join(format!("record-{id}.wake"))
    }

    /// Drops a record, and what belongs to it beside the state file. The caller holds its lock.
    ///
    /// # Errors
    /// Those of [`Store::update`].
    pub(crate) fn forget(&self, id: &RecordId) -> Result<()> {
        self.update(|state| {
            state.forget(id);
            Ok(())
        })?;
        for path in [self.record_lock(id), self.wake_file(id)] {
            let _already_gone = std::fs::remove_file(path);
        }
        Ok(())
    }

    /// The folder of what we keep for a box: its base, kept patches. Made with mode 0700 when missing.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn box_folder(&self, id: &BoxId) -> Result<PathBuf> {
        let folder = self.folder.join("boxes").join(id.as_str());
        make_private(&folder)?;
        Ok(folder)
    }

    /// Forgets what was in step with a box that is gone. Kept patches stay: a person may want them.
    pub(crate) fn forget_base(&self, id: &BoxId) {
        let folder = self.folder.join("boxes").join(id.as_str());
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name() != "patches" {
                let path = entry.path();
                let _already_gone =
                    if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            }
        }
        let _has_patches = std::fs::remove_dir(folder);
    }
}

enum Parsed {
    State(State),
    Corrupt(String),
}

fn make_private(folder: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).at("create the folder", folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::createos::{BoxName, ProviderKind};
    use crate::herdr::{Pane, PaneId};
    use crate::state::{Phase, Record};

    fn record(socket: &str, terminal: &str, pane: &str) -> Record {
        Record {
            id: RecordId::random(),
            phase: Phase::Ready,
            socket: socket.into(),
            source: None,
            terminal: Some(TerminalId::try_from(terminal.to_owned()).unwrap()),
            pane: Some(PaneId::try_from(pane.to_owned()).unwrap()),
            provider: ProviderKind::Local,
            name: "hd-x".parse::<BoxName>().unwrap(),
            create_called: false,
            box_id: None,
            agent: "shell".into(),
            program: None,
            process: None,
            worktree: "/w".into(),
            remote_root: "/workspace".into(),
            auto_pause: "30m".into(),
            outcome: None,
            delete_armed_at: None,
            created_at: 0,
        }
    }

    #[test]
    fn a_state_reads_back_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("state"));
        let one = record("/s", "term_1", "w1:p1");
        store
            .update(|state| {
                state.records.push(one.clone());
                Ok(())
            })
            .unwrap();
        let state = store.read().unwrap();
        assert_eq!(state.records[0].id, one.id);
        assert!(state.of_terminal("/s", one.terminal.as_ref().unwrap()).is_some());
        assert!(state.of_terminal("/other", one.terminal.as_ref().unwrap()).is_none(), "another session");
    }

    #[test]
    fn a_corrupt_file_is_kept_aside_and_a_newer_one_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path());
        std::fs::write(store.file(), "{\"version\":1,").unwrap();
        assert!(store.read().unwrap().records.is_empty());
        assert_eq!(
            std::fs::read_to_string(dir.path().join("state.json.corrupt-0")).unwrap(),
            "{\"version\":1,"
        );
        std::fs::write(store.file(), "{\"version\":2,\"records\":7}").unwrap();
        assert!(store.read().unwrap_err().message().contains("newer"));
        assert!(store.update(|_| Ok(())).is_err());
        assert_eq!(std::fs::read_to_string(store.file()).unwrap(), "{\"version\":2,\"records\":7}");
    }

    #[test]
    fn after_a_restart_a_listed_pane_is_bound_again_and_a_missing_one_is_an_orphan() {
        let records = vec![
            record("/s", "term_1", "w1:p1"),
            record("/s", "term_2", "w1:p2"),
            record("/other", "term_3", "w1:p1"),
            record("/s", "term_4", "w1:p4"),
        ];
        let mut state = State { records, ..State::default() };
        let new = TerminalId::try_from("term_9".to_owned()).unwrap();
        let pane = |id: &str, cwd: &Path| Pane {
            id: PaneId::try_from(id.to_owned()).unwrap(),
            terminal: new.clone(),
            cwd: Some(cwd.to_owned()),
        };
        let worktree = state.records[0].worktree.clone();
        // The pane with the last record's id is somebody else's: ids are given anew.
        let panes = [pane("w1:p1", &worktree.join("src")), pane("w1:p4", Path::new("/elsewhere"))];
        let orphans = state.rebind("/s", &panes);
        assert_eq!(orphans, [state.records[1].id.clone(), state.records[3].id.clone()]);
        assert!(state.records[1].pane.is_none() && state.records[3].pane.is_none(), "an old id is not kept");
        assert_eq!(state.records[0].terminal, Some(new));
        assert!(state.records[1].terminal.is_none());
        assert_eq!(state.records[2].terminal.as_ref().unwrap().to_string(), "term_3");
    }
}
