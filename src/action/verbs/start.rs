//! `start`: reserves the pane, opens a pane of this plugin, waits for what provision tells.

use crate::action::mapping::{
    ActionContext, RECORD, Wanted, detached, installation_of, reservation, title, wishes,
};
use crate::action::pane::include;
use crate::action::pane::provision::stayed_words;
use crate::action::report::{Notice, Report};
use crate::command;
use crate::config::Agent;
use crate::createos::BoxName;
use crate::error::{Error, Result};
use crate::herdr::{Focus, Place};
use crate::state::{Phase, Record, RecordId, StartOutcome, State};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(600);
const ALREADY: &str = "already-starting";
/// How long the new pane may take to take its record's lock.
const PANE: Duration = Duration::from_secs(30);
/// Starts an agent in a new box; without one that of the settings.
///
/// # Errors
/// Anything that keeps the agent from running; what was made for it is gone again, or named.
pub(crate) fn start(context: &ActionContext, agent: Option<Agent>) -> Result<Report> {
    let pane = context.need_focus()?;
    let Some(_reserved) = context.store.lock_source(&context.socket, &pane.terminal)? else {
        // Somebody else holds the reservation of this pane, who may not have written the record yet.
        let unknown = Report::new("a start from this pane is already running").field("result", ALREADY);
        return Ok(already(context, &*context.store.read()?)?.unwrap_or(unknown));
    };
    let state = settled(context)?;
    if let Some(report) = already(context, &state)? {
        return Ok(report);
    }
    let shown =
        state.of_terminal(&context.socket, &pane.terminal).filter(|record| record.phase == Phase::Ready);

    let worktree = context.worktree()?;
    // What is said to the repository's word decides what is wanted.
    include::ask_before_start(context, &worktree)?;
    let wishes = wishes(context, worktree.root())?;
    let agent = agent.unwrap_or(wishes.config.agent);
    let wanted = Wanted { agent, provider: wishes.config.provider };
    let _is_there = context.provider(wanted.provider)?;
    let record = reservation(context, &worktree, &wishes, wanted)?;
    let record = Record { source: Some(pane.terminal.clone()), ..record };
    // Before anything is paid for. The name in the file is the installation's from now on.
    context.store.edit(|state| {
        state.installation.clone_from(&installation_of(&record.name));
        state.records.push(record.clone());
    })?;
    let env = [(RECORD, record.id.as_str())];
    let focus = context.focus_of_a_new_pane();
    let place = Place::RightOf(&pane.id, focus);
    let opened = context.herdr.open_plugin_pane("agent", place, Some(worktree.root()), &env);
    match opened {
        Ok(pane) => context.store.edit(|state| {
            if let Some(pane) = pane {
                state.bind(&record.id, &context.socket, &pane);
            }
        })?,
        Err(error) => {
            // It may have opened all the same: then its process owns the record, and ends the start by itself.
            if let Some(_nobody) = context.store.own_record(&record.id)? {
                context.store.forget(&record)?;
            }
            return Err(Error::from(error)
                .help(format!("see what Herdr says with: {}", command::herdr(["plugin", "list"]))));
        }
    }
    let outcome = wait(context, &record.id)?;
    finish(context, &record.id, &outcome, shown.map(|other| other.name.clone()), focus)
}

