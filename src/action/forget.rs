//! The end of a box: how it is deleted, and which mappings of deleted ones are forgotten.

use super::session::Session;
use crate::createos::{BoxId, BoxName, Failure, Provider, ProviderKind, Refusal, Scope};
use crate::error::{Error, Result};
use crate::state::{Phase, Record};
use std::time::Duration;

/// Deletes a box, once more after a moment if that fails.
///
/// # Errors
/// The provider's refusal.
pub(super) fn delete_box(provider: &Provider, id: &BoxId) -> Result<(), Failure> {
    let removed = match provider.remove(id) {
        Err(failure) if failure.refusal != Refusal::SignedOut => {
            std::thread::sleep(Duration::from_secs(1));
            provider.remove(id)
        }
        result => result,
    };
    match removed {
        // "Not found" proves nothing, a listing to its end does (contract 3.1).
        Err(failure) if failure.refusal == Refusal::NotFound => {
            let listing = provider.list(Scope::Everything)?;
            let there = listing.boxes.iter().any(|view| view.id == *id && !view.status.is_gone());
            if there || !listing.complete { Err(failure) } else { Ok(()) }
        }
        result => result,
    }
}

/// The box that a record is about. While its create call has not told the id, the name is looked up.
///
/// # Errors
/// The provider cannot be asked.
pub(super) fn find_box(provider: &Provider, record: &Record) -> Result<Option<BoxId>, Failure> {
    match &record.box_id {
        Some(id) => Ok(Some(id.clone())),
        None if record.create_called => provider.find_by_name(&record.name),
        None => Ok(None),
    }
}

/// What became of the mappings of boxes that were deleted elsewhere.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    /// Those that were forgotten.
    pub(super) names: Vec<BoxName>,
    /// Who could not be asked, so that nothing is proven.
    pub(super) unasked: Vec<(ProviderKind, Error)>,
}

/// Forgets the mappings of boxes that are proven to be gone.
///
/// # Errors
/// The state cannot be read or written.
pub(super) fn forget_gone(session: &Session) -> Result<Dropped> {
    // Read before the listing: a box that is made meanwhile is not missed in it.
    let state = session.store.read()?;
    let mut dropped = Dropped::default();
    for kind in [ProviderKind::Createos, ProviderKind::Local] {
        let mapped = |record: &&Record| record.provider == kind && record.phase == Phase::Ready;
        let ids: Vec<_> =
            state.records.iter().filter(mapped).filter_map(|record| record.box_id.clone()).collect();
        if ids.is_empty() {
            continue;
        }
        let gone = session.provider(kind).and_then(|provider| Ok(provider.gone_among(&ids)?));
        let gone = match gone {
            Ok(gone) => gone,
            Err(error) => {
                dropped.unasked.push((kind, error));
                continue;
            }
        };
        for record in state.records.iter().filter(mapped) {
            if record.box_id.as_ref().is_some_and(|id| gone.contains(id)) {
                session.store.forget(record)?;
                dropped.names.push(record.name.clone());
            }
        }
    }
    Ok(dropped)
}
