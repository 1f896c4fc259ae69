//! This binary under the name `createos`: `createos sandbox setup herdr` is ours, everything else goes
//! on to the official program.

mod called;
mod help;
mod link;
mod real;

pub(crate) use called::{is_called_as_createos, run_as_createos};
pub(crate) use link::{ShimState, install, remove, state};
