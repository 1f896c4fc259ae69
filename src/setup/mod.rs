//! Setting Herdr up for sandboxed agents, and taking it back.

pub(crate) mod install;
pub(crate) mod shim;
