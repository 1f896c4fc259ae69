//! What every kind of change has: its words, its note in the receipt, the way there and the way back.

use super::ledger::Ledger;
use crate::error::{Error, Result};
use crate::herdr::{Diagnostics, Herdr};
use crate::paths::Paths;
use crate::setup::receipt::Receipt;

/// One kind of change. The plan, a dry run, the JSON document, the receipt and the undo all come from here.
pub(crate) trait Step {
    /// The change in words.
    fn line(&self, paths: &Paths) -> Line;

    /// The change of a text file as a unified diff; other changes have none.
    fn diff(&self) -> Option<String> {
        None
    }

    /// Notes in the receipt what is about to happen, and keeps beside it what an undo needs.
    ///
    /// # Errors
    /// What an undo needs cannot be read or kept.
    fn begin(&self, _receipt: &mut Receipt, _paths: &Paths) -> Result<()> {
        Ok(())
    }

    /// Makes the change.
    ///
    /// # Errors
    /// It is not made, or in part where [`may_be_half`](Self::may_be_half) says so.
    fn apply(&self, work: &mut Work<'_>) -> Result<Done>;

    /// Takes the change back.
    ///
    /// # Errors
    /// It stays.
    fn revert(&self, work: &mut Work<'_>) -> Result<()>;

    /// Whether it may have been made in part when it failed. The others take themselves back.
    fn may_be_half(&self) -> bool {
        false
    }
}

/// What changes are made with.
pub(crate) struct Work<'a> {
    pub(crate) paths: &'a Paths,
    /// None when an undo finds none and does not need it.
    pub(crate) herdr: Option<Herdr>,
    /// What Herdr said about `config.toml` before.
    pub(crate) diagnostics: Diagnostics,
    /// The build's output goes to stderr, since stdout is one JSON document.
    pub(crate) quiet: bool,
    pub(crate) ledger: Ledger<'a>,
}

/// What became of a change.
pub(crate) enum Done {
    /// It is made, and this run's to take back.
    Made,
    /// It was made already.
    Already,
    /// It is made but for this, which keeps nothing else from being made.
    Short(Error),
}

/// A change in words: a verb, the thing, and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// `link`, `write`, `edit` and the like.
    pub(crate) verb: &'static str,
    /// The file or the plugin.
    pub(crate) thing: String,
    pub(crate) rest: String,
}

impl Line {
    pub(crate) fn new(verb: &'static str, thing: impl Into<String>, rest: impl Into<String>) -> Self {
        Self { verb, thing: thing.into(), rest: rest.into() }
    }
}
