//! The boxes on this machine: a folder each, a lock each, and tombstones of those that are gone.

use super::id::{BoxId, BoxName};
use super::meta::{Meta, Status, Tombstone, VERSION, now};
use super::{pause, record, remove, running, skeleton};
use crate::command;
use crate::error::{Error, IoContext};
use crate::fs::{Lock, Mode, write_atomic};
use crate::local::failure::{Failure, Result};
use crate::paths::Paths;
use crate::ui;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// How many deleted boxes are remembered.
const TOMBSTONES: usize = 500;
/// Host uids of boxes that root made: 65,536 from here, inside the range that systemd leaves to
/// containers (524288 to 1879048191), so that no account of the host has one.
pub(crate) const FIRST_UID: u32 = 0x6000_0000;

/// In a box's folder: records of its processes.
pub(crate) const PROCESSES: &str = "processes";
/// In a box's folder: those of its processes that run now.
pub(crate) const RUNNING: &str = "running";

/// The folder of all boxes.
pub(crate) struct Store {
    folder: PathBuf,
}

/// A box that exists.
#[derive(Debug, Clone)]
pub(crate) struct LocalBox {
    folder: PathBuf,
    /// Its record when it was read.
    pub(crate) meta: Meta,
}

/// What a reference leads to.
pub(crate) enum Found {
    /// A box.
    Live(LocalBox),
    /// One that is gone.
    Gone(Tombstone),
}

/// A box's record, as far as there is one.
enum Look {
    Whole(Meta),
    /// The box is there, and what it was cannot be read.
    Damaged(Error),
    Absent,
}

impl Store {
    /// The store of this user. Its folder is made with the first box: looking leaves nothing behind.
    pub(crate) fn open(paths: &Paths) -> Self {
        Self { folder: paths.boxes() }
    }

