//! `resume`: brings a paused box back.

use super::attach::wake;
use super::pause::report;
use crate::action::mapping::running::run_box;
use crate::action::mapping::session::Session;
use crate::action::mapping::which::choose;
use crate::action::report::Report;
use crate::error::Result;

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
