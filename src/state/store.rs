//! The state folder: one versioned file under a lock, a lock file a record and a pane, a folder a box.

use super::record::{Record, RecordId};
use super::state::{State, VERSION, salvage};
use crate::command;
use crate::createos::BoxId;
use crate::error::{Error, IoContext, Kind, Result};
use crate::fs::{IfThere, Lock, Mode, make_private, open_regular, refuse_newer, write_atomic};
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The folder in which the actions remember things.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
    /// What was read last, so that a process that looks again and again reads the file once.
    seen: Arc<Mutex<Option<Seen>>>,
}

/// A state, and the stamp of the file that held it.
type Seen = (Stamp, Arc<State>);
/// Tells one state of a file from another.
type Stamp = (u64, u64, i64, i64);
/// A file that was written so short a time before it was read may be written once more without a trace:
/// the clock of file systems ticks slowly.
const SETTLED: Duration = Duration::from_millis(100);

impl Store {
    /// The store in this folder, which is made when something is remembered: looking leaves nothing behind.
    pub(crate) fn open(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), seen: Arc::default() }
    }

    /// Makes the folders, with mode 0700, where they are missing.
    pub(super) fn made(&self) -> Result<()> {
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

    /// The state for readers who must not change anything: no folder is made, and a corrupt file stays where it is.
    ///
    /// # Errors
    /// It cannot be read, is corrupt, or a newer version of this program wrote it.
    pub(super) fn unchanged(&self) -> Result<State> {
        match self.parse()? {
            Parsed::State(state, ..) => Ok(*state),
            Parsed::Corrupt(reason, _) => Err(Error::failed(format!("{}: {reason}", self.file().display()))),
        }
    }

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
    pub(crate) fn read(&self) -> Result<Arc<State>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((stamp, state)) = seen.as_ref()
            && std::fs::metadata(self.file()).is_ok_and(|file| stamp_of(&file) == *stamp)
        {
            return Ok(Arc::clone(state));
        }
        let (state, stamp) = match self.parse()? {
            Parsed::State(state, stamp, _) => (Arc::new(*state), stamp),
            Parsed::Corrupt(..) => (Arc::new(self.update(|state| Ok(state.clone()))?), None),
        };
        *seen = stamp.map(|stamp| (stamp, Arc::clone(&state)));
        Ok(state)
    }

    /// Changes the state under its lock. Nothing is written when the change fails, or changes nothing.
    ///
    /// # Errors
    /// The change's own, or the file cannot be read, locked or written.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        self.made()?;
        let _lock = Lock::wait(&self.folder.join("state.lock"))?;
        let (mut state, written) = match self.parse()? {
            Parsed::State(state, _, written) => (*state, written),
            Parsed::Corrupt(reason, readable) => {
                self.move_aside(&reason)?;
                (*readable, Vec::new())
            }
        };
        let result = change(&mut state)?;
        let mut text = serde_json::to_vec_pretty(&state)
            .map_err(|error| Error::failed(format!("the state cannot be written: {error}")))?;
        text.push(b'\n');
        if text == written {
            return Ok(result);
        }
        write_atomic(&self.file(), &text, Mode::Private)?;
        Ok(result)
    }

    /// The same with a change that does not fail.
    pub(crate) fn edit<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T> {
        self.update(|state| Ok(change(state)))
    }

    /// Changes a record under the state's lock, if it is there.
    pub(crate) fn change(&self, id: &RecordId, change: impl FnOnce(&mut Record)) -> Result<()> {
        self.edit(|state| state.record_mut(id).map_or((), change))
    }

    fn parse(&self) -> Result<Parsed> {
        let path = self.file();
        let read = || -> std::io::Result<_> {
            let mut file = open_regular(&path)?;
            let found = file.metadata()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok((found, bytes))
        };
        let Some((found, bytes)) = read().if_there().at("read", &path)? else {
            return Ok(Parsed::State(Box::default(), None, Vec::new()));
        };
        let update = format!("update createos-sandbox, then run: {}", command::setup());
        refuse_newer(&path, &bytes, VERSION, Kind::CannotRun, update)?;
        let settled = found.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > SETTLED);
        Ok(match serde_json::from_slice::<State>(&bytes) {
            Ok(state) => Parsed::State(Box::new(state), settled.then(|| stamp_of(&found)), bytes),
            Err(error) => Parsed::Corrupt(error.to_string(), Box::new(salvage(&bytes))),
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
            "warning: {} could not be read ({reason}); it was moved to {}. What is readable of it stays, and all boxes \
             that it named are still there: {}",
            path.display(),
            aside.display(),
            command::action("boxes")
        ));
        Ok(())
    }

    /// Forgets a box: its record, the lock and wake file of it, and what was in step with it. This is the one
    /// way in which that happens. Kept patches stay, and what came home can still be taken back. The name of a box
    /// that may still come stays too.
    pub(crate) fn forget(&self, record: &Record) -> Result<()> {
        self.edit(|state| {
            state.forget(&record.id);
            if record.create_called && record.box_id.is_none() {
                state.remember(record);
            }
        })?;
        // A process that still holds the lock looks at the record before anything else.
        for path in [self.lock("record", &record.id), self.wake_file(&record.id)] {
            let _already_gone = std::fs::remove_file(path);
        }
        if let Some(id) = &record.box_id {
            self.forget_base(id, record.name.as_str());
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
}

enum Parsed {
    /// With the file's stamp, if that tells this state from any later one, and with what it holds.
    State(Box<State>, Option<Stamp>, Vec<u8>),
    /// Why, and what of it is readable.
    Corrupt(String, Box<State>),
}

fn stamp_of(file: &Metadata) -> Stamp {
    (file.ino(), file.len(), file.mtime(), file.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::createos::{BoxName, ProviderKind};
    use crate::herdr::{Pane, TerminalId};
    use crate::state::Phase;

    fn record(socket: &str, terminal: &str, pane: &str) -> Record {
        Record {
            id: RecordId::random(),
            phase: Phase::Ready,
            socket: socket.into(),
            source: None,
            terminal: Some(terminal.parse().unwrap()),
            pane: Some(pane.parse().unwrap()),
            provider: ProviderKind::Local,
            name: "hd-x".parse::<BoxName>().unwrap(),
            create_called: false,
            box_id: None,
            agent: "shell".to_owned().into(),
            args: Vec::new(),
            unattended: false,
            environment: Vec::new(),
            project_failed: None,
            folder: None,
            program: None,
            process: None,
            shown: None,
            paused_by_hand: false,
            label: None,
            worktree: "/w".into(),
            remote_root: "/workspace".to_owned().into(),
            auto_pause: "30m".to_owned().into(),
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
    fn a_change_is_seen_whoever_made_it_and_a_settled_file_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, theirs) = (Store::open(dir.path()), Store::open(dir.path()));
        for n in 0..300 {
            theirs
                .update(|state| {
                    state.installation = format!("{n:04}");
                    Ok(())
                })
                .unwrap();
            assert_eq!(ours.read().unwrap().installation, format!("{n:04}"));
        }
        let old = std::time::SystemTime::now() - 2 * SETTLED;
        std::fs::File::options().write(true).open(ours.file()).unwrap().set_modified(old).unwrap();
        assert!(Arc::ptr_eq(&ours.read().unwrap(), &ours.read().unwrap()));
        theirs
            .update(|state| {
                state.records.push(record("/s", "term_1", "w1:p1"));
                Ok(())
            })
            .unwrap();
        assert_eq!(ours.read().unwrap().records.len(), 1);
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
        let new: TerminalId = "term_9".parse().unwrap();
        let pane = |id: &str, cwd: &Path| Pane {
            id: id.parse().unwrap(),
            terminal: new.clone(),
            cwd: Some(cwd.to_owned()),
            label: None,
            tab: None,
        };
        let worktree = state.records[0].worktree.clone();
        // The pane with the last record's id is another one now: ids are given anew.
        let panes = [pane("w1:p1", &worktree.join("src")), pane("w1:p4", Path::new("/elsewhere"))];
        let orphans = rebind(&mut state, &panes);
        assert_eq!(orphans, [state.records[1].id.clone(), state.records[3].id.clone()]);
        assert!(state.records[1].pane.is_none() && state.records[3].pane.is_none(), "an old id is not kept");
        assert_eq!(state.records[0].terminal, Some(new));
        assert!(state.records[1].terminal.is_none());
        assert_eq!(state.records[2].terminal.as_ref().unwrap().to_string(), "term_3");
    }

    fn rebind(state: &mut State, panes: &[Pane]) -> Vec<RecordId> {
        let before = state.clone();
        state.rebind("/s", panes, &before)
    }

    #[test]
    fn a_pane_shows_one_box_whoever_else_was_seen_under_its_id() {
        let pane = |terminal: &str| Pane {
            id: "w2:p1".parse().unwrap(),
            terminal: terminal.parse().unwrap(),
            cwd: Some("/w".into()),
            label: None,
            tab: None,
        };
        let records = vec![
            record("/s", "term_1", "w2:p1"),
            record("/s", "term_2", "w1:p2"),
            record("/other", "term_3", "w2:p1"),
        ];
        let mut state = State { records, ..State::default() };
        // The pane of the first was closed; its id came back to the second's.
        let second = state.records[1].id.clone();
        state.bind(&second, "/s", &pane("term_5"));
        assert!(state.records[0].pane.is_none(), "it is not believed after a restart");
        assert!(state.records[2].pane.is_some(), "ids of another session are its own");
        assert_eq!(rebind(&mut state, &[pane("term_9")]), [state.records[0].id.clone()]);
        assert_eq!(state.records[1].terminal, Some(pane("term_9").terminal));

        // Of two that claim a pane, one is bound; none while the pane shows another box.
        state.records[0] = record("/s", "term_1", "w2:p1");
        assert_eq!(rebind(&mut state, &[pane("term_9")]), [state.records[0].id.clone()]);
        state.records[0] = record("/s", "term_1", "w2:p1");
        assert_eq!(rebind(&mut state, &[pane("term_10")]), [second]);
    }
}
