//! Work coming home: base lists, three ways by path, judgement, patches.

mod case;
mod delivery;
mod elsewhere;
mod export;
mod fate;

mod index;
mod journal;
mod judge;
mod kill;
mod ledger;
mod links;
mod merge_file;
mod obstacles;
mod ours;
mod parcel;
mod patch;
mod prepare;
mod proposal;
mod remote;
mod review;
mod runs_code;
mod script;
mod source;
mod spool;
mod transaction;
mod tree;
mod undo;
mod verdict;

pub(crate) use case::Filters;
pub(crate) use delivery::Delivery;
pub(crate) use elsewhere::{Elsewhere, elsewhere};
pub(crate) use export::export;
pub(crate) use fate::{Fate, Judged, OnClash, Settled};
pub(crate) use judge::propose;
pub(crate) use ledger::Ledger;
pub(crate) use prepare::{adopt, changed_there, prepare};
pub(crate) use proposal::{Applied, Outcome, Proposal};
pub(crate) use remote::{Remote, Response};
pub(crate) use undo::{KEEP_CHANGED, Level};

use crate::error::Error;
use crate::worktree::RelPath;

/// How much may come home at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of the packed parcel; the official CLI carries files up to this size.
    pub(crate) parcel: u64,
    /// Bytes of all contents, unpacked.
    pub(crate) contents: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { parcel: 500_000_000, contents: 2_000_000_000 }
    }
}

/// A box whose answer contradicts itself or our rules. Nothing has been touched.
fn lying(what: impl Into<String>) -> Error {
    Error::failed("the box's answer cannot be trusted, nothing was changed").fact("reason", what)
}

/// The folders of a path, the innermost first.
fn folders_of(path: &RelPath) -> impl Iterator<Item = RelPath> {
    let mut bytes = path.as_bytes();
    std::iter::from_fn(move || {
        let slash = bytes.iter().rposition(|byte| *byte == b'/')?;
        bytes = &bytes[..slash];
        Some(RelPath::new(bytes).expect("the folder of a judged path is one"))
    })
}

#[cfg(test)]
mod tests;
