//! What leaves the machine: listing, filters, secret scan, hashing, packing; and what may come in.

mod base;
mod deny;
mod exclude;
mod file;
mod git;
mod incoming;
mod link;
mod open;
mod pack;
mod path;
mod rules;
mod secret;
mod select;
mod stayed;
mod tar;

pub(crate) use base::{Base, Entry, Kind};
pub(crate) use exclude::Exclude;
pub(crate) use git::Worktree;
pub(crate) use incoming::{BadArchive, Limits, check_archive};
pub(crate) use link::leads_out;
pub(crate) use pack::{Packed, judge, pack};
pub(crate) use path::{BadPath, RelPath};
pub(crate) use rules::{Rules, stays_home, sync_excludes, sync_pattern};
pub(crate) use select::{LARGEST_UPLOAD, Selection, select};
pub(crate) use stayed::{Reason, Stayed};
