//! What leaves the machine: listing, filters, secret scan, hashing, packing.

mod base;
mod exclude;
mod path;

pub(crate) use base::{Base, Entry, Kind};
pub(crate) use exclude::Exclude;
pub(crate) use path::{BadPath, RelPath};