    /// The store in this folder.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn lock(&self) -> Result<Lock> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).at("create", &self.folder)?;
        Ok(Lock::wait(&self.folder.join("lock"))?)
    }

    /// Makes a box. `meta` has everything but the uid.
    pub(crate) fn create(&self, mut meta: Meta) -> Result<LocalBox> {
        let _lock = self.lock()?;
        let boxes = self.all()?;
        if boxes.iter().any(|other| other.meta.name == meta.name) {
            return Err(Failure::conflict(format!("a sandbox with the name {} exists already", meta.name))
                .help("give it another --name, or delete the other one"));
        }
        if rustix::process::geteuid().is_root() {
            meta.uid = Some(free_uid(&boxes)?);
        }
        // It appears under its id when it is complete; what a killed run leaves is swept by the next.
        self.sweep()?;
        let staged = format!("new-{}", meta.id);
        let folder = self.folder.join(&staged);
        DirBuilder::new().mode(0o700).create(&folder).at("create", &folder)?;
        let made = fill(&folder, &meta).and_then(|()| {
            let place = self.folder.join(meta.id.as_str());
            Ok(std::fs::rename(&folder, &place).at("rename", &folder).map(|()| place)?)
        });
        match made {
            Ok(folder) => Ok(LocalBox { folder, meta }),
            Err(failure) => {
                remove::remove_tree(&self.folder, &staged)?;
                Err(failure)
            }
        }
    }

    /// Deletes what cut-off creations and deletions have left. Needs the lock.
    fn sweep(&self) -> Result<()> {
        for entry in std::fs::read_dir(&self.folder).at("read", &self.folder)?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_doomed = name.starts_with("old-");
            if !is_doomed && !["new-", ".trash-"].iter().any(|start| name.starts_with(start)) {
                continue;
            }
            // One that is being deleted just now is its deleter's.
            let lock = is_doomed.then(|| Lock::try_take(&self.folder.join(&name).join("lock")));
            if !matches!(lock.transpose(), Ok(Some(None))) {
                remove::remove_tree(&self.folder, &name)?;
            }
        }
        Ok(())
    }

    /// All boxes, newest first.
    pub(crate) fn all(&self) -> Result<Vec<LocalBox>> {
        let mut boxes = Vec::new();
        let entries = match std::fs::read_dir(&self.folder) {
            Err(source) if source.kind() == ErrorKind::NotFound => return Ok(boxes),
            entries => entries.at("read", &self.folder)?,
        };
        for entry in entries.flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<BoxId>().ok()) else {
                continue;
            };
            match self.read(&id) {
                Ok(Some(found)) => boxes.push(found),
                // Deleted meanwhile.
                Ok(None) => {}
                // One damaged record must not hide all other boxes.
                Err(failure) => {
                    ui::note(format!("warning: {}", ui::visible(failure.error().message())));
                    failure.error().hints().iter().for_each(|hint| ui::note(format!("  {hint}")));
                }
            }
        }
        boxes.sort_by(|a, b| b.meta.id.cmp(&a.meta.id));
        Ok(boxes)
    }

    /// Boxes that are gone, newest first.
    pub(crate) fn tombstones(&self) -> Result<Vec<Tombstone>> {
        let path = self.folder.join("destroyed.json");
        match std::fs::read(&path) {
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            read => Ok(parse(&path, &read.at("read", &path)?)?),
        }
    }

    fn look(&self, id: &BoxId) -> Result<Look> {
        #[derive(serde::Deserialize)]
        struct Head {
            version: u32,
        }
        let folder = self.folder.join(id.as_str());
        let path = folder.join("meta.json");
        let bytes = match std::fs::read(&path) {
            // A box appears and goes as a whole: without its folder, nothing is missing.
            Err(source) if source.kind() == ErrorKind::NotFound && !folder.exists() => {
                return Ok(Look::Absent);
            }
            Err(source) if source.kind() == ErrorKind::NotFound => {
                return Ok(Look::Damaged(Error::failed(format!("{} is missing", path.display()))));
            }
            read => read.at("read", &path)?,
        };
        if parse::<Head>(&path, &bytes).is_ok_and(|head| head.version > VERSION) {
            return Err(Error::failed(format!("{} was written by a newer createos-sandbox", path.display()))
                .help("use that version for this box")
                .into());
        }
        Ok(parse(&path, &bytes).map_or_else(Look::Damaged, Look::Whole))
    }

    fn read(&self, id: &BoxId) -> Result<Option<LocalBox>> {
        match self.look(id)? {
            Look::Whole(meta) => Ok(Some(LocalBox { folder: self.folder.join(id.as_str()), meta })),
            Look::Absent => Ok(None),
            Look::Damaged(error) => Err(error
                .help(format!("delete the box: {}", command::own(["local", "sandbox", "rm", "--yes"]).on(id)))
                .into()),
        }
    }

    /// The box or the tombstone for an exact id or an exact name.
    pub(crate) fn find(&self, reference: &str) -> Result<Found> {
        if let Ok(id) = reference.parse::<BoxId>() {
            if let Some(found) = self.read(&id)? {
                return Ok(Found::Live(found));
            }
            if let Some(gone) = self.tombstones()?.into_iter().find(|gone| gone.id == id) {
                return Ok(Found::Gone(gone));
            }
        } else if let Ok(name) = reference.parse::<BoxName>()
            && let Some(found) = self.all()?.into_iter().find(|found| found.meta.name == name)
        {
            return Ok(Found::Live(found));
        }
        let how = if reference.starts_with("sb-") { "matching" } else { "named" };
        Err(Failure::not_found(format!("no sandbox {how} \"{reference}\""))
            .help(command::own(["local", "sandbox", "list"])))
    }

    /// The box for a reference; one that is gone is an error.
    pub(crate) fn live(&self, reference: &str) -> Result<LocalBox> {
        match self.find(reference)? {
            Found::Live(mut found) => {
                pause::settle(&mut found)?;
                Ok(found)
            }
            Found::Gone(gone) => {
                Err(Failure::conflict(format!("sandbox {} ({}) is destroyed", gone.name, gone.id)))
            }
        }
    }

    /// Deletes the box for a reference and says which it was; the name of one whose record is damaged is
    /// not known, so only its id leads there. One that is gone already counts as deleted.
    pub(crate) fn remove(&self, reference: &str) -> Result<(BoxId, Option<BoxName>)> {
        if let Ok(id) = reference.parse::<BoxId>()
            && matches!(self.look(&id)?, Look::Damaged(_))
        {
            // Nothing new is started in a box that cannot be read.
            self.bury(&id, None)?;
            return Ok((id, None));
        }
        match self.find(reference)? {
            Found::Live(found) => {
                self.destroy(&found)?;
                Ok((found.meta.id, Some(found.meta.name)))
            }
            Found::Gone(gone) => Ok((gone.id, Some(gone.name))),
        }
    }

    /// Ends everything in a box, deletes it and leaves a tombstone. It needs no space on the disk: a full
    /// one is what it may be for.
    fn destroy(&self, found: &LocalBox) -> Result<()> {
        match self.shut(found) {
            // Somebody else was quicker.
            Err(_) if !found.folder.exists() => return Ok(()),
            shut => shut?,
        }
        let tombstone = Tombstone {
            id: found.meta.id.clone(),
            name: found.meta.name.clone(),
            shape: found.meta.shape.clone(),
            created_at: found.meta.created_at.clone(),
            destroyed_at: now(),
        };
        self.bury(&found.meta.id, Some(tombstone))
    }

    /// Lets nothing new begin in a box.
    fn shut(&self, found: &LocalBox) -> Result<()> {
        let _lock = found.lock()?;
        let Some(mut current) = self.read(&found.meta.id)? else { return Ok(()) };
        current.meta.status = Status::Destroying;
        if current.save().is_err() {
            // What runs must not go on because the disk is full, and may be what fills it. Without its
            // root nothing can begin in it, whatever its record says.
            running::kill_all(&found.folder)?;
            remove::remove_tree(&found.folder, "root")?;
            let _still_no_space = current.save();
        }
        Ok(())
    }

    /// Ends what runs in the box's folder and deletes the folder.
    fn bury(&self, id: &BoxId, tombstone: Option<Tombstone>) -> Result<()> {
        let folder = self.folder.join(id.as_str());
        let ended = running::end_all(&folder).and_then(|()| record::remove_sockets(&folder.join(PROCESSES)));
        let lock = self.lock()?;
        if !folder.exists() {
            // Somebody else was quicker.
            return Ok(());
        }
        ended?;
        // Before the folder goes: whoever looks finds one of the two.
        let told = self.remember(tombstone.as_ref());
        let doomed = format!("old-{id}");
        std::fs::rename(&folder, self.folder.join(&doomed)).at("rename", &folder)?;
        // The tree may be large: nobody else has to wait for it.
        let folder = self.folder.join(&doomed);
        let _deleting = Lock::wait(&folder.join("lock"))?;
        drop(lock);
        remove::remove_tree(&folder, "root")?;
        // Its own lock goes now: only who has the lock of all boxes may look for it.
        let _lock = self.lock()?;
        remove::remove_tree(&self.folder, &doomed)?;
        // There may be space now. Without a tombstone it is gone all the same.
        if let Err(failure) = told.or_else(|_| self.remember(tombstone.as_ref())) {
            let reason = ui::visible(failure.error().message());
            ui::note(format!("warning: {id} is deleted, but not remembered: {reason}"));
        }
        Ok(())
    }

    /// Remembers a box that is gone. Needs the lock.
    fn remember(&self, tombstone: Option<&Tombstone>) -> Result<()> {
        let Some(tombstone) = tombstone else { return Ok(()) };
        let mut gone = self.tombstones()?;
        gone.retain(|other| other.id != tombstone.id);
        gone.insert(0, tombstone.clone());
        gone.truncate(TOMBSTONES);
        write_json(&self.folder.join("destroyed.json"), &gone)
    }

    /// Deletes what killed creations and deletions have left.
    pub(crate) fn tidy(&self) -> Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.sweep()
    }
}

