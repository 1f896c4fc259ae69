//! A copy of a paused box: its files and settings, under an id and a name of its own. Its programs stay where they are.

use super::copy::copy_tree;
use super::create::free_uid;
use super::id::{LocalId, LocalName};
use super::json::write_json;
use super::local_box::{LocalBox, PROCESSES, RUNNING};
use super::meta::{BoxStatus, Meta, now};
use super::store::BoxStore;
use super::{leftovers, remove};
use crate::command;
use crate::error::{Error, IoContext};
use crate::fs::Lock;
use crate::local::failure::{Failure, Result};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Copies a box. A copy that fails leaves nothing.
pub(crate) fn fork(store: &BoxStore, found: &mut LocalBox) -> Result<LocalBox> {
    // As long as it is held the source stays as it is.
    let _held = found.lock()?;
    found.refresh()?;
    if found.meta.status != BoxStatus::Paused {
        let (name, status) = (&found.meta.name, found.meta.status.word());
        let words = format!("sandbox {name} is {status}, and fork needs a paused snapshot");
        return Err(Failure::conflict(words)
            .help(format!("pause it first: {}", command::own(["local", "sandbox", "pause"]).on(name))));
    }
    let lock = store.lock()?;
    let boxes = store.all()?;
    let uid = rustix::process::geteuid().is_root().then(|| free_uid(&boxes)).transpose()?;
    let meta = Meta {
        id: LocalId::fresh(),
        name: LocalName::fresh(),
        created_at: now(),
        uid,
        status: BoxStatus::Running,
        paused_at: None,
        last_resumed_at: None,
        ..found.meta.clone()
    };
    let staged = format!("{}{}", leftovers::COPY, meta.id);
    let folder = store.folder().join(&staged);
    DirBuilder::new().mode(0o700).create(&folder).at("create", &folder)?;
    // Whoever sweeps up knows by it that the copy is somebody's.
    let copying = Lock::wait(&folder.join("lock"))?;
    // The tree may be large, and other commands must not wait for it.
    drop(lock);
    let made = fill(found, &folder, &meta).and_then(|()| appear(store, &folder, &meta));
    drop(copying);
    if let Err(failure) = made {
        remove::remove_tree(store.folder(), &staged)?;
        return Err(failure);
    }
    Ok(LocalBox::new(store.place(&meta.id), meta))
}

fn fill(found: &LocalBox, folder: &Path, meta: &Meta) -> Result<()> {
    for name in [PROCESSES, RUNNING] {
        let path = folder.join(name);
        DirBuilder::new().mode(0o700).create(&path).at("create", &path)?;
    }
    copy_tree(found.folder(), folder, "root", meta.uid)?;
    write_json(&folder.join("meta.json"), meta)
}

fn appear(store: &BoxStore, folder: &Path, meta: &Meta) -> Result<()> {
    let _lock = store.lock()?;
    let is_taken =
        |other: &LocalBox| other.meta.name == meta.name || (meta.uid.is_some() && other.meta.uid == meta.uid);
    if store.all()?.iter().any(is_taken) {
        return Err(Error::failed("another box has taken the copy's name or uid meanwhile")
            .help("do it again")
            .into());
    }
    Ok(std::fs::rename(folder, store.place(&meta.id)).at("rename", folder)?)
}
