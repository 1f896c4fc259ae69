//! What a supervisor and its starter say to each other.

use crate::local::boxes::record::Record;
use crate::local::failure;
use crate::local::wire::spec::Bytes;
use crate::ui::terminal::Size;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a supervisor is told, on its stdin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Brief {
    /// The folder of all boxes.
    pub(crate) boxes: PathBuf,
    /// The box.
    pub(crate) reference: String,
    /// The process as it will be on record.
    pub(crate) record: Record,
    /// Program and arguments.
    pub(crate) argv: Vec<Bytes>,
    /// The folder to start in.
    pub(crate) cwd: Bytes,
    /// The whole environment.
    pub(crate) env: Vec<(Bytes, Bytes)>,
    /// A terminal of this size, or pipes.
    pub(crate) terminal: Option<Size>,
}

/// What it answers, once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The process runs.
    Started(Record),
    /// It does not, and nothing is left of it.
    Failed(failure::Parts),
}
