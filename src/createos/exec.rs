//! `sandbox exec`: a script in the box.
//!
//! On every CLI its output comes raw, as text: what is no UTF-8 is lost, a character that two pieces of the stream
//! share as well, and a stream that is cut ends like one that is complete (docs/measured/createos-cli.md 3.4). So
//! stdout travels as base64, and both streams begin and end with a marker of this call.

use super::{BoxId, Failure, Provider, Result, words};
use crate::base64;
use crate::exec::{Ended, Run};
use memchr::memmem;
use std::io;
use std::time::Duration;

/// `$0` of every script: it shows up in the box's process list.
pub(super) const NAME: &str = "createos-sandbox";

/// Takes the guard off the parameters. Each travels behind a `=`, so that no datum can be one of the words that the
/// CLI looks for in the whole argv: `--help`, `-h`, `help`, `--` (docs/measured/createos-cli.md 3.2, 3.3).
pub(super) const UNGUARD: &str = "for a in \"$@\"; do set -- \"$@\" \"${a#=}\"; shift; done; unset a\n";

/// Runs the script `$2` with what follows, between two markers `$1`. What a login shell's profile prints comes before.
const FRAMED: &str = r#"m=$1 s=$2; shift 2
command -v base64 >/dev/null 2>&1 && e=base64 || e=cat
printf '%s<%s\n' "$m" "$e"; printf '%s<cat\n' "$m" >&2
bash -c "$s" createos-sandbox "$@" | "$e"; c=${PIPESTATUS[0]}
printf '\n%s>%d\n' "$m" "$c"; printf '\n%s>%d\n' "$m" "$c" >&2"#;

const VERB: &str = "sandbox exec";
/// The pauses before a question is asked again.
pub(super) const RETRIES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
/// How much of what an unfinished script printed is told.
const TOLD: usize = 300;

/// How many bytes a script may answer: a box that never stops talking is left then.
const ANSWER: usize = 64 * 1024 * 1024;

/// What a script in a box answered.
#[derive(Debug)]
pub(crate) struct Said {
    /// Exit code of the script.
    pub(crate) code: i32,
    /// Its stdout, byte for byte.
    pub(crate) stdout: Vec<u8>,
    /// Its stderr; damaged bytes are replaced.
    pub(crate) stderr: String,
}

