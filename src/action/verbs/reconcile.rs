//! `reconcile`: keeps mappings true when panes move and after Herdr's start.

use super::attach::show_after_restart;
use crate::action::mapping::{ActionContext, detached, forget_gone};
use crate::action::pane::label::{Shows, name};
use crate::error::Result;
use crate::herdr::Pane;
use crate::state::{Phase, Record};
use crate::ui;
use std::time::{Duration, Instant};

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
    let shown = after_a_restart(context, &panes)?;
    detached::finish_abandoned(context)?;
    context.store.sweep_locks(&context.store.read()?.records);
    // Last: the providers may take their time, and the panes are bound by now.
    let dropped = forget_gone(context)?;
    for (kind, error) in &dropped.unasked {
        ui::note(format!("{} cannot be asked: {}", kind.word(), ui::visible(error.message())));
    }
    Ok(format!(
        "{} panes, {shown} boxes shown again, {} boxes without a pane, {} deleted boxes forgotten",
        panes.len(),
        orphans.len(),
        dropped.names.len()
    ))
}

/// How long a restored shell may take to begin, and the process of before to end.
const RESTORED: Duration = Duration::from_secs(3);

/// After a restart a shell of this machine stands where a box was shown: its pane is named so, and then the box's
/// pane comes back in its place, unless the person does not want that. How many did.
fn after_a_restart(context: &ActionContext, panes: &[Pane]) -> Result<usize> {
    let restores = context.config().is_ok_and(|config| config.restore_panes);
    let state = context.store.read()?;
    let here = |record: &&Record| record.socket == context.socket && record.phase == Phase::Ready;
    let pane = |record: &Record| panes.iter().find(|pane| record.terminal.as_ref() == Some(&pane.terminal));
    let mut shown = 0;
    for (record, pane) in state.records.iter().filter(here).filter_map(|record| Some((record, pane(record)?)))
    {
        // What is in the pane tells.
        let is_shell = || context.herdr.foreground(&pane.id).is_ok_and(|now| now.is_idle_shell());
        if !context.store.is_record_owned(&record.id)? || is_shell() {
            let _best_effort = name(context, record, pane, Shows::Restored);
        }
        if !restores {
            continue;
        }
        let began = Instant::now();
        while began.elapsed() < RESTORED && (context.store.is_record_owned(&record.id)? || !is_shell()) {
            std::thread::sleep(Duration::from_millis(50));
        }
        match show_after_restart(context, record) {
            Ok(true) => shown += 1,
            Ok(false) => {}
            // Its name says which key brings it back.
            Err(error) => ui::note(format!("box {}: {}", record.name, ui::visible(error.message()))),
        }
    }
    Ok(shown)
}
