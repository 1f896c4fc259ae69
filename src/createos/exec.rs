//! `sandbox exec`: a script in the box, buffered or streamed.

use super::json;
use super::{BoxId, Failure, Provider, Refusal};
use crate::exec::Run;
use serde_json::Value;
use std::time::Duration;

/// `$0` of every script: it shows up in the box's process list.
const NAME: &str = "createos-sandbox";

/// Takes the guard off the parameters. Each travels behind a `=`, so that no datum can be one of the
/// words that the CLI looks for in the whole argv: `--help`, `-h`, `help`, `--` (quirks Q1, Q3).
const UNGUARD: &str = "for a in \"$@\"; do set -- \"$@\" \"${a#=}\"; shift; done; unset a\n";

/// What a script in a box answered.
#[derive(Debug)]
pub(crate) struct Said {
    /// Exit code of the script.
    pub(crate) code: i32,
    /// Its stdout; damaged bytes are replaced, a final line feed may have been added.
    pub(crate) stdout: String,
    /// Its stderr.
    pub(crate) stderr: String,
}

impl Provider {
    /// Runs `bash -lc SCRIPT createos-sandbox ARGS…` and waits for its answer.
    ///
    /// # Errors
    /// The box or the provider could not run it. The script's exit code is no error.
    pub(crate) fn exec(
        &self,
        id: &BoxId,
        script: &str,
        args: &[&str],
        limit: Duration,
    ) -> Result<Said, Failure> {
        const VERB: &str = "sandbox exec";
        let run = command(self.json(limit).arg("exec"), id, script, args);
        let ended = run.run().map_err(|error| Failure::from_exec(VERB, &error))?;
        let document = json::first_document(&ended.stdout_text());
        let code = document.as_ref().and_then(|document| document.get("exit_code")?.as_i64());
        let (Some(document), Some(code)) = (document, code) else {
            return Err(Failure::from_ended(VERB, &ended));
        };
        if let Some(words) = json::text(&document, "error") {
            return Err(Failure::other(VERB, words));
        }
        let text = |key| document.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = i32::try_from(code).unwrap_or(i32::MAX);
        Ok(Said { code, stdout: text("stdout"), stderr: text("stderr") })
    }

    /// Runs a script and passes its output, stderr mixed in, to `show` as it comes.
    /// A stream that is cut also ends with exit code 0 (quirk Q5): the script's own end is marked.
    ///
    /// # Errors
    /// The box or the provider could not run it, or the stream ended before the script did.
    pub(crate) fn exec_streamed(
        &self,
        id: &BoxId,
        script: &str,
        args: &[&str],
        limit: Duration,
        show: impl FnMut(&[u8]) + Send,
    ) -> Result<i32, Failure> {
        const VERB: &str = "sandbox exec --stream";
        let marker = format!("\u{1e}createos-sandbox-end-{} ", crate::random::hex(16));
        let wrapper =
            "s=$1 m=$2; shift 2; bash -c \"$s\" createos-sandbox \"$@\" 2>&1; printf '%s%d\\n' \"$m\" \"$?\"";
        let mut words = vec![script, &marker];
        words.extend_from_slice(args);
        let mut tail = Tail { marker: marker.as_bytes(), held: Vec::new(), code: None, show };
        let run =
            command(self.sandbox(limit).args(["exec", "--stream"]), id, wrapper, &words).stdout_to(|bytes| {
                tail.feed(bytes);
                Ok(())
            });
        let ended = run.run().map_err(|error| Failure::from_exec(VERB, &error))?;
        match tail.end() {
            Some(code) => Ok(code),
            None if ended.success() => Err(Failure {
                refusal: Refusal::Other,
                verb: VERB.into(),
                words: "the connection to the box ended before the script did".into(),
            }),
            None => Err(Failure::from_ended(VERB, &ended)),
        }
    }
}

fn command<'a>(run: Run<'a>, id: &BoxId, script: &str, args: &[&str]) -> Run<'a> {
    let script = if args.is_empty() { script.to_owned() } else { format!("{UNGUARD}{script}") };
    run.args([id.as_str(), "--", "bash", "-lc", &script, NAME]).args(args.iter().map(|arg| format!("={arg}")))
}

/// Passes a stream on except for its last line, which carries the exit code behind the marker.
struct Tail<'m, F> {
    marker: &'m [u8],
    held: Vec<u8>,
    code: Option<i32>,
    show: F,
}

impl<F: FnMut(&[u8])> Tail<'_, F> {
    fn feed(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        // From the marker's first byte on everything is held back until it proves to be something else.
        loop {
            let Some(start) = self.held.iter().position(|byte| *byte == self.marker[0]) else {
                (self.show)(&self.held);
                self.held.clear();
                return;
            };
            (self.show)(&self.held[..start]);
            self.held.drain(..start);
            let known = self.held.len().min(self.marker.len());
            if self.held[..known] == self.marker[..known] {
                return;
            }
            (self.show)(&self.held[..1]);
            self.held.drain(..1);
        }
    }

    fn end(mut self) -> Option<i32> {
        let line = self.held.strip_prefix(self.marker).map(<[u8]>::to_vec);
        self.code = line.and_then(|line| std::str::from_utf8(&line).ok()?.trim().parse().ok());
        if self.code.is_none() {
            (self.show)(&self.held);
        }
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(chunks: &[&[u8]]) -> (String, Option<i32>) {
        let mut shown = Vec::new();
        let mut tail = Tail {
            marker: b"\x1eend ",
            held: Vec::new(),
            code: None,
            show: |bytes: &[u8]| shown.extend_from_slice(bytes),
        };
        chunks.iter().for_each(|chunk| tail.feed(chunk));
        let code = tail.end();
        (String::from_utf8_lossy(&shown).into_owned(), code)
    }

    #[test]
    fn the_end_is_found_over_any_split_and_never_shown() {
        assert_eq!(tail(&[b"hello\n\x1een", b"d 7\n"]), ("hello\n".into(), Some(7)));
        assert_eq!(tail(&[b"a\x1eb", b"\x1eend 0\n"]), ("a\x1eb".into(), Some(0)));
    }

    #[test]
    fn a_cut_stream_has_no_code() {
        assert_eq!(tail(&[b"half\x1een"]), ("half\x1een".into(), None));
    }
}
