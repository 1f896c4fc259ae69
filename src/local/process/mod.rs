//! A process that outlives the command that started it: its supervisor, and the terminals that come and go.

pub(super) mod attach;
mod client;
mod detach;
pub(super) mod launch;
mod leave;
mod model;
mod ring;
mod served;
mod shown;
mod socket;
pub(super) mod supervisor;
pub(super) mod talk;
