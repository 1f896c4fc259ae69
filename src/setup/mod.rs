//! Setting Herdr up for sandboxed agents, and taking it back: desired, observed, plan, apply, receipt, undo.
//! The doctor renders the same observation.

mod bundle;
mod carry_out;
mod change;
mod checks;
mod observe;
mod offer;
mod plan;
mod receipt;
mod render;
mod report;
mod request;
mod run;
mod set_up;
pub(crate) mod shim;
mod take_back;
mod talk;
mod template;

pub(crate) use run::{asks_for_json, run, wrong_usage};
