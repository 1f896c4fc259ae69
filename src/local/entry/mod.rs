//! The way into a box: what goes along, what stays hidden, and whether this machine isolates at all.

pub(super) mod enter;
pub(super) mod environment;
pub(super) mod hidden;
pub(super) mod probe;
mod program;
pub(super) mod spawn;
