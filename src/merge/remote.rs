//! What this room needs of a box. `journey` has it for a provider.

use crate::error::Result;
use crate::exec::{Heard, Hearing};
use std::io::{Read, Write};

/// What a script in the box answered.
#[derive(Debug)]
pub(crate) struct Response {
    /// The script's exit code.
    pub(crate) code: i32,
    /// Its stdout as text: for short answers only. A provider may add a final line feed.
    pub(crate) stdout: String,
    /// Its stderr as text.
    pub(crate) stderr: String,
}

/// A running box. Everything that it says is data to be judged.
pub(crate) trait Remote {
    /// Runs `bash -lc SCRIPT createos-sandbox ARGS…`. Data goes into `args`, never into the script.
    /// Bytes that must arrive exactly travel with [`Remote::push`] and [`Remote::pull`].
    ///
    /// # Errors
    /// The box or its provider could not run the script. An exit code is no error.
    fn exec(&mut self, script: &str, args: &[&str]) -> Result<Response>;

    /// The same for what may take minutes: in the box it goes on when the connection is lost. stdout and stderr come
    /// mixed, as stdout, and `heard` gets them as they come.
    ///
    /// # Errors
    /// As of [`Remote::exec`].
    fn exec_long(&mut self, script: &str, args: &[&str], heard: Hearing<'_>) -> Result<Response> {
        let answer = self.exec(script, args)?;
        heard(Heard::Output(answer.stdout.as_bytes()));
        Ok(answer)
    }

    /// Writes a file in the box; `path` is absolute there, its folders are made.
    ///
    /// # Errors
    /// The transfer failed.
    fn push(&mut self, contents: &mut (dyn Read + Send), path: &str) -> Result<()>;

    /// Reads a file of the box, at most `limit` bytes.
    ///
    /// # Errors
    /// The transfer failed, or the file is larger than `limit`.
    fn pull(&mut self, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()>;
}
