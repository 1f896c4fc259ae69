//! `attach`: brings the box and its agent back, and shows it in the pane that has it or in a new one.

use crate::action::mapping::{ActionContext, PERSONS_NAME, RECORD, RESTORED, choose, run_box, title};
use crate::action::pane::agent::{Anew, bring_back, bring_back_alone};
use crate::action::pane::label::name_of_a_person;
use crate::action::report::{Notice, Report};
use crate::createos::{ProcessId, Status};
use crate::error::{Error, Result};
use crate::herdr::{Focus, Pane, Place};
use crate::state::{Record, RecordId};
use std::time::{Duration, Instant};

/// How long the new pane may take to show the box.
const PANE: Duration = Duration::from_secs(20);

/// `fresh`: an agent that has to start again begins a conversation.
///
/// # Errors
/// There is no box, it cannot be resumed, or its pane cannot be opened.
pub(crate) fn attach(context: &ActionContext, fresh: bool) -> Result<Report> {
    let chosen = choose(context)?;
    let record = &chosen.record;
    let process = reattach(context, record, By::Action, fresh)?;
    let shown = context.store.read()?.record(&record.id).and_then(|record| record.pane.clone());
    let by_worktree = if chosen.by_worktree { ", the only box of this worktree" } else { "" };
    Ok(Report::new(format!("{} runs in box {}{by_worktree}", title(record), record.name))
        .field("box", record.name.as_str())
        .field("processId", process.as_str())
        .notice(if chosen.by_worktree { Notice::Toast } else { Notice::Nothing })
        .on(shown.as_ref()))
}

/// Who wants a box shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The action, by its key or its command: the focus moves while it is still where that was.
    Action,
    /// The list of boxes, which has the keyboard.
    List,
    /// Nobody: Herdr was started again.
    Restart,
}

impl By {
    /// Where the focus goes when a pane opens in place of this one.
    fn focus(self, context: &ActionContext, restored: Option<&Pane>) -> Focus {
        let has_it = |pane: &Pane| matches!(context.herdr.focused_pane(), Ok(Some(now)) if now.terminal == pane.terminal);
        match self {
            Self::Action => context.focus_of_a_new_pane(),
            Self::List => Focus::Moves,
            // What had it keeps it.
            Self::Restart if restored.is_some_and(has_it) => Focus::Moves,
            Self::Restart => Focus::Stays,
        }
    }

    /// Whether its own pane gets the focus: it was named from elsewhere.
    fn goes_there(self, context: &ActionContext) -> bool {
        match self {
            Self::Action => context.wanted.is_some() && context.focus_of_a_new_pane() == Focus::Moves,
            Self::List => true,
            Self::Restart => false,
        }
    }
}

/// Brings the box and its agent back into its pane, or into a new one. The pane opens, and the focus moves, before
/// anything that takes its time: the pane shows it.
///
/// # Errors
/// The box cannot be brought back, or its pane cannot be opened.
pub(crate) fn reattach(context: &ActionContext, record: &Record, by: By, fresh: bool) -> Result<ProcessId> {
    let anew = Anew { more: &[], fresh };
    let _alone = context.store.lock_showing(&record.id)?;
    // Who held the lock before may have opened another pane for it.
    let state = context.store.read()?;
    let record = state.record(&record.id).ok_or_else(|| Error::failed("the box of this pane was deleted"))?;
    let own = own_pane(context, record)?;
    if record.socket == context.socket && own.is_none() {
        // Its pane was just closed: the process of it has half a second left (docs/measured/herdr.md 13).
        wait_until("the closed pane of the box did not end", || {
            Ok(!context.store.is_record_owned(&record.id)?)
        })?;
    }
    if !context.store.is_record_owned(&record.id)? {
        // The new pane waits for this lock.
        let alone = context.store.lock_agent(&record.id)?;
        can_be_shown(context, record)?;
        show_in_new_pane(context, record, own, by)?;
        return Ok(bring_back_alone(context, &record.id, anew, &alone)?.process);
    }
    if let Some(pane) = own.filter(|_| by.goes_there(context)) {
        // After a restart of Herdr it is no plugin pane any more, and stays without the focus.
        let _stays_where_it_is = context.herdr.focus_plugin_pane(&pane.id);
    }
    let brought = bring_back(context, &record.id, anew)?;
    // Our own process lives in the pane: if it holds, or is about to, it comes back.
    if brought.anew || context.store.is_holding(&record.id)? {
        wake(context, &record.id)?;
    }
    Ok(brought.process)
}

