//! Work that must outlive the pane or the action: `cleanup RECORD` in a session of its own.

use super::context::ActionContext;
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::paths::own_binary;
use crate::state::{Phase, RecordId, now};
use std::path::Path;

/// A box that could not be deleted is left alone for so long after its start, in seconds.
const AGAIN: u64 = 3600;

/// Starts `cleanup` for a record and does not wait for it. It has a session of its own from its first moment:
/// when a pane is closed, what still is in the terminal's foreground is hung up, and half a second is left
/// (docs/measured/herdr.md 13).
pub(crate) fn cleanup(context: &ActionContext, id: &RecordId) -> Result<()> {
    cleanup_at(context.store.folder(), id)
}

/// The same, for a thread that has only the state folder.
pub(crate) fn cleanup_at(state: &Path, id: &RecordId) -> Result<()> {
    let run = Run::new(own_binary()?).args(["herdr", "cleanup", id.as_str()]);
    let started = run.env("HERDR_PLUGIN_STATE_DIR", state).cwd("/").start_detached();
    started.map_err(|error| Error::failed(format!("could not start the clean-up: {error}")))
}

/// Finishes every record that nobody owns any more: its pane's process and the start that reserved it
/// are both gone.
pub(crate) fn finish_abandoned(context: &ActionContext) -> Result<()> {
    for record in &context.store.read()?.records {
        if matches!(record.phase, Phase::Ready) {
            continue;
        }
        let age = now().abs_diff(record.created_at);
        if record.phase == Phase::Leftover && record.box_id.is_some() && age < AGAIN {
            // Its failure was told with the command to type; it is tried again later, not at every key.
            continue;
        }
        let starting = match &record.source {
            Some(source) => context.store.is_source_locked(&record.socket, source)?,
            None => false,
        };
        if !starting && !context.store.is_record_owned(&record.id)? {
            // The clean-up holds the record from now on: it must not pass for a start that runs.
            if record.phase == Phase::Starting
                && let Some(_nobody) = context.store.own_record(&record.id)?
            {
                context.store.change(&record.id, |record| record.phase = Phase::Leftover)?;
            }
            cleanup(context, &record.id)?;
        }
    }
    Ok(())
}
