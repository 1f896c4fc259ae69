//! What a supervisor and its starter say to each other.

use crate::local::boxes::record::ProcessRecord;
use crate::local::failure;
use crate::local::wire::spec::Bytes;
use crate::ui::terminal::Size;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a supervisor is told, on its stdin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Brief {
    pub(crate) boxes: PathBuf,
    pub(crate) reference: String,
    /// The process as it will be on record.
    pub(crate) record: ProcessRecord,
    pub(crate) argv: Vec<Bytes>,
    pub(crate) cwd: Bytes,
    pub(crate) env: Vec<(Bytes, Bytes)>,
    /// A terminal of this size, or pipes.
    pub(crate) terminal: Option<Size>,
}

/// What it answers, once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SupervisorAnswer {
    Started(ProcessRecord),
    /// It does not, and nothing is left of it.
    Failed(failure::Parts),
}
