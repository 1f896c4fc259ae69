//! `delete`: for ever, after a second word of the person's.

use crate::action::mapping::{
    ActionContext, Called, RECORD, choose, delete_box, find_box, meant, or_elsewhere, ours,
};
use crate::action::report::{Notice, Report};
use crate::action::work::{NotHome, home, ledger};
use crate::cli::DeleteArgs;
use crate::error::{Error, Result};
use crate::herdr::{Caller, Place};
use crate::state::{Phase, Record, now};
use crate::{command, ui};
use std::fmt::Write;

/// How long the first of two invocations counts, in seconds.
const ARMED: u64 = 60;

/// Deletes a box on the second invocation within a minute, if nothing was added to what the first one named; a key
/// opens a question.
///
/// # Errors
/// The pane has no box, or the provider refuses.
pub(crate) fn delete(context: &ActionContext, args: &DeleteArgs) -> Result<Report> {
    let record = match (meant(context)?, context.called) {
        (Some(record), _) => record,
        (None, Called::Anywhere) => choose(context)?.record,
        (None, Called::InHerdr) => return Err(nothing_here(context)),
    };
    not_starting(&record)?;
    if context.invocation.caller == Caller::Key {
        return ask(context, &record);
    }
    if args.discard {
        return delete_now(context, &record);
    }
    // To look into the box takes a while: the minute ends before it.
    let armed = record.delete_armed_at.is_some_and(|at| is_armed(at, now()));
    let found = home::look(context, &record);
    let more = armed && home::is_more_than_named(context, &record, &found)?;
    if armed && !more || args.yes && found.is_home() {
        return delete_now(context, &record);
    }
    home::remember_named(context, &record, &found)?;
    context.store.change(&record.id, |record| record.delete_armed_at = Some(now()))?;
    let mut text = format!(
        "box {} of {} will be deleted for ever: run the same again within {ARMED} seconds",
        record.name,
        context.paths.show(&record.worktree)
    );
    if more {
        text.push_str("\n  there is more than was named a moment ago");
    }
    for (label, value) in found.rows() {
        let _into_a_string = write!(text, "\n  {label:<11}   {}", ui::visible_line(&value));
    }
    if found.paused {
        let review = command::action("review").on(&record.name);
        let _into_a_string = write!(text, "\n  to look first, which resumes it: {review}");
    }
    Ok(told(confirm(&record, text), &found))
}

/// The key may have been pressed for what Herdr does with it by itself: close the tab.
fn nothing_here(context: &ActionContext) -> Error {
    let error = Error::failed("this pane has no box, so nothing was deleted");
    let tab = context.focus().ok().flatten().and_then(|pane| pane.tab.as_ref());
    let close = tab.map(|tab| command::herdr(["tab", "close"]).on(tab));
    let close = close.map(|close| format!("if you meant Herdr's close_tab, close the tab with: {close}"));
    error
        .help(close.unwrap_or_default())
        .help(format!("delete a box by its name: {}", command::action("delete").on("BOX")))
}

/// The report with what is not home as members of the result line.
pub(crate) fn told(report: Report, found: &NotHome) -> Report {
    report
        .field("notApplied", found.files.clone())
        .field("elsewhere", found.elsewhere.clone())
        .field("unknown", found.unknown.join("; "))
}

/// Whether the first invocation still counts; a clock that was set back proves nothing.
fn is_armed(at: u64, now: u64) -> bool {
    now.checked_sub(at).is_some_and(|age| age < ARMED)
}

fn confirm(record: &Record, text: String) -> Report {
    Report::new(text).about("confirmation-required", record.name.as_str())
}

/// Asks in a popup, whose own process deletes.
fn ask(context: &ActionContext, record: &Record) -> Result<Report> {
    let env = [(RECORD, record.id.as_str())];
    context.herdr.open_plugin_pane("delete", Place::Popup, None, &env).map_err(|error| {
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
pub(crate) fn delete_now(context: &ActionContext, record: &Record) -> Result<Report> {
    not_starting(record)?;
    let provider = context.provider(record.provider)?;
    let found = find_box(&provider, record)?;
    if let Some(id) = &found
        && let Err(failure) = delete_box(context, &provider, id)
        && !provider.is_gone(id, &ours(context))?
    {
        return Err(or_elsewhere(&provider, failure)
            .help(format!("or delete it with: {}", provider.shown(&["rm", "--yes", id.as_str()]))));
    }
    let name = &record.name;
    let levels = || ledger(context, record).and_then(|ledger| ledger.levels()).unwrap_or_default();
    let undo = command::action("undo").on(name);
    let text = match &found {
        None if record.create_called => {
            let prune = command::action("prune");
            format!("box {name} is not there, and is forgotten; should it still come: {prune}")
        }
        _ if levels().is_empty() => format!("box {name} was deleted"),
        _ => format!("box {name} was deleted; what came home can still be taken back: {undo}"),
    };
    crate::action::pane::label::name_without_box(context, record);
    context.store.forget(&Record { box_id: found, ..record.clone() })?;
    Ok(Report::new(text).about("deleted", name.as_str()).on(record.pane.as_ref()))
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