/// Shows a box again where Herdr has restored its pane as a shell, in that pane's place and without the focus. The
/// agent is not started for it, nor the box resumed: a restart bills nobody. True when it is shown.
///
/// # Errors
/// Herdr or the state cannot be asked, or the pane cannot be opened.
pub(crate) fn show_after_restart(context: &ActionContext, record: &Record) -> Result<bool> {
    let _alone = context.store.lock_showing(&record.id)?;
    let state = context.store.read()?;
    let Some(record) = state.record(&record.id) else { return Ok(false) };
    let Some(pane) = own_pane(context, record)? else { return Ok(false) };
    // A shell in which a person has begun something stays.
    if context.store.is_record_owned(&record.id)? || !context.herdr.foreground(&pane.id)?.is_idle_shell() {
        return Ok(false);
    }
    show_in_new_pane(context, record, Some(pane), By::Restart)?;
    Ok(true)
}

/// Whether there is a box to be shown; no pane opens for one that is gone.
fn can_be_shown(context: &ActionContext, record: &Record) -> Result<()> {
    let remote = context.remote(record)?;
    let over = |status: &Status| matches!(status, Status::Failed | Status::Destroying | Status::Destroyed);
    match remote.provider.get(&remote.id) {
        Ok(view) if !over(&view.status) => Ok(()),
        // What is wrong is told in the words of the attempt.
        _ => run_box(context, record, &remote).map(|_| ()),
    }
}

/// Makes a holding screen, or one that is about to hold, bring its agent back.
pub(crate) fn wake(context: &ActionContext, id: &RecordId) -> Result<()> {
    crate::fs::write_atomic(&context.store.wake_file(id), b"", crate::fs::Mode::Private)
}

fn wait_until(what: &str, done: impl Fn() -> Result<bool>) -> Result<()> {
    let began = Instant::now();
    while !done()? {
        if began.elapsed() > PANE {
            return Err(Error::failed(what).help("look at the pane, then try again"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Opens a pane beside the restored one, and closes that one only if the mapping names it and nothing
/// but its own shell is in it.
fn show_in_new_pane(context: &ActionContext, record: &Record, restored: Option<Pane>, by: By) -> Result<()> {
    let beside = match &restored {
        Some(pane) => pane.id.clone(),
        None => context.need_focus()?.id.clone(),
    };
    let called = restored.as_ref().and_then(|pane| name_of_a_person(context, record, pane));
    let called = called.map(|name| format!("{PERSONS_NAME}{name}"));
    let mut env = vec![(RECORD, record.id.as_str())];
    env.extend((by == By::Restart).then(|| (RESTORED, called.as_deref().unwrap_or("1"))));
    let place = Place::RightOf(&beside, by.focus(context, restored.as_ref()));
    let opened = context.herdr.open_plugin_pane("agent", place, Some(&record.worktree), &env)?;
    wait_until("the new pane did not show the box", || context.store.is_record_owned(&record.id))?;
    if let Some(opened) = opened {
        context.store.edit(|state| state.bind(&record.id, &context.socket, &opened))?;
    }
    if let Some(pane) = restored
        && context.herdr.foreground(&pane.id).is_ok_and(|foreground| foreground.is_idle_shell())
    {
        context.herdr.close_pane(&pane.id)?;
    }
    Ok(())
}

/// The pane that the mapping names by its terminal, if it is there: after a restart the restored shell.
fn own_pane(context: &ActionContext, record: &Record) -> Result<Option<Pane>> {
    let Some(terminal) = record.terminal.as_ref().filter(|_| record.socket == context.socket) else {
        return Ok(None);
    };
    Ok(context.herdr.panes()?.into_iter().find(|pane| pane.terminal == *terminal))
}
