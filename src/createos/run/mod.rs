//! A command of a person's in a box: started as a process of its own there, which a lost connection does not end, and
//! followed by streams that are opened again where the last one was cut. All output arrives, in order, once.

mod frames;

use super::exec::{NAME, RETRIES, UNGUARD, command};
use super::process::ProcessView;
use super::provider::ASK;
use super::{BoxId, Failure, ProcessId, Provider, Refusal, Result, Status};
use crate::error::Error;
use frames::{Frames, Last};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const START: &str = include_str!("start.sh");
const FOLLOW: &str = include_str!("follow.sh");

/// A longer command travels as a file, in bytes: one word of an argv has an end.
const INLINE: usize = 100_000;
/// A follower that says nothing for so long is gone: four of its heartbeats.
const SILENCE: Duration = Duration::from_secs(20);
/// After so long without output somebody is told.
const QUIET: Duration = Duration::from_secs(60);
/// A stream is opened anew after this time at the latest.
const STREAM: Duration = Duration::from_secs(24 * 60 * 60);
/// The pause before a stream is opened again, where the last one brought nothing; each one after it is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// After so long without contact the box is given up.
const GIVE_UP: Duration = Duration::from_secs(600);
/// How long a box that was resumed may take to run.
const UP: Duration = Duration::from_secs(60);
/// What a command has after TERM, as the provider reads it.
const GRACE: &str = "1s";
const VERB: &str = "running the command";

/// The run of this folder was started before.
const STARTED_BEFORE: i64 = 75;
/// The folder cannot be made.
const NO_FOLDER: i64 = 76;

/// A command that runs in a box, or has.
#[derive(Debug, Clone)]
pub(crate) struct BoxRun {
    folder: String,
    /// The process that has it; `None` when the answer to its start was lost.
    pub(crate) process: Option<ProcessId>,
}

