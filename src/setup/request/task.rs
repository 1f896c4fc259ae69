//! What a command line of `setup` asks for.

use serde::Serialize;

/// What ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Command"))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Task {
    /// `--doctor`
    Doctor,
    /// a setup
    Setup,
    /// `--undo`
    Undo,
}

impl Task {
    /// The task of these two flags.
    pub(crate) fn asked(doctor: bool, undo: bool) -> Self {
        match (doctor, undo) {
            (true, _) => Self::Doctor,
            (_, true) => Self::Undo,
            _ => Self::Setup,
        }
    }
}
