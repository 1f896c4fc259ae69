//! Making a box.

use super::json::write_json;
use super::local_box::{LocalBox, PROCESSES, RUNNING};
use super::meta::Meta;
use super::store::BoxStore;
use super::{leftovers, remove, skeleton};
use crate::error::{Error, IoContext};
use crate::local::failure::{Failure, Result};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Host uids of boxes that root made: 65,536 from here, inside the range that systemd leaves to
/// containers (524288 to 1879048191), so that no account of the host has one.
pub(crate) const FIRST_UID: u32 = 0x6000_0000;

/// Makes a box. `meta` has everything but the uid.
pub(crate) fn create(store: &BoxStore, mut meta: Meta) -> Result<LocalBox> {
    let _lock = store.lock()?;
    let boxes = store.all()?;
    if boxes.iter().any(|other| other.meta.name == meta.name) {
        return Err(Failure::conflict(format!("a sandbox with the name {} exists already", meta.name))
            .help("give it another --name, or delete the other one"));
    }
    if rustix::process::geteuid().is_root() {
        meta.uid = Some(free_uid(&boxes)?);
    }
    leftovers::sweep(store.folder())?;
    let staged = format!("{}{}", leftovers::NEW, meta.id);
    let folder = store.folder().join(&staged);
    DirBuilder::new().mode(0o700).create(&folder).at("create", &folder)?;
    let made = fill(&folder, &meta).and_then(|()| {
        let place = store.place(&meta.id);
        Ok(std::fs::rename(&folder, &place).at("rename", &folder).map(|()| place)?)
    });
    match made {
        Ok(folder) => Ok(LocalBox::new(folder, meta)),
        Err(failure) => {
            remove::remove_tree(store.folder(), &staged)?;
            Err(failure)
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

pub(super) fn free_uid(boxes: &[LocalBox]) -> Result<u32> {
    for _ in 0..1000 {
        let uid = FIRST_UID + u32::from(u16::from_le_bytes(crate::random::bytes()));
        if boxes.iter().all(|other| other.meta.uid != Some(uid)) {
            return Ok(uid);
        }
    }
    Err(Error::failed("there is no free uid for another box").help("delete boxes that are not needed").into())
}
