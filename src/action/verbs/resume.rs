//! `resume`: brings a paused box back.

use super::attach::wake;
use super::pause::report;
use crate::action::mapping::{ActionContext, choose, run_box};
use crate::action::pane::project::on_resume;
use crate::action::report::Report;
use crate::error::Result;

/// Brings a paused box back. A running one is fine.
///
/// # Errors
/// There is no box, or the provider refuses.
pub(crate) fn resume(context: &ActionContext) -> Result<Report> {
    let chosen = choose(context)?;
    let remote = context.remote(&chosen.record)?;
    if run_box(context, &chosen.record, &remote)? {
        let failed = on_resume(context, &chosen.record, &remote);
        context.store.change(&chosen.record.id, |record| record.project_failed = failed)?;
    }
    if context.store.is_holding(&chosen.record.id)? {
        wake(context, &chosen.record.id)?;
    }
    Ok(report(&chosen, "runs"))
}
