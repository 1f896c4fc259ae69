//! Work in a box that may take minutes: a process of its own there, which a lost connection does not end. It is asked
//! again and again how far it is; its output is in a file there and read piece by piece.

use super::exec::{NAME, RETRIES, UNGUARD};
use super::process::ProcessView;
use super::provider::ASK;
use super::{BoxId, Failure, ProcessId, Provider, Refusal, Result};
use crate::exec::{Heard, Hearing};
use std::time::{Duration, Instant};

/// Runs the script `$2` with what follows; the folder `$1` gets its output as `log` and at last its exit code as
/// `code`. There is one run for a folder: a start whose answer was lost may be repeated.
const RUN: &str = r#"d=$1 s=$2; shift 2
mkdir -m 700 "$d" 2>/dev/null || { [ -d "$d" ] && exit 75; exit 76; }
bash -c "$s" createos-sandbox "$@" </dev/null >"$d/log" 2>&1
printf '%d' "$?" >"$d/code.new" && mv "$d/code.new" "$d/code""#;
/// The run of this folder was started before.
const STARTED_BEFORE: i64 = 75;
/// The folder cannot be made.
const NO_FOLDER: i64 = 76;

/// Prints the exit code of the run in the folder `$1`, or `running`, then where the output that follows begins: at
/// `$2`, or later when there is too much output to read.
const LOOK: &str = r#"d=$1 at=$2; code=running
[ -f "$d/code" ] && code=$(cat "$d/code")
size=$(wc -c <"$d/log") 2>/dev/null || size=0
[ "$((size - at))" -le 4000000 ] || at=$((size - 65536))
printf '%s %d\n' "$code" "$at"
tail -c "+$((at + 1))" "$d/log" 2>/dev/null | head -c 1000000"#;
/// A piece of output of this size is followed by another.
const PIECE: usize = 1_000_000;

/// The pauses between two looks at the process grow from here …
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// … to here.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How old the output that is known may get.
const STALE: Duration = Duration::from_secs(1);
/// The pause after a call that failed; each one after it is twice as long.
const FIRST_RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(15);
/// After so long without an answer the connection is given up.
const GIVE_UP: Duration = Duration::from_secs(180);

impl Provider {
    /// Runs `bash -c SCRIPT createos-sandbox ARGS…` in the box as a process of its own and waits for its end. `heard`
    /// gets its stdout and stderr, mixed, as they come; its exit code is the result.
    ///
    /// # Errors
    /// The box or the provider could not run it, it was killed there, it takes longer than `limit`, or the connection is
    /// lost for minutes.
    pub(crate) fn run_long(
        &self,
        id: &BoxId,
        script: &str,
        args: &[&str],
        limit: Duration,
        heard: Hearing<'_>,
    ) -> Result<i32> {
        let folder = format!("/tmp/createos-sandbox-job-{}", crate::random::hex(16));
        let mut words = vec![folder.as_str(), script];
        words.extend_from_slice(args);
        let process = self.start_job(id, &words)?;
        let mut job = Job { provider: self, id, folder: &folder, process: Some(process), at: 0 };
        let (began, mut looked, mut pause) = (Instant::now(), Instant::now(), FIRST_PAUSE);
        let mut lost = Lost::default();
        loop {
            self.rest(VERB, pause)?;
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
            match job.step(looked.elapsed() >= STALE, heard) {
                Ok(Step::Ended(code)) => return Ok(code),
                Ok(step) => {
                    lost = Lost::default();
                    if step == Step::Looked {
                        looked = Instant::now();
                    }
                }
                Err(failure) => pause = lost.retry(failure, heard)?,
            }
            if began.elapsed() > limit {
                let words = format!("it has not ended in the box within {} s", limit.as_secs());
                return Err(Failure { refusal: Refusal::TimedOut, verb: VERB.into(), words });
            }
        }
    }

    /// Starts it. A start that may have happened is repeated: the second one of two does nothing.
    fn start_job(&self, id: &BoxId, words: &[&str]) -> Result<ProcessId> {
        self.again_after(VERB, &RETRIES[..2], || self.start_job_once(id, words))
    }