impl Said {
    /// Its stdout as text, damaged bytes replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl Provider {
    /// Runs `bash -lc SCRIPT createos-sandbox ARGS…` and waits for its answer.
    ///
    /// # Errors
    /// The box or the provider could not run it, or the connection ended before it did. The script's exit code is no
    /// error.
    pub(crate) fn exec(&self, id: &BoxId, script: &str, args: &[&str], limit: Duration) -> Result<Said> {
        let marker = format!("createos-sandbox-{}", crate::random::hex(16));
        let mut words = vec![marker.as_str(), script];
        words.extend_from_slice(args);
        self.awake(id, || {
            let (mut stdout, mut too_large) = (Vec::new(), false);
            let run = command(self.sandbox(limit).args(["exec", "--stream"]), id, FRAMED, &words);
            let ended = run.stdout_to(|bytes| {
                too_large = stdout.len() + bytes.len() > ANSWER;
                if too_large {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                stdout.extend_from_slice(bytes);
                Ok(())
            });
            let ended = ended.run();
            if too_large {
                let words = format!("the box answered more than {} MiB", ANSWER / 1024 / 1024);
                return Err(Failure::other(VERB, words));
            }
            let mut ended = ended.map_err(|error| Failure::from_exec(VERB, &error))?;
            ended.stdout = stdout;
            let (out, err) = (Framed::read(&ended.stdout, &marker), Framed::read(&ended.stderr, &marker));
            match (out.end, err.end) {
                (Some(code), Some(_)) => {
                    let text = String::from_utf8_lossy(err.body);
                    Ok(Said { code, stdout: out.bytes(), stderr: text.into_owned() })
                }
                _ => Err(self.unfinished(VERB, &ended, &out, &err)),
            }
        })
    }

    /// The same for a script that only asks: where the connection is lost it is asked again.
    ///
    /// # Errors
    /// As of [`Provider::exec`].
    pub(crate) fn exec_asking(
        &self,
        id: &BoxId,
        script: &str,
        args: &[&str],
        limit: Duration,
    ) -> Result<Said> {
        self.again_after(VERB, &RETRIES, || self.exec(id, script, args, limit))
    }

    /// The failure of a script whose end did not come: the CLI's own words before our guess. An error frame of a stream
    /// is text on stdout with exit code 0 (docs/measured/createos-cli.md 3.4).
    fn unfinished(&self, verb: &str, ended: &Ended, out: &Framed<'_>, err: &Framed<'_>) -> Failure {
        let text = |framed: &Framed<'_>| String::from_utf8_lossy(framed.body).into_owned();
        let (mut printed, mut told) = (text(out), text(err));
        let badge = match (words::badge(&printed), words::badge(&told)) {
            (Some(at), _) => Some(printed.split_off(at)),
            (None, Some(at)) => Some(told.split_off(at)),
            (None, None) => None,
        };
        let mut failure = match badge {
            Some(words) if ended.success() => Failure::from_words(verb, &words),
            _ if !out.began && !ended.success() => return self.failed(verb, ended),
            Some(words) => Failure::from_words(verb, &words),
            None if !out.began && !printed.trim().is_empty() => {
                let printed: String = printed.trim().chars().take(TOLD).collect();
                return Failure::other(verb, format!("the script was not run, the answer is: {printed}"));
            }
            None => Failure::cut(verb, "the connection to the box ended before the script did"),
        };
        if out.began {
            if out.encoded {
                printed = String::from_utf8_lossy(&base64::decode(printed.as_bytes())).into_owned();
            }
            let lines = printed.lines().chain(told.lines()).map(str::trim).filter(|line| !line.is_empty());
            let said = lines.collect::<Vec<_>>().join("; ");
            if let Some((first, _)) = said.char_indices().rev().take(TOLD).last() {
                failure.words = format!("{}; so far it had said: {}", failure.words, &said[first..]);
            }
        }
        failure
    }
}

/// `bash -lc SCRIPT createos-sandbox ARGS…` in the box, behind everything that is the CLI's own.
pub(super) fn command<'a>(run: Run<'a>, id: &BoxId, script: &str, args: &[&str]) -> Run<'a> {
    let script = if args.is_empty() { script.to_owned() } else { format!("{UNGUARD}{script}") };
    run.args([id.as_str(), "--", "bash", "-lc", &script, NAME]).args(args.iter().map(|arg| format!("={arg}")))
}

/// One stream of a script between its markers.
#[derive(Debug)]
struct Framed<'a> {
    /// The first marker came: the script was started.
    began: bool,
    /// It is base64.
    encoded: bool,
    /// What stands behind the first marker, up to the second one.
    body: &'a [u8],
    /// The exit code, from the second marker.
    end: Option<i32>,
}

impl<'a> Framed<'a> {
    fn read(stream: &'a [u8], marker: &str) -> Self {
        let Some((line, behind)) = behind(stream, &format!("{marker}<")) else {
            return Self { began: false, encoded: false, body: stream, end: None };
        };
        let (encoded, last) = (line == b"base64", format!("\n{marker}>"));
        let end = memmem::find(behind, last.as_bytes()).and_then(|at| {
            let (code, _) = self::behind(&behind[at..], &last)?;
            Some((&behind[..at], std::str::from_utf8(code).ok()?.trim_end().parse().ok()?))
        });
        match end {
            Some((body, code)) => Self { began: true, encoded, body, end: Some(code) },
            None => Self { began: true, encoded, body: behind, end: None },
        }
    }

    /// What the script wrote; of an unfinished one nothing that its end would have made whole.
    fn bytes(&self) -> Vec<u8> {
        if self.encoded { base64::decode(self.body) } else { self.body.to_vec() }
    }
}

/// The rest of the line that `mark` begins, and what stands behind that line.
fn behind<'a>(stream: &'a [u8], mark: &str) -> Option<(&'a [u8], &'a [u8])> {
    let rest = &stream[memmem::find(stream, mark.as_bytes())? + mark.len()..];
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some((&rest[..end], &rest[end + 1..]))
}
