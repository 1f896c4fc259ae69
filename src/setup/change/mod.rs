//! What a plan is made of: each difference between what is wanted and what is there, with everything to carry it out
//! and to take it back.

mod apply;
mod build;
mod bundle;
mod file;
mod ledger;
mod leftover;
mod plugin;
mod step;

pub(crate) use apply::{apply, last_words};
pub(crate) use build::{BuildChange, ProgramChange, missing_file};
pub(crate) use bundle::BundleChange;
pub(crate) use file::FileChange;
pub(crate) use ledger::{Ledger, Purpose};
pub(crate) use leftover::Leftover;
pub(crate) use plugin::PluginChange;
pub(crate) use step::{Line, Step, Work};

/// A change; a plan is an ordered list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The files of the bundled plugin's folder.
    Bundle(BundleChange),
    /// The plugin's registration in Herdr.
    Plugin(PluginChange),
    /// The build of a developer's checkout.
    Build(BuildChange),
    /// A program gets its old bytes back.
    Program(ProgramChange),
    /// A user's file.
    File(FileChange),
    /// Something that a killed run left.
    Leftover(Leftover),
}

impl Change {
    /// What every kind of change can say of itself and do.
    pub(crate) fn step(&self) -> &dyn Step {
        match self {
            Self::Bundle(change) => change,
            Self::Plugin(change) => change,
            Self::Build(change) => change,
            Self::Program(change) => change,
            Self::File(change) => change,
            Self::Leftover(change) => change,
        }
    }
}
