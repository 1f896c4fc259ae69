//! The program that speaks the provider command line, and how it is called.

use super::{BoxId, Failure, Refusal, Result, json, words};
use crate::command::Command;
use crate::config::ProviderKind;
use crate::exec::{Ended, Run};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a call may take that only asks.
pub(super) const ASK: Duration = Duration::from_secs(60);
/// How long a box that was resumed may take to run.
const UP: Duration = Duration::from_secs(60);

/// A provider: a program and the words before `sandbox`.
#[derive(Debug, Clone)]
#[must_use]
pub(crate) struct Provider {
    kind: ProviderKind,
    program: PathBuf,
    env: Vec<(OsString, OsString)>,
    stop: Option<Arc<AtomicBool>>,
}

impl Provider {
    /// The official CLI at this path.
    pub(crate) fn createos(program: impl Into<PathBuf>) -> Self {
        Self { kind: ProviderKind::Createos, program: program.into(), env: Vec::new(), stop: None }
    }

    /// Our own provider in this binary.
    pub(crate) fn local(own_binary: impl Into<PathBuf>) -> Self {
        Self { kind: ProviderKind::Local, program: own_binary.into(), env: Vec::new(), stop: None }
    }

    /// The same provider whose calls end early, as [`Refusal::Interrupted`], once the flag is raised.
    pub(crate) fn stop_when(mut self, raised: Arc<AtomicBool>) -> Self {
        self.stop = Some(raised);
        self
    }

    /// The same provider with a variable set for every call.
    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub(crate) fn kind(&self) -> ProviderKind {
        self.kind
    }

    /// `PROGRAM [local] sandbox …` on our own terminal, for a call that a person watches: in its own colours, and
    /// without a time limit.
    pub(crate) fn watched<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, words: I) -> Run<'static> {
        self.refreshed();
        self.quiet().args(self.leading()).arg("sandbox").args(words).interactive()
    }

    /// The command line that a person would type, for messages.
    pub(crate) fn shown(&self, words: &[&str]) -> Command {
        self.kind.command(words)
    }

    fn leading(&self) -> impl Iterator<Item = &'static str> {
        (self.kind == ProviderKind::Local).then_some("local").into_iter()
    }

    /// Every call that no person watches has a time limit: none can be built without one.
    fn base<'a>(&self, limit: Duration) -> Run<'a> {
        let run = self.quiet().limit(limit).env("NO_COLOR", "1");
        match &self.stop {
            Some(raised) => run.stop_when(Arc::clone(raised)),
            None => run,
        }
    }

    /// Neutral folder, since the CLI loads a `.env` from its own (docs/measured/createos-cli.md 3.13), and a quiet
    /// environment.
    fn quiet<'a>(&self) -> Run<'a> {
        let run = Run::new(&self.program);
        let run = self.env.iter().fold(run, |run, (name, value)| run.env(name, value));
        run.cwd("/")
            .env("CREATEOS_DO_NOT_TRACK", "1")
            .env_remove("CREATEOS_OUTPUT")
            .env_remove("CREATEOS_DEBUG")
            // Herdr takes what carries it for an agent (docs/measured/herdr.md 13); it may be inherited.
            .env_remove("HERDR_AGENT")
    }

    /// `PROGRAM [local] sandbox`, to which flags and then positionals are added (docs/measured/createos-cli.md 3.12).
    pub(super) fn sandbox<'a>(&self, limit: Duration) -> Run<'a> {
        self.refreshed();
        self.base(limit).args(self.leading()).arg("sandbox")
    }

    /// The same with `-o json`, which stands right after the program: older builds want it there.
    pub(super) fn json<'a>(&self, limit: Duration) -> Run<'a> {
        self.refreshed();
        self.json_as_it_is(limit)
    }

    /// The same without a look at the session.
    pub(super) fn json_as_it_is<'a>(&self, limit: Duration) -> Run<'a> {
        self.base(limit).args(self.leading()).args(["-o", "json", "sandbox"])
    }

    /// Runs to the end; an exit code other than 0 is a failure with the provider's words.
    pub(super) fn finish(&self, verb: &str, run: Run<'_>) -> Result<Ended> {
        let ended = run.run().map_err(|error| Failure::from_exec(verb, &error))?;
        if ended.success() { Ok(ended) } else { Err(self.failed(verb, &ended)) }
    }

    /// Runs to the end and reads one document. Exit code 0 proves nothing (docs/measured/createos-cli.md 3.11): the
    /// shape does.
    pub(super) fn document(&self, verb: &str, run: Run<'_>) -> Result<Value> {
        let ended = self.finish(verb, run)?;
        match json::first_document(&ended.stdout_text()) {
            Some(value) if value.get("error").is_some_and(Value::is_object) => Err(self.failed(verb, &ended)),
            Some(value) => Ok(value),
            None => {
                let printed: String = ended.stdout_text().trim().chars().take(200).collect();
                Err(Failure::other(verb, format!("the answer is not JSON: {printed}")))
            }
        }
    }

    /// The failure of a call that ended with an error. Words that name nothing, from a CLI that has nothing to sign in
    /// with, are those of an older printer for exactly that (docs/measured/createos-cli.md 3.11).
    pub(super) fn failed(&self, verb: &str, ended: &Ended) -> Failure {
        let failure = Failure::from_ended(verb, ended);
        let unnamed = failure.refusal == Refusal::Other && words::are_generic(&failure.words);
        if self.kind.has().account && unnamed && !self.has_credentials() {
            return Failure { refusal: Refusal::SignedOut, ..failure };
        }
        failure
    }

    /// Does `act`; a box that has paused by itself is resumed for it, and one on its way is waited for. What was refused
    /// so has not begun.
    pub(super) fn awake<T>(&self, id: &BoxId, mut act: impl FnMut() -> Result<T>) -> Result<T> {
        match act() {
            Err(Failure { refusal: Refusal::Paused, .. }) => self.resume(id)?,
            Err(Failure { refusal: Refusal::NotYetUp, .. }) => {}
            done => return done,
        }
        self.wait_running(id, UP)?;
        act()
    }

    /// Does `act`, and again after each of these pauses while it may succeed soon.
    pub(super) fn again_after<T>(
        &self,
        verb: &str,
        pauses: &[Duration],
        act: impl Fn() -> Result<T>,
    ) -> Result<T> {
        for pause in pauses {
            match act() {
                Err(failure) if failure.may_pass() => self.rest(verb, *pause)?,
                done => return done,
            }
        }
        act()
    }

    /// Waits so long.
    ///
    /// # Errors
    /// The caller raised its stop flag.
    pub(super) fn rest(&self, verb: &str, limit: Duration) -> Result<()> {
        const LOOK: Duration = Duration::from_millis(50);
        let began = Instant::now();
        loop {
            if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                let words = "it was interrupted".into();
                return Err(Failure { refusal: Refusal::Interrupted, verb: verb.into(), words });
            }
            match limit.checked_sub(began.elapsed()) {
                Some(left) if !left.is_zero() => std::thread::sleep(left.min(LOOK)),
                _ => return Ok(()),
            }
        }
    }

    /// Whether calls end early now.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The flag whose raising ends calls early.
    pub(super) fn stopped(&self) -> Option<Arc<AtomicBool>> {
        self.stop.clone()
    }

    /// A variable as the provider's calls have it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let own = self.env.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        own.or_else(|| std::env::var_os(name)).filter(|value| !value.is_empty())
    }
}
