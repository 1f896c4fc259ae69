//! `sandbox push` and `pull`: one file each.

use super::{BoxId, Failure, Provider, Refusal, Result};
use std::io::{self, Read, Write};
use std::time::Duration;

/// 500 MB over a slow line.
const TRANSFER: Duration = Duration::from_secs(30 * 60);
/// How much of a failed `pull`'s stdout is kept: an error document may stand there.
const HEAD: usize = 16 * 1024;

/// How much of what was sent to a box that turns out to be paused is kept to be sent again: what a pipe holds.
const KEPT: usize = 256 * 1024;

impl Provider {
    /// Streams `contents` into a file of the box.
    ///
    /// # Errors
    /// The reader's, the provider's refusal.
    pub(crate) fn push(&self, id: &BoxId, contents: &mut (dyn Read + Send), path: &str) -> Result<()> {
        let mut contents = Again { kept: Some(Vec::new()), at: 0, rest: contents };
        self.awake(id, || {
            contents.rewind();
            let run = self
                .sandbox(TRANSFER)
                .args(["push", id.as_str(), "-", path])
                .stdin_feed(|stdin| io::copy(&mut contents, stdin).map(|_| ()));
            match self.finish("sandbox push", run) {
                Ok(_) => Ok(()),
                // What has left cannot be sent again: the box may be awake soon, this push is over.
                Err(failure) if !contents.is_whole() => Err(match failure.refusal {
                    Refusal::Paused | Refusal::NotYetUp => Failure { refusal: Refusal::Rejected, ..failure },
                    _ => failure,
                }),
                Err(failure) => Err(failure),
            }
        })
    }

    /// Streams a file of the box into `contents`, at most `limit` bytes.
    ///
    /// # Errors
    /// The writer's, the provider's refusal, or a file that is larger.
    pub(crate) fn pull(
        &self,
        id: &BoxId,
        path: &str,
        contents: &mut (dyn Write + Send),
        limit: u64,
    ) -> Result<()> {
        self.awake(id, || self.pull_once(id, path, contents, limit))
    }

    fn pull_once(&self, id: &BoxId, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
        const VERB: &str = "sandbox pull";
        // An error may stand on stdout: what could be one is held back until the end says that it is none.
        let (mut left, mut too_large, mut head) = (limit, false, Some(Vec::new()));
        let run = self.sandbox(TRANSFER).args(["pull", id.as_str(), path, "-"]).stdout_to(|bytes| {
            match left.checked_sub(bytes.len() as u64) {
                Some(rest) => left = rest,
                None => {
                    too_large = true;
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
            }
            match &mut head {
                Some(held) if held.len() + bytes.len() <= HEAD => {
                    held.extend_from_slice(bytes);
                    return Ok(());
                }
                held => held.take().map_or(Ok(()), |held| contents.write_all(&held))?,
            }
            contents.write_all(bytes)
        });
        let ended = run.run();
        if too_large {
            let words = format!("{path} in the box is larger than {limit} bytes");
            return Err(Failure::other(VERB, words));
        }
        let mut ended = ended.map_err(|error| Failure::from_exec(VERB, &error))?;
        let head = head.unwrap_or_default();
        if ended.success() {
            return contents.write_all(&head).map_err(|error| Failure::other(VERB, error.to_string()));
        }
        ended.stdout = head;
        Err(self.failed(VERB, &ended))
    }
}

/// A reader whose beginning can be read once more.
struct Again<'a> {
    /// The beginning, as far as it was read; `None` when more was read than is kept.
    kept: Option<Vec<u8>>,
    at: usize,
    rest: &'a mut (dyn Read + Send),
}

impl Again<'_> {
    /// Begins anew, where that is possible.
    fn rewind(&mut self) {
        self.at = 0;
    }

    /// All that was read can be read again.
    fn is_whole(&self) -> bool {
        self.kept.is_some()
    }
}

impl Read for Again<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(again) =
            self.kept.as_ref().and_then(|kept| kept.get(self.at..)).filter(|kept| !kept.is_empty())
        {
            let count = again.len().min(buffer.len());
            buffer[..count].copy_from_slice(&again[..count]);
            self.at += count;
            return Ok(count);
        }
        let count = self.rest.read(buffer)?;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&buffer[..count]);
            self.at = kept.len();
        }
        self.kept.take_if(|kept| kept.len() > KEPT);
        Ok(count)
    }
}
