//! What a client asks a supervisor for.

use super::frames::{FrameKind, frame};
use crate::ui::terminal::Size;
use serde::{Deserialize, Serialize};

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
    /// The box has been paused: those who are attached are let go.
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

impl Hello {
    /// As a client says it.
    pub(crate) fn frame(&self) -> Vec<u8> {
        frame(FrameKind::Hello, &serde_json::to_vec(self).expect("a hello is plain data"))
    }
}
