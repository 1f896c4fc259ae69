//! `pause`: a snapshot is kept, nothing runs.

use crate::action::mapping::{ActionContext, Chosen, choose};
use crate::action::report::Report;
use crate::createos::Status;
use crate::error::Result;

/// Takes a snapshot of the box and stops it. A paused one is fine.
///
/// # Errors
/// There is no box, or the provider refuses.
pub(crate) fn pause(context: &ActionContext) -> Result<Report> {
    let chosen = choose(context)?;
    let remote = context.remote(&chosen.record)?;
    let status = remote.provider.get(&remote.id)?.status;
    if !matches!(status, Status::Paused | Status::Pausing) {
        // Said before it is so: whoever shows the box asks at once why its attach has ended.
        by_hand(context, &chosen, true)?;
        if let Err(failure) = remote.provider.pause(&remote.id) {
            by_hand(context, &chosen, false)?;
            return Err(failure.into());
        }
    }
    Ok(report(&chosen, "is paused"))
}

fn by_hand(context: &ActionContext, chosen: &Chosen, paused: bool) -> Result<()> {
    context.store.change(&chosen.record.id, |record| record.paused_by_hand = paused)
}

/// The box, and what it does now.
pub(crate) fn report(chosen: &Chosen, what: &str) -> Report {
    Report::new(format!("box {} {what}{}", chosen.record.name, chosen.why()))
        .field("box", chosen.record.name.as_str())
        .on(chosen.record.pane.as_ref())
}
