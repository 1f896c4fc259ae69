//! `attach`: brings the box and its agent back, and shows it in the pane that has it or in a new one.

use crate::action::mapping::naming::title;
use crate::action::mapping::running::run_box;
use crate::action::mapping::session::RECORD;
use crate::action::mapping::session::{Session, box_id};
use crate::action::mapping::which::choose;
use crate::action::pane::bring_back::{bring_back, bring_back_alone};
use crate::action::report::{Notice, Report};
use crate::createos::{ProcessId, Status};
use crate::error::{Error, Result};
use crate::herdr::{Focus, Pane, Place};
use crate::state::{Record, RecordId};
use std::time::{Duration, Instant};

/// How long the new pane may take to show the box.
const PANE: Duration = Duration::from_secs(20);

/// Reattaches.
///
/// # Errors
/// There is no box, it cannot be resumed, or its pane cannot be opened.
pub(crate) fn attach(session: &Session) -> Result<Report> {
    let chosen = choose(session)?;
    let record = &chosen.record;
    let process = reattach(session, record, By::Action)?;
    let shown = session.store.read()?.record(&record.id).and_then(|record| record.pane.clone());
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
}

impl By {
    fn focus(self, session: &Session) -> Focus {
        match self {
            Self::Action => session.focus_of_a_new_pane(),
            Self::List => Focus::Moves,
        }
    }

    /// Whether its own pane gets the focus: it was named from elsewhere.
    fn goes_there(self, session: &Session) -> bool {
        match self {
            Self::Action => session.wanted.is_some() && session.focus_of_a_new_pane() == Focus::Moves,
            Self::List => true,
        }
    }
}

/// Brings the box and its agent back into its pane, or into a new one. The pane opens, and the focus moves, before
/// anything that takes its time: the pane shows it.
///
/// # Errors
/// The box cannot be brought back, or its pane cannot be opened.
pub(crate) fn reattach(session: &Session, record: &Record, by: By) -> Result<ProcessId> {
    let _alone = session.store.lock_showing(&record.id)?;
    // Who held the lock before may have opened another pane for it.
    let state = session.store.read()?;
    let record = state.record(&record.id).ok_or_else(|| Error::failed("the box of this pane was deleted"))?;
    let own = own_pane(session, record)?;
    if record.socket == session.socket && own.is_none() {
        // Its pane was just closed: the process of it has half a second left (docs/measured/herdr.md 13).
        wait_until("the closed pane of the box did not end", || {
            Ok(!session.store.is_record_owned(&record.id)?)
        })?;
    }
    if !session.store.is_record_owned(&record.id)? {
        // The new pane waits for this lock.
        let alone = session.store.lock_agent(&record.id)?;
        can_be_shown(session, record)?;
        show_in_new_pane(session, record, own, by)?;
        return Ok(bring_back_alone(session, &record.id, &alone)?.process);
    }
    if let Some(pane) = own.filter(|_| by.goes_there(session)) {
        // After a restart of Herdr it is no plugin pane any more, and stays without the focus.
        let _stays_where_it_is = session.herdr.focus_plugin_pane(&pane.id);
    }
    let brought = bring_back(session, &record.id)?;
    // Our own process lives in the pane: if it holds, or is about to, it comes back.
    if brought.anew || session.store.is_holding(&record.id)? {
        wake(session, &record.id)?;
    }
    Ok(brought.process)
}

/// Whether there is a box to be shown; no pane opens for one that is gone.
fn can_be_shown(session: &Session, record: &Record) -> Result<()> {
    let provider = session.provider(record.provider)?;
    let id = box_id(record)?;
    let over = |status: &Status| matches!(status, Status::Failed | Status::Destroying | Status::Destroyed);
    match provider.get(&id) {
        Ok(view) if !over(&view.status) => Ok(()),
        // What is wrong is told in the words of the attempt.
        _ => run_box(session, record, &provider, &id).map(|_| ()),
    }
}

/// Makes a holding screen, or one that is about to hold, bring its agent back.
///
/// # Errors
/// The state folder cannot be written.
pub(crate) fn wake(session: &Session, id: &RecordId) -> Result<()> {
    crate::fs::write_atomic(&session.store.wake_file(id), b"", crate::fs::Mode::Private)
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
fn show_in_new_pane(session: &Session, record: &Record, restored: Option<Pane>, by: By) -> Result<()> {
    let beside = match &restored {
        Some(pane) => pane.id.clone(),
        None => session.need_focus()?.id.clone(),
    };
    let env = [(RECORD, record.id.as_str())];
    let place = Place::RightOf(&beside, by.focus(session));
    let opened = session.herdr.open_plugin_pane("agent", place, Some(&record.worktree), &env)?;
    wait_until("the new pane did not show the box", || session.store.is_record_owned(&record.id))?;
    if let Some(opened) = opened {
        session.store.update(|state| {
            state.bind(&record.id, &session.socket, &opened);
            Ok(())
        })?;
    }
    if let Some(pane) = restored
        && session.herdr.foreground(&pane.id).is_ok_and(|foreground| foreground.is_idle_shell())
    {
        session.herdr.close_pane(&pane.id)?;
    }
    Ok(())
}

/// The pane that the mapping names by its terminal, if it is there: after a restart the restored shell.
fn own_pane(session: &Session, record: &Record) -> Result<Option<Pane>> {
    let Some(terminal) = record.terminal.as_ref().filter(|_| record.socket == session.socket) else {
        return Ok(None);
    };
    Ok(session.herdr.panes()?.into_iter().find(|pane| pane.terminal == *terminal))
}