/// The state in which every start under way knows its pane: between the opening of a pane, which has
/// the focus at once, and the note of it, a press in that pane would pass for one in a pane of its own.
fn settled(context: &ActionContext) -> Result<Arc<State>> {
    let began = Instant::now();
    loop {
        let state = context.store.read()?;
        let mut opening = state.records.iter().filter(|record| is_opening(record, &context.socket));
        let under_way = opening.any(|record| {
            let locked = |source| context.store.is_source_locked(&record.socket, source).unwrap_or(false);
            record.source.as_ref().is_some_and(locked)
        });
        if !under_way || began.elapsed() > PANE {
            return Ok(state);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Its pane is not known yet. One that has come as far as its box had a pane, and has lost it since.
fn is_opening(record: &Record, socket: &str) -> bool {
    record.phase == Phase::Starting
        && record.socket == socket
        && record.terminal.is_none()
        && !record.create_called
}

/// Of a start that this pane belongs to, as its source or as the pane that it opened.
fn already(context: &ActionContext, state: &State) -> Result<Option<Report>> {
    let terminal = Some(&context.need_focus()?.terminal);
    let ours = state.records.iter().filter(|record| {
        record.phase == Phase::Starting
            && record.socket == context.socket
            && (record.source.as_ref() == terminal || record.terminal.as_ref() == terminal)
    });
    for record in ours {
        if context.store.is_record_owned(&record.id)? {
            let place = record.pane.as_ref().map_or("a new pane".to_owned(), |pane| format!("pane {pane}"));
            let text = format!("{} is already starting in box {}, in {place}", title(record), record.name);
            return Ok(Some(report(record, text, ALREADY)));
        }
    }
    Ok(None)
}

/// The report with every member of the result line; what is not known yet is left out.
fn report(record: &Record, text: String, result: &str) -> Report {
    Report::new(text)
        .about(result, record.name.as_str())
        .field("boxId", record.box_id.as_ref().map(|id| id.as_str()))
        .field("pane", record.pane.as_ref().map(|pane| pane.as_str()))
        .field("agent", record.agent.to_string())
        .on(record.pane.as_ref())
}

/// What becomes of a wait for an outcome that is not there yet.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// The pane works, or is about to.
    Wait,
    /// Its process is gone, or never came.
    Abandoned,
    /// It works for longer than a start may take.
    TooLong,
}

/// `owned`: a process holds the record; `was_owned`: one has been seen to.
fn verdict(waited: Duration, owned: bool, was_owned: bool) -> Verdict {
    if !owned && (was_owned || waited > PANE) {
        Verdict::Abandoned
    } else if waited > LONGEST {
        Verdict::TooLong
    } else {
        Verdict::Wait
    }
}

fn too_long() -> StartOutcome {
    let error = format!("the start did not finish within {} minutes", LONGEST.as_secs() / 60);
    StartOutcome::failed(error, "look at its pane; closing it deletes the box")
}

/// Waits for the outcome in the record. A pane that was closed meanwhile leaves none.
fn wait(context: &ActionContext, id: &RecordId) -> Result<StartOutcome> {
    let began = Instant::now();
    let mut was_owned = false;
    loop {
        let state = context.store.read()?;
        let gone =
            || StartOutcome::failed("the pane was closed before the agent ran", "press the start key again");
        let Some(record) = state.record(id) else { return Ok(gone()) };
        if let Some(outcome) = &record.outcome {
            return Ok(outcome.clone());
        }
        let owned = context.store.is_record_owned(id)?;
        match verdict(began.elapsed(), owned, was_owned) {
            Verdict::Wait => {}
            Verdict::Abandoned => {
                // Looked at once more: the outcome may have been written between the two looks.
                let state = context.store.read()?;
                let outcome = state.record(id).and_then(|record| record.outcome.clone());
                if outcome.is_none() {
                    detached::cleanup(context, id)?;
                }
                return Ok(outcome.unwrap_or_else(gone));
            }
            Verdict::TooLong => return Ok(too_long()),
        }
        was_owned |= owned;
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// How a failed start is told after a key: not again where its pane shows it and has the focus. Whose pane is gone
/// has most likely closed it, and goes on typing.
fn notice_of_a_failure(context: &ActionContext, record: Option<&Record>, focus: Focus) -> Notice {
    let terminal = record.and_then(|record| record.terminal.as_ref());
    match context.herdr.panes() {
        Ok(panes) if !panes.iter().any(|pane| Some(&pane.terminal) == terminal) => Notice::Glance,
        Ok(_) if focus == Focus::Moves => Notice::Nothing,
        Ok(_) => Notice::Toast,
        Err(_) => Notice::Popup,
    }
}

fn finish(
    context: &ActionContext,
    id: &RecordId,
    outcome: &StartOutcome,
    shown: Option<BoxName>,
    focus: Focus,
) -> Result<Report> {
    let state = context.store.read()?;
    let record = state.record(id);
    if !outcome.ok {
        if let Some(record) = record.filter(|record| record.phase == Phase::Failed) {
            context.store.forget(record)?;
        }
        let failed = Report::refused(Error::failed(outcome.error.clone()).help(outcome.fix.clone()));
        return Ok(failed.notice(notice_of_a_failure(context, record, focus)));
    }
    let record = record.ok_or_else(|| Error::failed("the box was deleted while it started"))?;
    let besides = shown.map(|name| format!("; this pane shows box {name}")).unwrap_or_default();
    let mut text = format!("{} runs in box {}{besides}", title(record), record.name);
    if let Some(stayed) = stayed_words(outcome) {
        text = format!("{text}\n  {stayed}");
    }
    let mut report = report(record, text, "started");
    if outcome.stayed > 0 {
        report = report.field("stayed", outcome.stayed).field("stayedFiles", outcome.stayed_files.clone());
    }
    // The new pane has the focus and shows it, unless a second box needs saying, or the person is elsewhere.
    let is_seen = besides.is_empty() && focus == Focus::Moves;
    Ok(report.notice(if is_seen { Notice::Nothing } else { Notice::Toast }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_waits_only_for_panes_that_are_being_opened() {
        let record = |more: serde_json::Value| -> Record {
            let mut record = serde_json::json!({
                "id": "00000000", "phase": "starting", "socket": "/s", "provider": "local", "box": "hd-x",
                "agent": "shell", "local": "/w", "remote": "/workspace",
            });
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value(record).unwrap()
        };
        assert!(is_opening(&record(serde_json::json!({})), "/s"));
        for more in [
            serde_json::json!({ "phase": "ready" }),
            serde_json::json!({ "socket": "/other" }),
            serde_json::json!({ "terminal": "term_1" }),
            // Herdr died while its box was made, and the clean-up looks for that box.
            serde_json::json!({ "createCalled": true }),
        ] {
            assert!(!is_opening(&record(more.clone()), "/s"), "{more}");
        }
    }

    #[test]
    fn a_start_is_waited_for_while_its_pane_works_and_ten_minutes_at_most() {
        let (soon, late) = (PANE - Duration::from_secs(1), PANE + Duration::from_secs(1));
        let (last, over) = (LONGEST - Duration::from_secs(1), LONGEST + Duration::from_secs(1));
        for (waited, owned, was_owned, expected) in [
            (soon, false, false, Verdict::Wait),
            (late, false, false, Verdict::Abandoned),
            (soon, false, true, Verdict::Abandoned),
            (soon, true, false, Verdict::Wait),
            (last, true, true, Verdict::Wait),
            (over, true, true, Verdict::TooLong),
            (over, true, false, Verdict::TooLong),
            (over, false, true, Verdict::Abandoned),
        ] {
            assert_eq!(verdict(waited, owned, was_owned), expected, "{waited:?} {owned} {was_owned}");
        }
        let told = too_long();
        assert_eq!((told.ok, told.error.as_str()), (false, "the start did not finish within 10 minutes"));
        assert!(told.fix.contains("closing it deletes the box"), "{told:?}");
    }
}
