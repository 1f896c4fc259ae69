//! `delete`: for ever, after a second word of the person's.

use super::forget::{delete_box, find_box, or_elsewhere, ours};
use super::report::{Notice, Report};
use super::session::Session;
use super::start::{RECORD, now};
use super::which::{named, of_pane};
use crate::command;
use crate::error::{Error, Result};
use crate::herdr::{Caller, Place};
use crate::state::{Phase, Record};

/// How long the first of two invocations counts, in seconds.
const ARMED: u64 = 60;

/// Deletes the focused pane's box on the second invocation within a minute; a key opens a question.
///
/// # Errors
/// The pane has no box, or the provider refuses.
pub(super) fn delete(session: &Session) -> Result<Report> {
    let record = match named(session)? {
        Some(record) => record,
        None => of_pane(session)?.ok_or_else(|| {
            Error::failed("this pane has no box, so nothing was deleted")
                .help("if you meant to close the tab: Herdr's close_tab, herdr tab close")
                .help(format!("delete a box by its name: {}", command::action("delete").on("BOX")))
        })?,
    };
    not_starting(&record)?;
    if session.invocation.caller == Caller::Key {
        return ask(session, &record);
    }
    if record.delete_armed_at.is_some_and(|at| is_armed(at, now())) {
        return delete_now(session, &record);
    }
    session.store.change(&record.id, |record| record.delete_armed_at = Some(now()))?;
    Ok(confirm(
        &record,
        format!(
            "box {} of {} will be deleted for ever: run the same again within {ARMED} seconds",
            record.name,
            session.paths.show(&record.worktree)
        ),
    ))
}

/// Whether the first invocation still counts; a clock that was set back proves nothing.
fn is_armed(at: u64, now: u64) -> bool {
    now.checked_sub(at).is_some_and(|age| age < ARMED)
}

fn confirm(record: &Record, text: String) -> Report {
    Report::new(text).field("result", "confirmation-required").field("box", record.name.as_str())
}

/// Asks in a popup, whose own process deletes.
fn ask(session: &Session, record: &Record) -> Result<Report> {
    let env = [(RECORD, record.id.as_str())];
    session.herdr.open_plugin_pane("delete", Place::Popup, None, &env).map_err(|error| {
        Error::from(error).help("close the open popup, help or settings, then press the key again")
    })?;
    Ok(confirm(record, format!("delete box {}?", record.name)).notice(Notice::Nothing))
}

fn not_starting(record: &Record) -> Result<()> {
    if record.phase == Phase::Starting {
        return Err(Error::failed(format!("box {} is still starting", record.name))
            .help("close its pane to end the start: its box is deleted then"));
    }
    Ok(())
}

/// Deletes a box and its mapping.
///
/// # Errors
/// Its start is under way, or the provider refuses: then the mapping stays.
pub(super) fn delete_now(session: &Session, record: &Record) -> Result<Report> {
    not_starting(record)?;
    let provider = session.provider(record.provider)?;
    let found = find_box(&provider, record)?;
    if let Some(id) = &found
        && let Err(failure) = delete_box(session, &provider, id)
        && !provider.is_gone(id, &ours(session))?
    {
        return Err(or_elsewhere(&provider, failure)
            .help(format!("or delete it with: {}", provider.shown(&["rm", "--yes", id.as_str()]))));
    }
    let text = match &found {
        None if record.create_called => format!(
            "box {} is not there, and is forgotten; should it still come: {}",
            record.name,
            command::action("prune")
        ),
        _ => format!("box {} was deleted", record.name),
    };
    super::naming::name_without_box(session, record);
    session.store.forget(&Record { box_id: found, ..record.clone() })?;
    Ok(Report::new(text)
        .field("result", "deleted")
        .field("box", record.name.as_str())
        .on(record.pane.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_counts_for_a_minute_and_never_from_the_future() {
        let armed = [1_000, 941, 940, 1_001, u64::MAX].map(|at| is_armed(at, 1_000));
        assert_eq!(armed, [true, true, false, false, false]);
    }
}
