//! Deleting a box: everything in it ends, its folder goes, a tombstone stays.

use super::id::{LocalId, LocalName};
use super::local_box::{LocalBox, PROCESSES};
use super::meta::{BoxStatus, Tombstone, now};
use super::store::{BoxStore, LiveOrGone, MetaLook};
use super::{leftovers, record, remove, running, tombstones};
use crate::error::IoContext;
use crate::fs::Lock;
use crate::local::failure::Result;
use crate::ui;

/// Deletes the box for a reference and says which it was; the name of one whose record is damaged is
/// not known, so only its id leads there. One that is gone already counts as deleted.
pub(crate) fn remove(store: &BoxStore, reference: &str) -> Result<(LocalId, Option<LocalName>)> {
    if let Ok(id) = reference.parse::<LocalId>()
        && matches!(store.look(&id)?, MetaLook::Damaged(_))
    {
        // Nothing new is started in a box that cannot be read.
        bury(store, &id, None)?;
        return Ok((id, None));
    }
    match store.find(reference)? {
        LiveOrGone::Live(found) => {
            destroy(store, &found)?;
            Ok((found.meta.id, Some(found.meta.name)))
        }
        LiveOrGone::Gone(gone) => Ok((gone.id, Some(gone.name))),
    }
}

/// Ends everything in a box, deletes it and leaves a tombstone. It needs no space on the disk: a full
/// one is what it may be for.
fn destroy(store: &BoxStore, found: &LocalBox) -> Result<()> {
    match shut(store, found) {
        // Another deletion was quicker.
        Err(_) if !found.folder().exists() => return Ok(()),
        shut => shut?,
    }
    let tombstone = Tombstone {
        version: found.meta.version,
        id: found.meta.id.clone(),
        name: found.meta.name.clone(),
        shape: found.meta.shape.clone(),
        created_at: found.meta.created_at.clone(),
        destroyed_at: now(),
    };
    bury(store, &found.meta.id, Some(tombstone))
}

/// Lets nothing new begin in a box.
fn shut(store: &BoxStore, found: &LocalBox) -> Result<()> {
    let _lock = found.lock()?;
    let Some(mut current) = store.read(&found.meta.id)? else { return Ok(()) };
    current.meta.status = BoxStatus::Destroying;
    if current.save().is_err() {
        // What runs must not go on because the disk is full, and may be what fills it. Without its
        // root nothing can begin in it, whatever its record says.
        running::kill_all(found.folder())?;
        remove::remove_tree(found.folder(), "root")?;
        let _still_no_space = current.save();
    }
    Ok(())
}

/// Deletes a box that nobody has heard of yet: nothing of it is remembered.
pub(crate) fn forget(store: &BoxStore, id: &LocalId) -> Result<()> {
    bury(store, id, None)
}

/// Ends what runs in the box's folder and deletes the folder.
fn bury(store: &BoxStore, id: &LocalId, tombstone: Option<Tombstone>) -> Result<()> {
    let folder = store.place(id);
    let ended = running::end_all(&folder).and_then(|()| record::remove_sockets(&folder.join(PROCESSES)));
    let lock = store.lock()?;
    if !folder.exists() {
        // Another deletion was quicker.
        return Ok(());
    }
    ended?;
    // Before the folder goes, so that a box is always found as one of the two.
    let remember = || tombstone.as_ref().map_or(Ok(()), |gone| tombstones::add(store.folder(), gone));
    let told = remember();
    let doomed = format!("{}{id}", leftovers::OLD);
    std::fs::rename(&folder, store.folder().join(&doomed)).at("rename", &folder)?;
    // The tree may be large, and other commands must not wait for it.
    let folder = store.folder().join(&doomed);
    let _deleting = Lock::wait(&folder.join("lock"))?;
    drop(lock);
    remove::remove_tree(&folder, "root")?;
    // Its own lock goes now: only who has the lock of all boxes may look for it.
    let _lock = store.lock()?;
    remove::remove_tree(store.folder(), &doomed)?;
    // There may be space now. Without a tombstone it is gone all the same.
    if let Err(failure) = told.or_else(|_| remember()) {
        let reason = ui::visible(failure.error().message());
        ui::note(format!("warning: {id} is deleted, but not remembered: {reason}"));
    }
    Ok(())
}

/// Deletes what killed creations and deletions have left.
pub(crate) fn tidy(store: &BoxStore) -> Result<()> {
    if !store.folder().exists() {
        return Ok(());
    }
    let _lock = store.lock()?;
    leftovers::sweep(store.folder())
}
