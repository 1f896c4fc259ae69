//! A box: a folder with a record, a root file system, and notes of what runs in it.

mod copy;
pub(super) mod create;
pub(super) mod destroy;
pub(super) mod fork;
pub(super) mod id;
mod json;
mod leftovers;
pub(super) mod local_box;
pub(super) mod meta;
pub(super) mod news;
pub(super) mod pause;
pub(super) mod record;
pub(super) mod refusal;
pub(super) mod remove;
pub(super) mod renew;
pub(super) mod running;
pub(super) mod shape;
pub(super) mod signals;
pub(super) mod skeleton;
pub(super) mod store;
pub(super) mod tombstones;
