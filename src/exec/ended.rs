//! What a program leaves, and why one gave no result.

use crate::error::Error;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// What a program that ended has left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Captured stdout; empty when it was inherited or streamed.
    pub(crate) stdout: Vec<u8>,
    /// Captured stderr; empty when it was inherited.
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    /// The exit code as a shell would give it: 128 plus the signal for one that was killed.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    pub(crate) fn success(&self) -> bool {
        self.status.success()
    }

    /// stdout as text, damaged bytes replaced.
    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// stderr as text, damaged bytes replaced, trimmed.
    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// What is heard of work that takes its time.
#[derive(Debug)]
pub(crate) enum Heard<'a> {
    /// It has printed more.
    Output(&'a [u8]),
    /// The connection to the box is lost. It goes on there, and is asked again.
    Lost,
}

/// Who is told of a long program while it runs.
pub(crate) type Hearing<'a> = &'a mut dyn FnMut(Heard<'_>);

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExecError {
    /// It could not be started.
    #[error("could not start {program}: {source}")]
    Start { program: String, source: std::io::Error },
    /// It ran longer than its limit and was killed, with its whole process group.
    #[error("{program} did not finish within {} s and was stopped", limit.as_secs())]
    TimedOut {
        program: String,
        /// The limit that it had.
        limit: Duration,
    },
    /// The person pressed Ctrl-C; it was killed, with its whole process group.
    #[error("interrupted while {program} ran")]
    Interrupted { program: String },
    /// Feeding its stdin, or passing its stdout on, failed.
    #[error("could not talk to {program}: {source}")]
    Pipe { program: String, source: std::io::Error },
}

impl From<ExecError> for Error {
    fn from(error: ExecError) -> Self {
        Self::failed(error.to_string())
    }
}