/// What is heard of a run while it goes on.
#[derive(Debug)]
pub(crate) enum RunNews<'a> {
    /// It has printed this.
    Output(&'a [u8]),
    /// It has printed nothing for a minute.
    Quiet,
    /// The connection is lost. It goes on in the box, and is asked for again.
    Lost(&'a Failure),
}

/// Why a run was not followed to its end.
#[derive(Debug)]
pub(crate) enum Unfollowed {
    /// The box or its provider.
    Failure(Failure),
    /// What it printed could not be passed on.
    Output(io::Error),
}

impl From<Failure> for Unfollowed {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Unfollowed> for Error {
    fn from(why: Unfollowed) -> Self {
        match why {
            Unfollowed::Failure(failure) => failure.into(),
            Unfollowed::Output(source) => Self::failed(format!("could not write to stdout: {source}")),
        }
    }
}

impl Provider {
    /// Starts a command in a folder of the box, as a shell reads it. A start that may have happened is repeated: the
    /// second one of two does nothing. A paused box is not resumed for it.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn start_run(&self, id: &BoxId, folder: &str, line: &OsStr) -> Result<BoxRun> {
        let own = format!("/tmp/.cos/{}", crate::random::hex(16));
        let mut words = vec![own.as_str(), folder];
        match line.to_str().filter(|text| text.len() <= INLINE) {
            Some(text) => words.push(text),
            None => self.push(id, &mut line.as_bytes(), &format!("{own}.cmd"))?,
        }
        let view = self.again_after("sandbox process start", &RETRIES[..2], || {
            let script = format!("{UNGUARD}{START}");
            let run =
                self.json(ASK).args(["process", "start", "--cwd", "/", id.as_str(), "--", "bash", "-lc"]);
            let run = run.args([&script, NAME]).args(words.iter().map(|word| format!("={word}")));
            ProcessView::parse("sandbox process start", &self.document("sandbox process start", run)?)
        })?;
        Ok(BoxRun { folder: own, process: Some(view.id) })
    }

    /// Follows a run to its end and gives its exit code, as a shell has it. A box that is found paused is resumed.
    ///
    /// # Errors
    /// It was ended in the box before it was done, the box is gone, there was no contact for ten minutes, or `news`
    /// could not take what it printed. Then the run may go on.
    pub(crate) fn follow(
        &self,
        id: &BoxId,
        run: &mut BoxRun,
        news: &mut (dyn FnMut(RunNews<'_>) -> io::Result<()> + Send),
    ) -> Result<u8, Unfollowed> {
        let (mut at, mut contact, mut pause) = (0, Instant::now(), FIRST_PAUSE);
        // Its process has ended: what the next look does not find is not there.
        let mut ended: Option<Failure> = None;
        loop {
            let quiet = if ended.is_some() { Duration::ZERO } else { QUIET };
            let (from, began) = (at, Instant::now());
            let seen = self.follow_once(id, run, &mut at, quiet, news)?;
            if seen.contact {
                contact = Instant::now();
            }
            if at > from || (seen.contact && began.elapsed() > SILENCE) {
                pause = FIRST_PAUSE;
            }
            let failure = match seen.last {
                Ok(Last::Code(code)) => return Ok(code),
                Ok(Last::Lacks(program)) => {
                    return Err(rejected(format!("the box has no {program}")).into());
                }
                Ok(Last::Quiet | Last::Gone) if ended.is_some() => {
                    return Err(ended.take().expect("it was just looked at").into());
                }
                Ok(last) => {
                    if last == Last::Quiet {
                        news(RunNews::Quiet).map_err(Unfollowed::Output)?;
                    }
                    match self.how_it_ended(id, run) {
                        Ok(None) if last == Last::Quiet => continue,
                        Ok(None) => Failure::other(VERB, "the command is not known in the box"),
                        Ok(Some(how)) => {
                            ended = Some(how);
                            continue;
                        }
                        Err(failure) => failure,
                    }
                }
                Err(failure) => failure,
            };
            match failure.refusal {
                Refusal::Interrupted => return Err(failure.into()),
                Refusal::Paused | Refusal::NotYetUp => {
                    if failure.refusal == Refusal::Paused {
                        self.resume(id)?;
                    }
                    self.wait_running(id, UP)?;
                    continue;
                }
                _ if !failure.may_pass() => return Err(failure.into()),
                Refusal::NotFound if self.get(id).is_ok_and(|view| view.status == Status::Destroyed) => {
                    return Err(rejected(format!("the box was deleted meanwhile: {}", failure.words)).into());
                }
                _ => {}
            }
            if contact.elapsed() > GIVE_UP {
                let minutes = GIVE_UP.as_secs() / 60;
                let words = format!("no contact with the box for {minutes} minutes: {}", failure.words);
                return Err(Failure { words, ..failure }.into());
            }
            // One stream that is cut and opened again is nobody's concern.
            if pause > FIRST_PAUSE {
                news(RunNews::Lost(&failure)).map_err(Unfollowed::Output)?;
            }
            self.rest(VERB, pause)?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Ends a run: its process group gets TERM, and KILL after a second.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn stop_run(&self, id: &BoxId, process: &ProcessId) -> Result<()> {
        const STOP: &str = "sandbox process stop";
        let run = self.json(ASK).args(["process", "stop", "--grace", GRACE, "--yes"]);
        self.finish(STOP, run.args([id.as_str(), process.as_str()])).map(drop)
    }

    /// How the process of a run has ended; `None` while it runs, or where that is not known.
    fn how_it_ended(&self, id: &BoxId, run: &mut BoxRun) -> Result<Option<Failure>> {
        let Some(process) = &run.process else { return Ok(None) };
        let view = self.process_get(id, process)?;
        if view.running {
            return Ok(None);
        }
        let how = match (view.signal, view.exit_code) {
            (_, Some(STARTED_BEFORE)) => {
                run.process = None;
                return Ok(None);
            }
            (_, Some(NO_FOLDER)) => return Err(rejected("/tmp in the box cannot be written")),
            (Some(signal), _) => format!("by {signal}"),
            (None, Some(code)) => format!("with exit code {code}"),
            (None, None) => "without a word".into(),
        };
        Ok(Some(rejected(format!("the command was ended in the box {how} before it was done"))))
    }

    /// One stream, from byte `at` of the output on, which it moves.
    fn follow_once(
        &self,
        id: &BoxId,
        run: &BoxRun,
        at: &mut u64,
        quiet: Duration,
        news: &mut (dyn FnMut(RunNews<'_>) -> io::Result<()> + Send),
    ) -> Result<Seen, Unfollowed> {
        let mark = format!("@{}", crate::random::hex(12));
        let mut frames = Frames::new(&mark, *at);
        let (mut out, mut broken) = (Vec::new(), None);
        let clock = Instant::now();
        let watch = Watch::default();
        let (from, quiet) = (at.to_string(), quiet.as_secs().to_string());
        let stop = self.stopped();
        let ended = std::thread::scope(|scope| {
            let watching = scope.spawn(|| watch.until_done(clock, stop.as_deref()));
            let call = self.clone().stop_when(Arc::clone(&watch.cut));
            let run = command(
                call.sandbox(STREAM).args(["exec", "--stream"]),
                id,
                FOLLOW,
                &[&mark, &run.folder, &from, &quiet],
            );
            let ended = run
                .stdout_to(|bytes| {
                    watch.heard.store(clock.elapsed().as_millis() as u64, Ordering::Relaxed);
                    out.clear();
                    frames.feed(bytes, &mut out);
                    let passed = if out.is_empty() { Ok(()) } else { news(RunNews::Output(&out)) };
                    passed.map_err(|source| {
                        let kind = source.kind();
                        broken = Some(source);
                        kind.into()
                    })
                })
                .run();
            watch.done.store(true, Ordering::Relaxed);
            watching.thread().unpark();
            ended
        });
        *at = frames.at;
        if let Some(source) = broken {
            return Err(Unfollowed::Output(source));
        }
        if let Some(last) = frames.last {
            return Ok(Seen { contact: last != Last::Gone, last: Ok(last) });
        }
        let cut = || Failure::cut(VERB, "the connection to the box ended before the command did");
        let failure = match ended {
            Err(error) if watch.silent.load(Ordering::Relaxed) => {
                let _it_was_us = error;
                Failure::cut(VERB, "the box does not answer")
            }
            Err(error) => Failure::from_exec(VERB, &error),
            Ok(mut ended) => {
                let words = frames.words();
                ended.stdout = words.clone().into_bytes();
                match super::words::badge(&words) {
                    // An error frame of a stream is text on stdout with exit code 0 (docs/measured/createos-cli.md 3.4).
                    Some(badge) if ended.success() => Failure::from_words(VERB, &words[badge..]),
                    _ if !ended.success() => self.failed(VERB, &ended),
                    _ => cut(),
                }
            }
        };
        // The follower has begun, so the box is there: what ended it is the way.
        let failure = match failure.refusal {
            Refusal::Other | Refusal::Rejected if frames.began => cut(),
            _ => failure,
        };
        Ok(Seen { contact: frames.began, last: Err(failure) })
    }
}

/// What one stream has brought.
struct Seen {
    contact: bool,
    last: Result<Last>,
}

/// Ends a stream that says nothing any more.
#[derive(Default)]
struct Watch {
    cut: Arc<AtomicBool>,
    silent: AtomicBool,
    done: AtomicBool,
    /// When something came last, in milliseconds of its clock.
    heard: AtomicU64,
}

impl Watch {
    const LOOK: Duration = Duration::from_millis(20);

    fn until_done(&self, clock: Instant, stop: Option<&AtomicBool>) {
        while !self.done.load(Ordering::Relaxed) {
            let heard = Duration::from_millis(self.heard.load(Ordering::Relaxed));
            let silent = clock.elapsed().saturating_sub(heard) > SILENCE;
            if silent || stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                self.silent.store(silent, Ordering::Relaxed);
                self.cut.store(true, Ordering::Relaxed);
                return;
            }
            std::thread::park_timeout(Self::LOOK);
        }
    }
}

fn rejected(words: impl Into<String>) -> Failure {
    Failure { refusal: Refusal::Rejected, ..Failure::other(VERB, words) }
}
