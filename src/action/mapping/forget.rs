//! The end of a box: how it is deleted, and which mappings of deleted ones are forgotten.

use super::context::ActionContext;
use super::naming::installation_of;
use crate::createos::{BoxId, BoxName, Failure, Provider, ProviderKind, Refusal};
use crate::error::{Error, Result};
use crate::state::{Phase, Record};
use std::collections::HashSet;

/// Deletes a box, and looks that it goes.
///
/// # Errors
/// The provider's refusal, or its box is there all the same.
pub(crate) fn delete_box(context: &ActionContext, provider: &Provider, id: &BoxId) -> Result<(), Failure> {
    provider.delete(id, || ours(context))
}

/// A box that is not found may be another account's.
#[must_use]
pub(crate) fn or_elsewhere(provider: &Provider, failure: Failure) -> Error {
    let is_account = provider.kind().has().account && failure.refusal == Refusal::NotFound;
    let error = Error::from(failure);
    if is_account { error.help("another account has other boxes: createos whoami") } else { error }
}

/// The boxes that were made from here; none when the state cannot be read, which proves less.
pub(crate) fn ours(context: &ActionContext) -> HashSet<BoxId> {
    context.store.read().map(|state| state.ours()).unwrap_or_default()
}

/// The box that a record is about. While its create call has not told the id, the name is looked up.
pub(crate) fn find_box(provider: &Provider, record: &Record) -> Result<Option<BoxId>, Failure> {
    match &record.box_id {
        Some(id) => Ok(Some(id.clone())),
        None if record.create_called => provider.find_by_name(&record.name),
        None => Ok(None),
    }
}

/// What became of the mappings of boxes that were deleted elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Dropped {
    /// Those that were forgotten.
    pub(crate) names: Vec<BoxName>,
    /// Who could not be asked, so that nothing is proven.
    pub(crate) unasked: Vec<(ProviderKind, Error)>,
}

/// Forgets the mappings of boxes that are proven to be gone.
pub(crate) fn forget_gone(context: &ActionContext) -> Result<Dropped> {
    // Read before the listing: a box that is made meanwhile is not missed in it.
    let state = context.store.read()?;
    let mut dropped = Dropped::default();
    for kind in ProviderKind::ALL {
        let mapped = |record: &&Record| record.provider == kind && record.phase == Phase::Ready;
        let ids: Vec<_> =
            state.records.iter().filter(mapped).filter_map(|record| record.box_id.clone()).collect();
        if ids.is_empty() {
            continue;
        }
        let gone = context.provider(kind).and_then(|provider| Ok(provider.gone_among(&ids, &state.ours())?));
        let gone = match gone {
            Ok(gone) => gone,
            Err(error) => {
                dropped.unasked.push((kind, error));
                continue;
            }
        };
        for record in state.records.iter().filter(mapped) {
            if record.box_id.as_ref().is_some_and(|id| gone.contains(id)) {
                context.store.forget(record)?;
                dropped.names.push(record.name.clone());
            }
        }
    }
    Ok(dropped)
}

/// Puts a record into the state, if that has it no more.
pub(crate) fn restore(context: &ActionContext, record: &Record) -> Result<()> {
    if context.store.read()?.record(&record.id).is_some() {
        return Ok(());
    }
    context.store.edit(|state| {
        if state.record(&record.id).is_some() {
            return;
        }
        if state.records.is_empty() {
            // The file is a new one: what it says of names would disown every box that was made before.
            state.installation = installation_of(&record.name);
        }
        state.records.push(record.clone());
        if record.box_id.is_some() {
            state.remember(record);
        }
    })
}

/// Whether a pane's mapping is forgotten because its box was deleted. One that is forgotten although its box
/// is there, or nobody can be asked, is put back.
pub(crate) fn is_deleted(context: &ActionContext, record: &Record) -> Result<bool> {
    if context.store.read()?.record(&record.id).is_some() {
        return Ok(false);
    }
    let asked = context.remote(record).map(|remote| remote.provider.get(&remote.id));
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
