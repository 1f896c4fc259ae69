//! Why a provider call failed, with the provider's own words.

use super::Refusal;
use super::words;
use crate::command;
use crate::error::Error;
use crate::exec::{Ended, ExecError};
use std::fmt;

/// `Result` of a provider call.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A provider call that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) refusal: Refusal,
    /// The call, as in `sandbox create`.
    pub(crate) verb: String,
    /// The provider's own words, raw: made visible when shown.
    pub(crate) words: String,
}

impl Failure {
    /// A failure in our own reading of an answer.
    pub(crate) fn other(verb: &str, words: impl Into<String>) -> Self {
        Self { refusal: Refusal::Other, verb: verb.into(), words: words.into() }
    }

    /// The connection to the box ended in the middle.
    pub(super) fn cut(verb: &str, words: impl Into<String>) -> Self {
        Self { refusal: Refusal::Cut, verb: verb.into(), words: words.into() }
    }

    /// From words that the provider printed where its answer should stand.
    pub(super) fn from_words(verb: &str, text: &str) -> Self {
        let words = words::plain(text);
        Self { refusal: words.refusal(), verb: verb.into(), words: words.shown() }
    }

    /// From a program that ended with an error.
    pub(super) fn from_ended(verb: &str, ended: &Ended) -> Self {
        let words = words::read(&ended.stdout_text(), &ended.stderr_text());
        let shown = match words.shown() {
            none if none.is_empty() => format!("exit code {}, without a word", ended.code()),
            shown => shown,
        };
        Self { refusal: words.refusal(), verb: verb.into(), words: shown }
    }

    /// Whether what the call asked for may have happened all the same, because the service did not clearly refuse it.
    pub(crate) fn may_have_happened(&self) -> bool {
        // A new box may be unknown for a moment to a service that has just made it (docs/measured/createos-cli.md 3.11):
        // "not found" is no clear no.
        !matches!(
            self.refusal,
            Refusal::SignedOut
                | Refusal::NameTaken
                | Refusal::Cap
                | Refusal::DailyCap
                | Refusal::Shape
                | Refusal::Credit
                | Refusal::Rate
                | Refusal::LifecycleBroken
                | Refusal::Paused
                | Refusal::NotYetUp
                | Refusal::NotStarted
                | Refusal::Rejected
        )
    }

    /// Whether the same call may succeed soon: it was not refused, the connection or the service failed.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self.refusal,
            Refusal::Cut
                | Refusal::TimedOut
                | Refusal::NotFound
                | Refusal::Rate
                | Refusal::NotStarted
                | Refusal::NotYetUp
                | Refusal::Other
        )
    }

    /// From a program that could not run to its end.
    pub(crate) fn from_exec(verb: &str, error: &ExecError) -> Self {
        let refusal = match error {
            ExecError::Start { .. } => Refusal::NotStarted,
            ExecError::TimedOut { .. } => Refusal::TimedOut,
            ExecError::Interrupted { .. } => Refusal::Interrupted,
            ExecError::Pipe { .. } => Refusal::Other,
        };
        Self { refusal, verb: verb.into(), words: error.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.verb, self.words)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let error = Self::failed(failure.to_string());
        match failure.refusal {
            Refusal::SignedOut => error.help(format!("sign in with: {}", command::createos(["login"]))),
            Refusal::NotStarted => {
                error.help(format!("check the setup with: {}", command::setup().flag("--doctor")))
            }
            Refusal::Credit => error.help("the account has no credit left: top it up, then try again"),
            Refusal::Rate => error.help("wait a minute, then try again"),
            Refusal::Cap => {
                let boxes = command::action("boxes");
                error.help(format!("paused boxes count too, only deleting one makes room: {boxes}"))
            }
            Refusal::DailyCap => error.help("the account's daily number is used up: try again tomorrow"),
            Refusal::Shape => {
                let shapes = command::createos(["sandbox", "shapes"]);
                error.help(format!("pick a shape of your plan: {shapes}"))
            }
            Refusal::NoBash => {
                let setup = command::setup().with("--rootfs", "NAME").flag("--force");
                error.help(format!("use an image that has bash, git, tar and curl: {setup}"))
            }
            Refusal::LifecycleBroken => {
                let upgrade = command::createos(["upgrade"]);
                error
                    .help(format!("this createos cannot pause or resume a box; upgrade it with: {upgrade}"))
                    .help("or rely on autoPause in config.json, which the service does by itself")
            }
            Refusal::Paused => error.help(format!("bring the box back with: {}", command::action("attach"))),
            Refusal::NotYetUp => error.help("the box is on its way: try again in a moment"),
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_no_proves_that_nothing_happened() {
        let failure = |code: &str, words: &str| Failure {
            refusal: words::classify(code, words, false),
            verb: "sandbox create".into(),
            words: words.into(),
        };
        for (code, words, may) in [
            ("forbidden", "sandbox limit reached (2)", false),
            ("bad_request", "egress: is malformed", false),
            ("unauthorized", "bad key", false),
            ("server_error", "the time limit of the name service was reached", true),
            ("not_found", "no sandbox matching \"hd-x\"", true),
            ("error", "read tcp: connection reset by peer", true),
            ("", "unexpected EOF", true),
            ("error", "Post \"https://limits.example/v1/sandboxes?name=taken\": EOF", true),
        ] {
            assert_eq!(failure(code, words).may_have_happened(), may, "{words}");
        }
        let timed_out = Failure { refusal: Refusal::TimedOut, ..failure("", "") };
        assert!(timed_out.may_have_happened());
    }
}
