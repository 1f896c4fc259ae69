//! `cleanup RECORD`: deletes the box of a start that nobody owns any more.

use crate::action::mapping::{ActionContext, delete_box, restore};
use crate::createos::{BoxId, Provider};
use crate::error::Result;
use crate::state::{Phase, Record, RecordId};

/// Waits until the record's owner is gone, then deletes its box and forgets it.
///
/// # Errors
/// The box could not be deleted: the record stays and names it.
pub(crate) fn cleanup(context: &ActionContext, id: &RecordId) -> Result<()> {
    let _owned = context.store.lock_record(id)?;
    let Some(mut record) = context.store.read()?.record(id).cloned() else { return Ok(()) };
    match record.phase {
        Phase::Ready => return Ok(()),
        Phase::Failed => {}
        Phase::Starting | Phase::Leftover => delete_what_was_made(context, &mut record)?,
    }
    context.store.forget(&record)
}

/// Deletes the record's box, if there is one. From then on the record has its id.
fn delete_what_was_made(context: &ActionContext, record: &mut Record) -> Result<()> {
    let provider = context.provider(record.provider)?;
    let Some(box_id) = find_late(&provider, record)? else { return Ok(()) };
    record.box_id = Some(box_id.clone());
    context.store.edit(|state| {
        state.record_mut(&record.id).into_iter().for_each(|record| record.box_id = Some(box_id.clone()));
        state.remember(record);
    })?;
    if let Err(failure) = delete_box(context, &provider, &box_id) {
        record.phase = Phase::Leftover;
        context.store.change(&record.id, |record| record.phase = Phase::Leftover)?;
        // It may have been forgotten with the whole state while the box was looked for.
        restore(context, record)?;
        return Err(failure.into());
    }
    Ok(())
}

/// The box of a record, waited for if its create call told none.
fn find_late(provider: &Provider, record: &Record) -> Result<Option<BoxId>> {
    match &record.box_id {
        Some(id) => Ok(Some(id.clone())),
        None if record.create_called => Ok(provider.find_late(&record.name)?),
        None => Ok(None),
    }
}
