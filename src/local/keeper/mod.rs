//! What keeps the network of a box: a process of its own, from the first entry into the box to the end of the last, which
//! holds the namespace and serves the way out.

mod confine;
pub(super) mod lease;
pub(super) mod log;
pub(super) mod make;
pub(super) mod protocol;
pub(super) mod serve;
