//! `attach`: brings the box and its agent back, and shows it in the pane that has it or in a new one.

use super::bring_back::bring_back;
use super::report::{Notice, Report};
use super::session::Session;
use super::start::{RECORD, title};
use super::which::choose;
use crate::error::{Error, Result};
use crate::herdr::{Pane, Place};
use crate::state::Record;
use std::time::{Duration, Instant};

/// How long the new pane may take to show the box.
const PANE: Duration = Duration::from_secs(20);

/// Reattaches.
///
/// # Errors
/// There is no box, it cannot be resumed, or its pane cannot be opened.
pub(super) fn attach(session: &Session) -> Result<Report> {
    let chosen = choose(session)?;
    let record = &chosen.record;
    let brought = bring_back(session, &record.id)?;
    let _alone = session.store.lock_showing(&record.id)?;
    if session.store.is_record_owned(&record.id)? {
        // Our own process lives in the pane: if it holds, or is about to, it comes back.
        if brought.anew || session.store.is_holding(&record.id)? {
            crate::fs::write_atomic(&session.store.wake_file(&record.id), b"", crate::fs::Mode::Private)?;
        }
    } else {
        show_in_new_pane(session, record)?;
    }
    let by_worktree = if chosen.by_worktree { ", the only box of this worktree" } else { "" };
    Ok(Report::new(format!("{} runs in box {}{by_worktree}", title(record), record.name))
        .field("box", record.name.as_str())
        .field("processId", brought.process.as_str())
        .notice(if chosen.by_worktree { Notice::Toast } else { Notice::Nothing })
        .on(record.pane.as_ref()))
}

/// Opens a pane beside the restored one, and closes that one only if the mapping names it and nothing
/// but its own shell is in it.
fn show_in_new_pane(session: &Session, record: &Record) -> Result<()> {
    let restored = restored_pane(session, record)?;
    let beside = match &restored {
        Some(pane) => pane.id.clone(),
        None => session.need_focus()?.id.clone(),
    };
    let env = [(RECORD, record.id.as_str())];
    session.herdr.open_plugin_pane("agent", Place::RightOf(&beside), Some(&record.worktree), &env)?;
    let began = Instant::now();
    while !session.store.is_record_owned(&record.id)? {
        if began.elapsed() > PANE {
            return Err(
                Error::failed("the new pane did not show the box").help("look at the pane, then try again")
            );
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    if let Some(pane) = restored
        && session.herdr.foreground(&pane.id).is_ok_and(|foreground| foreground.is_idle_shell())
    {
        session.herdr.close_pane(&pane.id)?;
    }
    Ok(())
}

/// The pane that the mapping names by its terminal, if it is there.
fn restored_pane(session: &Session, record: &Record) -> Result<Option<Pane>> {
    let Some(terminal) = &record.terminal else { return Ok(None) };
    Ok(session.herdr.panes()?.into_iter().find(|pane| pane.terminal == *terminal))
}
