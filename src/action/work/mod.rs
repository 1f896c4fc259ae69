//! The work of a box: what of it is new, and what of it is not here.

pub(super) mod home;
mod propose;

pub(super) use home::NotHome;
pub(super) use propose::{RunningBox, is_there, ledger, pasted};
