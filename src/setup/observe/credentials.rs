//! Whether the official CLI can be used.

use crate::createos::{Failure, Provider, Refusal};
use std::path::Path;

/// Whether the official CLI can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignIn {
    /// It was not asked: no CLI, or the local provider.
    NotAsked,
    Usable,
    /// The CLI refuses: it is not signed in, or its session has ended.
    SignedOut(String),
    /// It gave no answer from which that could be told.
    Unclear(String),
}

/// Asks for one row of the list: the reliable probe (docs/measured/createos-cli.md 3.1).
pub(crate) fn probe(createos: &Path) -> SignIn {
    match Provider::createos(createos).session() {
        Ok(()) => SignIn::Usable,
        Err(Failure { refusal: Refusal::SignedOut, words, .. }) => SignIn::SignedOut(words),
        Err(failure) => SignIn::Unclear(failure.words),
    }
}
