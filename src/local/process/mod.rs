//! A process that outlives the command that started it: its supervisor, and the terminals that come and go.

pub(super) mod attach;
mod detach;
pub(super) mod launch;
mod leave;
mod model;
mod ring;
mod served;
mod socket;
pub(super) mod supervisor;
pub(super) mod talk;