    fn start_job_once(&self, id: &BoxId, words: &[&str]) -> Result<ProcessId> {
        self.awake(id, || {
            let script = format!("{UNGUARD}{RUN}");
            let run =
                self.json(ASK).args(["process", "start", "--cwd", "/", id.as_str(), "--", "bash", "-lc"]);
            let run = run.args([&script, NAME]).args(words.iter().map(|word| format!("={word}")));
            Ok(ProcessView::parse(VERB, &self.document(VERB, run)?)?.id)
        })
    }
}

const VERB: &str = "sandbox process start";

/// A run in a box.
struct Job<'a> {
    provider: &'a Provider,
    id: &'a BoxId,
    folder: &'a str,
    /// The process; `None` when an earlier start has it, whose answer was lost.
    process: Option<ProcessId>,
    /// So much of its output is known.
    at: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Running,
    /// It runs, and all of its output is known.
    Looked,
    Ended(i32),
}

impl Job<'_> {
    /// Asks whether it runs, and for new output when it has ended or `look` says so.
    fn step(&mut self, look: bool, heard: Hearing<'_>) -> Result<Step> {
        let view = match &self.process {
            Some(process) => Some(self.provider.process_get(self.id, process)?),
            None => None,
        };
        let ended = view.as_ref().is_some_and(|view| !view.running);
        if !look && !ended {
            return Ok(Step::Running);
        }
        loop {
            let (code, count) = self.look(heard)?;
            match code {
                _ if count >= PIECE => {}
                Some(code) => return Ok(Step::Ended(code)),
                None => break,
            }
        }
        match view.filter(|_| ended) {
            None => Ok(Step::Looked),
            Some(view) if view.exit_code == Some(STARTED_BEFORE) => {
                self.process = None;
                Ok(Step::Looked)
            }
            Some(view) if view.exit_code == Some(NO_FOLDER) => Err(Failure {
                refusal: Refusal::Rejected,
                ..Failure::other(VERB, "/tmp in the box cannot be written")
            }),
            Some(view) => {
                let how = match (view.signal, view.exit_code) {
                    (Some(signal), _) => format!("by {signal}"),
                    (None, Some(code)) => format!("with exit code {code}"),
                    (None, None) => "without a word".into(),
                };
                let words = format!("it was ended in the box {how} before it was done");
                Err(Failure { refusal: Refusal::Rejected, ..Failure::other(VERB, words) })
            }
        }
    }

    /// Reads on in the output; the exit code, and how many bytes there were.
    fn look(&mut self, heard: Hearing<'_>) -> Result<(Option<i32>, usize)> {
        let said = self.provider.exec(self.id, LOOK, &[self.folder, &self.at.to_string()], ASK)?;
        let unreadable = || Failure::other(VERB, "how far it is cannot be read");
        let end = said.stdout.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
        let (line, output) = (String::from_utf8_lossy(&said.stdout[..end]), &said.stdout[end + 1..]);
        let (code, at) = line.split_once(' ').ok_or_else(unreadable)?;
        let at: u64 = at.trim().parse().map_err(|_| unreadable())?;
        let code = match code {
            "running" => None,
            code => Some(code.parse().map_err(|_| unreadable())?),
        };
        if !output.is_empty() {
            heard(Heard::Output(output));
        }
        self.at = at + output.len() as u64;
        Ok((code, output.len()))
    }
}

/// Calls that failed in a row.
#[derive(Default)]
struct Lost {
    since: Option<Instant>,
    pause: Option<Duration>,
}

impl Lost {
    /// How long to wait before the next call.
    ///
    /// # Errors
    /// The next one would not do better, or there was no answer for too long.
    fn retry(&mut self, failure: Failure, heard: Hearing<'_>) -> Result<Duration> {
        if !failure.may_pass() {
            return Err(failure);
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() > GIVE_UP {
            let words = format!("no answer of the box for {} s: {}", GIVE_UP.as_secs(), failure.words);
            return Err(Failure { words, ..failure });
        }
        heard(Heard::Lost);
        let pause = self.pause.map_or(FIRST_RETRY, |pause| (pause * 2).min(LONGEST_RETRY));
        self.pause = Some(pause);
        Ok(pause)
    }
}
