//! A mapping that is lost while its box lives: the state file was moved aside, or deleted.

use super::context::{ActionContext, box_id};
use super::naming::installation_of;
use crate::createos::Refusal;
use crate::error::Result;
use crate::state::Record;

/// Puts a record into the state, if that has it no more.
pub(crate) fn restore(context: &ActionContext, record: &Record) -> Result<()> {
    if context.store.read()?.record(&record.id).is_some() {
        return Ok(());
    }
    context.store.update(|state| {
        if state.record(&record.id).is_some() {
            return Ok(());
        }
        if state.records.is_empty() {
            // The file is a new one: what it says of names would disown every box that was made before.
            state.installation = installation_of(&record.name);
        }
        state.records.push(record.clone());
        if record.box_id.is_some() {
            state.remember(record);
        }
        Ok(())
    })
}

/// Whether a pane's mapping is forgotten because its box was deleted. One that is forgotten although its box
/// is there, or nobody can be asked, is put back.
pub(crate) fn is_deleted(context: &ActionContext, record: &Record) -> Result<bool> {
    if context.store.read()?.record(&record.id).is_some() {
        return Ok(false);
    }
    let asked = context.provider(record.provider).and_then(|provider| Ok(provider.get(&box_id(record)?)));
    let is_gone = match asked {
        Ok(Ok(view)) => view.status.is_gone(),
        Ok(Err(failure)) => failure.refusal == Refusal::NotFound,
        Err(_) => false,
    };
    if !is_gone {
        restore(context, record)?;
    }
    Ok(is_gone)
}
