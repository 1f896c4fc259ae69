//! `pause` and `resume`.

use super::attach::wake;
use crate::action::mapping::session::Session;
use crate::action::mapping::which::{Chosen, choose};
use crate::action::pane::bring_back::run_box;
use crate::action::report::Report;
use crate::createos::Status;
use crate::error::Result;

/// Takes a snapshot of the box and stops it. A paused one is fine.
///
/// # Errors
/// There is no box, or the provider refuses.
pub(crate) fn pause(session: &Session) -> Result<Report> {
    let chosen = choose(session)?;
    let remote = session.remote(&chosen.record)?;
    let status = remote.provider.get(&remote.id)?.status;
    if !matches!(status, Status::Paused | Status::Pausing) {
        // Said before it is so: whoever shows the box asks at once why its attach has ended.
        by_hand(session, &chosen, true)?;
        if let Err(failure) = remote.provider.pause(&remote.id) {
            by_hand(session, &chosen, false)?;
            return Err(failure.into());
        }
    }
    Ok(report(&chosen, "is paused"))
}

/// Brings a paused box back. A running one is fine.
///
/// # Errors
/// There is no box, or the provider refuses.
pub(crate) fn resume(session: &Session) -> Result<Report> {
    let chosen = choose(session)?;
    let remote = session.remote(&chosen.record)?;
    run_box(session, &chosen.record, &remote.provider, &remote.id)?;
    if session.store.is_holding(&chosen.record.id)? {
        wake(session, &chosen.record.id)?;
    }
    Ok(report(&chosen, "runs"))
}

fn by_hand(session: &Session, chosen: &Chosen, paused: bool) -> Result<()> {
    session.store.change(&chosen.record.id, |record| record.paused_by_hand = paused)
}

fn report(chosen: &Chosen, what: &str) -> Report {
    let by_worktree = if chosen.by_worktree { " (the only box of this worktree)" } else { "" };
    Report::new(format!("box {} {what}{by_worktree}", chosen.record.name))
        .field("box", chosen.record.name.as_str())
        .on(chosen.record.pane.as_ref())
}
