//! The program that speaks the provider command line, and how it is called.

use super::json;
use super::{Failure, Refusal};
use crate::command::{self, Command};
use crate::exec::{Ended, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a call may take that only asks.
pub(super) const ASK: Duration = Duration::from_secs(60);

/// Which provider it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProviderKind {
    /// The official `createos` program.
    Createos,
    /// Our own `createos-sandbox local`: boxes on this machine.
    Local,
}

impl ProviderKind {
    /// `createos sandbox …` or what stands for it, to be typed.
    pub(crate) fn command(self, words: &[&str]) -> Command {
        let lead = match self {
            Self::Createos => command::createos(["sandbox"]),
            Self::Local => command::own(["local", "sandbox"]),
        };
        words.iter().fold(lead, |command, word| command.word(*word))
    }

    /// The word in settings and records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Createos => "createos",
            Self::Local => "local",
        }
    }
}

/// A provider: a program and the words before `sandbox`.
#[derive(Debug, Clone)]
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
    #[must_use]
    pub(crate) fn stop_when(mut self, raised: Arc<AtomicBool>) -> Self {
        self.stop = Some(raised);
        self
    }

    /// The same provider with a variable set for every call.
    #[must_use]
    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Which one it is.
    pub(crate) fn kind(&self) -> ProviderKind {
        self.kind
    }

    /// The version that it prints: the first `X.Y.Z…` of `--version`; no sign-in, no network.
    ///
    /// # Errors
    /// It cannot be run, or prints no version.
    pub(crate) fn version(&self) -> Result<String, Failure> {
        let run = self.base(Duration::from_secs(15)).arg("--version");
        let ended = run.run().map_err(|error| Failure::from_exec("--version", &error))?;
        if !ended.success() {
            return Err(Failure::from_ended("--version", &ended));
        }
        let text = ended.stdout_text();
        let word = text
            .split_whitespace()
            .map(|word| word.strip_prefix('v').unwrap_or(word))
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.matches('.').count() >= 2)
            .or_else(|| text.split_whitespace().find(|word| matches!(*word, "dev" | "nightly")));
        word.map(str::to_owned)
            .ok_or_else(|| Failure::other("--version", format!("it printed no version: {}", text.trim())))
    }

    /// `PROGRAM [local] sandbox …` on our own terminal, for a call that a person watches: in its own colours, and
    /// without a time limit.
    pub(crate) fn watched<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, words: I) -> Run<'static> {
        self.quiet().args(self.leading()).arg("sandbox").args(words).interactive()
    }

    /// The command line that a person would type, for messages.
    pub(crate) fn shown(&self, words: &[&str]) -> Command {
        self.kind.command(words)
    }

    fn leading(&self) -> impl Iterator<Item = &'static str> {
        (self.kind == ProviderKind::Local).then_some("local").into_iter()
    }

    /// Every call that nobody watches has its time limit, and none can be built without.
    fn base<'a>(&self, limit: Duration) -> Run<'a> {
        let run = self.quiet().limit(limit).env("NO_COLOR", "1");
        match &self.stop {
            Some(raised) => run.stop_when(Arc::clone(raised)),
            None => run,
        }
    }

    /// Neutral folder, since the CLI loads a `.env` from its own (quirk Q14), and a quiet environment.
    fn quiet<'a>(&self) -> Run<'a> {
        let run = Run::new(&self.program);
        let run = self.env.iter().fold(run, |run, (name, value)| run.env(name, value));
        run.cwd("/")
            .env("CREATEOS_DO_NOT_TRACK", "1")
            .env_remove("CREATEOS_OUTPUT")
            .env_remove("CREATEOS_DEBUG")
            // Herdr takes what carries it for an agent (contract `herdr.md` 13); it may be inherited.
            .env_remove("HERDR_AGENT")
    }

    /// `PROGRAM [local] sandbox`, to which flags and then positionals are added (quirk Q2).
    pub(super) fn sandbox<'a>(&self, limit: Duration) -> Run<'a> {
        self.base(limit).args(self.leading()).arg("sandbox")
    }

    /// The same with `-o json`, which stands right after the program: older builds want it there.
    pub(super) fn json<'a>(&self, limit: Duration) -> Run<'a> {
        self.base(limit).args(self.leading()).args(["-o", "json", "sandbox"])
    }

    /// Runs to the end; an exit code other than 0 is a failure with the provider's words.
    pub(super) fn finish(verb: &str, run: Run<'_>) -> Result<Ended, Failure> {
        let ended = run.run().map_err(|error| Failure::from_exec(verb, &error))?;
        if ended.success() { Ok(ended) } else { Err(Failure::from_ended(verb, &ended)) }
    }

    /// Runs to the end and reads one document. Exit code 0 proves nothing (quirk Q15): the shape does.
    pub(super) fn document(verb: &str, run: Run<'_>) -> Result<Value, Failure> {
        let ended = Self::finish(verb, run)?;
        match json::first_document(&ended.stdout_text()) {
            Some(value) if value.get("error").is_some_and(Value::is_object) => {
                Err(Failure::from_ended(verb, &ended))
            }
            Some(value) => Ok(value),
            None => Err(Failure {
                refusal: Refusal::Other,
                verb: verb.into(),
                words: format!(
                    "the answer is not JSON: {}",
                    ended.stdout_text().trim().chars().take(200).collect::<String>()
                ),
            }),
        }
    }
}