impl LocalBox {
    /// Its folder on the host.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its root file system: written by the box, so never walked by path.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Records of its processes.
    pub(crate) fn processes(&self) -> PathBuf {
        self.folder.join(PROCESSES)
    }

    /// Those of its processes that run now, a file each.
    pub(crate) fn running(&self) -> PathBuf {
        self.folder.join(RUNNING)
    }

    /// Held while its status is looked at and acted upon.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let path = self.folder.join("lock");
        match Lock::wait(&path) {
            Ok(lock) => Ok(lock),
            Err(_) if !self.folder.exists() => {
                Err(Failure::conflict(format!("sandbox {} is destroyed", self.meta.name)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads its record again. Call it with the lock held.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let path = self.folder.join("meta.json");
        self.meta = parse(&path, &std::fs::read(&path).at("read", &path)?)?;
        Ok(())
    }

    /// Writes its record. Call it with the lock held.
    pub(crate) fn save(&self) -> Result<()> {
        write_json(&self.folder.join("meta.json"), &self.meta)
    }

    /// Refuses unless it is running.
    pub(crate) fn must_run(&self) -> Result<()> {
        let name = &self.meta.name;
        let refused = || Failure::conflict(format!("sandbox {name} is {}", self.meta.status.word()));
        match self.meta.status {
            Status::Running => Ok(()),
            Status::Paused => {
                let resume = command::own(["local", "sandbox", "resume"]).on(name);
                Err(refused().help(format!("resume it first: {resume}")))
            }
            Status::Destroying | Status::Destroyed => Err(refused()),
        }
    }
}

fn fill(folder: &Path, meta: &Meta) -> Result<()> {
    for name in [PROCESSES, RUNNING] {
        let path = folder.join(name);
        DirBuilder::new().mode(0o700).create(&path).at("create", &path)?;
    }
    skeleton::make(&folder.join("root"), meta.uid)?;
    write_json(&folder.join("meta.json"), meta)
}

fn free_uid(boxes: &[LocalBox]) -> Result<u32> {
    for _ in 0..1000 {
        let uid = FIRST_UID + u32::from(u16::from_le_bytes(crate::random::bytes()));
        if boxes.iter().all(|other| other.meta.uid != Some(uid)) {
            return Ok(uid);
        }
    }
    Err(Error::failed("there is no free uid for another box").help("delete boxes that are not needed").into())
}

/// Writes a record of ours, atomically, mode 0600.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("records of ours have text keys");
    bytes.push(b'\n');
    Ok(write_atomic(path, &bytes, Mode::Private)?)
}

/// Reads a record of ours.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(path: &Path, bytes: &[u8]) -> crate::error::Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::failed(format!("{} cannot be read: {error}", path.display())))
}
