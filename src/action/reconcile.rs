//! `reconcile`: keeps mappings true when panes move and after Herdr's start.

use super::detached;
use super::forget::forget_gone;
use super::session::Session;
use crate::error::Result;
use crate::state::Record;

/// On `pane.moved` stores the pane's new id; at startup binds mappings to the panes that are there.
///
/// # Errors
/// Herdr or the state cannot be read.
pub(super) fn reconcile(session: &Session) -> Result<String> {
    if let Some(moved) = session.invocation.moved() {
        let socket = session.socket.as_str();
        let count = session.store.update(|state| {
            // The terminal is the identity: it stays over moves.
            let shows = |record: &&Record| {
                record.socket == socket && record.terminal.as_ref() == Some(&moved.pane.terminal)
            };
            let ids: Vec<_> = state.records.iter().filter(shows).map(|record| record.id.clone()).collect();
            ids.iter().for_each(|id| state.bind(id, socket, &moved.pane));
            Ok(ids.len())
        })?;
        return Ok(format!("{count} mappings follow pane {}", moved.pane.id));
    }
    if session.invocation.event.as_deref() != Some("startup") {
        return Ok("nothing to do".into());
    }
    let panes = session.herdr.panes()?;
    let orphans = session.store.update(|state| Ok(state.rebind(&session.socket, &panes)))?;
    detached::finish_abandoned(session)?;
    session.store.sweep_locks(&session.store.read()?.records);
    // Last: the providers may take their time, and the panes are bound by now.
    let dropped = forget_gone(session)?;
    for (kind, error) in &dropped.unasked {
        crate::ui::note(format!("{} cannot be asked: {}", kind.word(), crate::ui::visible(error.message())));
    }
    Ok(format!(
        "{} panes, {} boxes without a pane, {} mappings of deleted boxes forgotten",
        panes.len(),
        orphans.len(),
        dropped.names.len()
    ))
}
