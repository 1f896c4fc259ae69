//! `pause`: a snapshot is kept, nothing runs.

use crate::action::mapping::session::Session;
use crate::action::mapping::which::{Chosen, choose};
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

fn by_hand(session: &Session, chosen: &Chosen, paused: bool) -> Result<()> {
    session.store.change(&chosen.record.id, |record| record.paused_by_hand = paused)
}

/// The box, and what it does now.
pub(crate) fn report(chosen: &Chosen, what: &str) -> Report {
    let by_worktree = if chosen.by_worktree { " (the only box of this worktree)" } else { "" };
    Report::new(format!("box {} {what}{by_worktree}", chosen.record.name))
        .field("box", chosen.record.name.as_str())
        .on(chosen.record.pane.as_ref())
}
