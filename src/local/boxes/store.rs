//! The boxes on this machine: a folder each, a lock each, and tombstones of those that are gone.

use super::id::{LocalId, LocalName};
use super::json::parse;
use super::local_box::LocalBox;
use super::meta::{Meta, Tombstone, VERSION};
use super::{pause, tombstones};
use crate::command;
use crate::error::{Error, IoContext, Kind};
use crate::fs::{IfThere, Lock, make_private, refuse_newer};
use crate::local::failure::{Failure, Result};
use crate::paths::Paths;
use crate::ui;
use std::path::{Path, PathBuf};

pub(crate) struct BoxStore {
    folder: PathBuf,
}

/// What a reference leads to.
pub(crate) enum LiveOrGone {
    Live(LocalBox),
    Gone(Tombstone),
}

/// A box's record, as far as there is one.
pub(super) enum MetaLook {
    Whole(Meta),
    /// The box is there, and what it was cannot be read.
    Damaged(Error),
    Absent,
}

impl BoxStore {
    /// The store of this user. Its folder is made with the first box: looking leaves nothing behind.
    pub(crate) fn open(paths: &Paths) -> Self {
        Self { folder: paths.boxes() }
    }

    /// The store in this folder.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the box with this id is.
    pub(super) fn place(&self, id: &LocalId) -> PathBuf {
        self.folder.join(id.as_str())
    }

    /// Held while boxes appear and go.
    pub(super) fn lock(&self) -> Result<Lock> {
        make_private(&self.folder)?;
        Ok(Lock::wait(&self.folder.join("lock"))?)
    }

    /// All boxes, newest first.
    pub(crate) fn all(&self) -> Result<Vec<LocalBox>> {
        let mut boxes = Vec::new();
        let entries = std::fs::read_dir(&self.folder).if_there().at("read", &self.folder)?;
        for entry in entries.into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<LocalId>().ok()) else {
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

    pub(super) fn look(&self, id: &LocalId) -> Result<MetaLook> {
        let folder = self.place(id);
        let path = folder.join("meta.json");
        let Some(bytes) = std::fs::read(&path).if_there().at("read", &path)? else {
            // A box appears and goes as a whole: without its folder, nothing is missing.
            return Ok(match folder.exists() {
                false => MetaLook::Absent,
                true => MetaLook::Damaged(Error::failed(format!("{} is missing", path.display()))),
            });
        };
        refuse_newer(&path, &bytes, VERSION, Kind::Failed, "use that version for this box")?;
        Ok(parse(&path, &bytes).map_or_else(MetaLook::Damaged, MetaLook::Whole))
    }

    pub(super) fn read(&self, id: &LocalId) -> Result<Option<LocalBox>> {
        match self.look(id)? {
            MetaLook::Whole(meta) => Ok(Some(LocalBox::new(self.place(id), meta))),
            MetaLook::Absent => Ok(None),
            MetaLook::Damaged(error) => Err(error
                .help(format!("delete the box: {}", command::own(["local", "sandbox", "rm", "--yes"]).on(id)))
                .into()),
        }
    }

    /// The box or the tombstone for an exact id or an exact name.
    pub(crate) fn find(&self, reference: &str) -> Result<LiveOrGone> {
        if let Ok(id) = reference.parse::<LocalId>() {
            if let Some(found) = self.read(&id)? {
                return Ok(LiveOrGone::Live(found));
            }
            if let Some(gone) = tombstones::read(&self.folder)?.into_iter().find(|gone| gone.id == id) {
                return Ok(LiveOrGone::Gone(gone));
            }
        } else if let Ok(name) = reference.parse::<LocalName>()
            && let Some(found) = self.all()?.into_iter().find(|found| found.meta.name == name)
        {
            return Ok(LiveOrGone::Live(found));
        }
        let how = if reference.starts_with("sb-") { "matching" } else { "named" };
        Err(Failure::not_found(format!("no sandbox {how} \"{reference}\""))
            .help(command::own(["local", "sandbox", "list"])))
    }

    /// The box for a reference; one that is gone is an error.
    pub(crate) fn live(&self, reference: &str) -> Result<LocalBox> {
        match self.find(reference)? {
            LiveOrGone::Live(mut found) => {
                pause::settle(&mut found)?;
                Ok(found)
            }
            LiveOrGone::Gone(gone) => {
                Err(Failure::conflict(format!("sandbox {} ({}) is destroyed", gone.name, gone.id)))
            }
        }
    }
}
