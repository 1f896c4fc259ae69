//! The work of a box: what of it is new, and what of it is not here.

pub(super) mod home;
pub(super) mod propose;
