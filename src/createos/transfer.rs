//! `sandbox push` and `pull`: one file each.

use super::{BoxId, Failure, Provider, Refusal};
use std::io::{self, Read, Write};
use std::time::Duration;

/// 500 MB over a slow line.
const TRANSFER: Duration = Duration::from_secs(30 * 60);
/// How much of a failed `pull`'s stdout is kept: an error document may stand there.
const HEAD: usize = 16 * 1024;

impl Provider {
    /// Streams `contents` into a file of the box.
    ///
    /// # Errors
    /// The reader's, the provider's refusal.
    pub(crate) fn push(
        &self,
        id: &BoxId,
        contents: &mut (dyn Read + Send),
        path: &str,
    ) -> Result<(), Failure> {
        let run = self
            .sandbox(TRANSFER)
            .args(["push", id.as_str(), "-", path])
            .stdin_feed(|stdin| io::copy(contents, stdin).map(|_| ()));
        Self::finish("sandbox push", run).map(|_| ())
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
    ) -> Result<(), Failure> {
        const VERB: &str = "sandbox pull";
        let (mut left, mut too_large, mut head) = (limit, false, Vec::new());
        let run = self.sandbox(TRANSFER).args(["pull", id.as_str(), path, "-"]).stdout_to(|bytes| {
            head.extend_from_slice(&bytes[..bytes.len().min(HEAD - head.len())]);
            match left.checked_sub(bytes.len() as u64) {
                Some(rest) => left = rest,
                None => {
                    too_large = true;
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
            }
            contents.write_all(bytes)
        });
        let ended = run.run();
        if too_large {
            return Err(Failure {
                refusal: Refusal::Other,
                verb: VERB.into(),
                words: format!("{path} in the box is larger than {limit} bytes"),
            });
        }
        let mut ended = ended.map_err(|error| Failure::from_exec(VERB, &error))?;
        if ended.success() {
            return Ok(());
        }
        ended.stdout = head;
        Err(Failure::from_ended(VERB, &ended))
    }
}
