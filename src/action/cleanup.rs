//! `cleanup RECORD`: deletes the box of a start that nobody owns any more.

use super::forget::delete_box;
use super::session::Session;
use crate::createos::{BoxId, Provider};
use crate::error::{Error, Result};
use crate::state::{Phase, Record, RecordId};
use std::time::{Duration, Instant};

/// A create call that was cut short may still make its box: so long it is looked for by its name.
const LATE_BOX: Duration = Duration::from_secs(60);

/// Waits until the record's owner is gone, then deletes its box and forgets it.
///
/// # Errors
/// The box could not be deleted: the record stays and names it.
pub(super) fn cleanup(session: &Session, id: &RecordId) -> Result<()> {
    // A session of our own: what closes the pane must not reach us. It fails only for a group leader.
    let _is_leader = rustix::process::setsid();
    let _owned = session.store.lock_record(id)?;
    let Some(mut record) = session.store.read()?.record(id).cloned() else { return Ok(()) };
    match record.phase {
        Phase::Ready => return Ok(()),
        Phase::Failed => {}
        Phase::Starting | Phase::Leftover => record.box_id = delete_what_was_made(session, &record)?,
    }
    session.store.forget(&record)
}

/// Gives the box that was deleted; `None` if there was none.
fn delete_what_was_made(session: &Session, record: &Record) -> Result<Option<BoxId>> {
    let provider = session.provider(record.provider)?;
    let found = match &record.box_id {
        Some(id) => Some(id.clone()),
        // It never got as far as the create call, or the call was cut short.
        None if record.create_called => find_late(&provider, record)?,
        None => None,
    };
    let Some(box_id) = found else { return Ok(None) };
    session.store.update(|state| {
        if let Some(record) = state.record_mut(&record.id) {
            record.box_id = Some(box_id.clone());
        }
        state.remember(&record.name, &box_id);
        Ok(())
    })?;
    match delete_box(&provider, &box_id) {
        Ok(()) => Ok(Some(box_id)),
        Err(failure) => {
            session.store.update(|state| {
                if let Some(record) = state.record_mut(&record.id) {
                    record.phase = Phase::Leftover;
                }
                Ok(())
            })?;
            Err(Error::from(failure))
        }
    }
}

fn find_late(provider: &Provider, record: &Record) -> Result<Option<BoxId>> {
    let began = Instant::now();
    loop {
        if let Some(id) = provider.find_by_name(&record.name)? {
            return Ok(Some(id));
        }
        if began.elapsed() > LATE_BOX {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}
