//! What a supervisor, its starter and its clients say to each other.

use crate::local::boxes::record::Record;
use crate::local::failure;
use crate::local::wire::spec::{Bytes, Size};
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

/// What a client asks for, first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Hello {
    /// The process as it is now.
    Status,
    /// Its output and its input.
    Attach {
        /// From this place on; only what is new when `None`.
        after: Option<u64>,
        /// Go on when everything that is there has been sent.
        follow: bool,
        /// The size of the terminal on which it is shown; none on pipes, and from a client of an earlier version.
        #[serde(default)]
        terminal: Option<Size>,
    },
    /// The box has been paused: whoever is attached is let go.
    LetGo,
    /// Another size for the terminal.
    Resize(Size),
    /// This signal for what has the terminal, or for the program on pipes.
    Signal(i32),
    /// The program's end: first SIGTERM, SIGKILL for everything after this time.
    Stop {
        /// Milliseconds.
        grace: u64,
    },
}
