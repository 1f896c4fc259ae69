//! Chords, and the merge of our bindings into Herdr's `config.toml`: text in, text out, no I/O.
//!
//! What is bound is decided by parsed meaning; what is written is spliced into the user's own bytes.
//! Outside facts are those of Herdr 0.8.2 (docs/measured/herdr.md 2, 3, 11, 13).

mod block;
mod builtins;
mod choose;
mod chord;
mod document;
mod key;
mod lines;
mod marker;
mod meaning;
mod merge;
mod notices;
mod observe;
mod owners;
mod unmerge;

#[cfg(test)]
mod tests;

pub(crate) use block::block;
pub(crate) use choose::{Placed, others};
pub(crate) use chord::Chord;
pub(crate) use marker::without_markers;
pub(crate) use merge::{Added, Patch, merge};
pub(crate) use notices::{delivery, with_notices, without_notices};
pub(crate) use observe::{Live, PluginEntry, State, chords_of, entries_of_the_plugin, observe};
pub(crate) use owners::{Holder, Lost, Reason};
pub(crate) use unmerge::{unmerge, unmerge_marked};

/// A binding that should be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Our name of the action, such as `start`.
    pub(crate) action: String,
    /// Its qualified id in Herdr, such as `createos.sandbox.start`.
    pub(crate) command: String,
    /// What Herdr's help panel shows.
    pub(crate) description: String,
    /// The first choice.
    pub(crate) chord: Chord,
}

/// Why a file is not touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeysError {
    /// A byte that is no UTF-8; Herdr cannot read the file either.
    #[error("line {line}, column {column}: not UTF-8")]
    NotUtf8 {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
    },
    /// It is no TOML 1.0; Herdr drops the whole file.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// The parser's words, on one line.
        message: String,
    },
    /// It is TOML, but Herdr cannot read its `keys` and drops the whole file.
    #[error("line {line}: {what}")]
    Shape {
        /// From 1.
        line: usize,
        /// The rule that it breaks.
        what: String,
    },
    /// Our own check of the result failed, so the result was thrown away.
    #[error("line {line}: this file's way of writing keys.command cannot be edited safely")]
    Unsafe {
        /// The line of the place in question, from 1.
        line: usize,
    },
}
