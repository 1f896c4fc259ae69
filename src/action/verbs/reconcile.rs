//! `reconcile`: keeps mappings true when panes move and after Herdr's start.

use crate::action::mapping::{ActionContext, detached, forget_gone};
use crate::action::pane::label::{Shows, name};
use crate::error::Result;
use crate::herdr::Pane;
use crate::state::{Phase, Record};

/// On `pane.moved` stores the pane's new id; at startup binds mappings to the panes that are there.
pub(crate) fn reconcile(context: &ActionContext) -> Result<String> {
    if let Some(moved) = context.invocation.moved() {
        let socket = context.socket.as_str();
        let count = context.store.update(|state| {
            // The terminal is the identity: it stays over moves.
            let shows = |record: &&Record| {
                record.socket == socket && record.terminal.as_ref() == Some(&moved.terminal)
            };
            let ids: Vec<_> = state.records.iter().filter(shows).map(|record| record.id.clone()).collect();
            ids.iter().for_each(|id| state.bind(id, socket, &moved));
            Ok(ids.len())
        })?;
        return Ok(format!("{count} boxes follow pane {}", moved.id));
    }
    if context.invocation.event.as_deref() != Some("startup") {
        return Ok("nothing to do".into());
    }
    let before = context.store.read()?;
    let panes = context.herdr.panes()?;
    let orphans = context.store.update(|state| Ok(state.rebind(&context.socket, &panes, &before)))?;
    name_restored(context, &panes)?;
    detached::finish_abandoned(context)?;
    context.store.sweep_locks(&context.store.read()?.records);
    // Last: the providers may take their time, and the panes are bound by now.
    let dropped = forget_gone(context)?;
    for (kind, error) in &dropped.unasked {
        crate::ui::note(format!("{} cannot be asked: {}", kind.word(), crate::ui::visible(error.message())));
    }
    Ok(format!(
        "{} panes, {} boxes without a pane, {} deleted boxes forgotten",
        panes.len(),
        orphans.len(),
        dropped.names.len()
    ))
}

/// After a restart a shell of this machine stands where a box was shown: its pane is named so.
fn name_restored(context: &ActionContext, panes: &[Pane]) -> Result<()> {
    let state = context.store.read()?;
    let here = |record: &&Record| record.socket == context.socket && record.phase == Phase::Ready;
    for record in state.records.iter().filter(here) {
        let pane = panes.iter().find(|pane| record.terminal.as_ref() == Some(&pane.terminal));
        // The process of before may have a moment left; what is in the pane tells.
        let is_shell = |pane: &Pane| context.herdr.foreground(&pane.id).is_ok_and(|now| now.is_idle_shell());
        if let Some(pane) = pane
            && (!context.store.is_record_owned(&record.id)? || is_shell(pane))
        {
            let _best_effort = name(context, record, pane, Shows::Restored);
        }
    }
    Ok(())
}
