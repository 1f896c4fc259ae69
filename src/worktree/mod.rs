//! What leaves the machine: listing, filters, secret scan, hashing, packing.

mod allow;
mod base;
mod deny;
mod exclude;
mod file;
mod git;
mod harmless;
mod include;
mod link;
mod open;
mod pack;
mod part;
mod path;
mod plain;
mod rules;
mod secret;
mod select;
mod stayed;
mod sync_patterns;
mod tar;
mod words;

pub(crate) use allow::{Allow, AllowPattern};
pub(crate) use base::{Base, Entry, FileKind};
pub(crate) use exclude::Exclude;
pub(crate) use git::{Worktree, reading_git};
pub(crate) use include::{Asked, INCLUDE};
pub(crate) use link::{Leads, follow};
pub(crate) use pack::{Packed, Progress, judge, pack};
pub(crate) use part::Pattern;
pub(crate) use path::{BadPath, RelPath};
pub(crate) use plain::walk;
pub(crate) use rules::{Rules, stays_home};
pub(crate) use select::{Lifted, Selection, asked, select};
pub(crate) use stayed::Reason;
pub(crate) use sync_patterns::sync_patterns;
