//! A setup that was stopped half way.

use super::check::Check;
use super::context::Context;
use crate::command;
use crate::setup::receipt::Progress;

/// Said only when the last setup, or undo, did not come to its end.
pub(super) fn unfinished(context: &Context<'_>) -> Option<Check> {
    let Ok(Some(receipt)) = &context.observed.receipt else { return None };
    let undo = command::setup().flag("--undo");
    (receipt.state == Progress::Applying).then(|| {
        Check::warn("setup", "the last one was stopped half way")
            .fix(format!("{}\nor take it back: {undo}", context.setup()))
    })
}
