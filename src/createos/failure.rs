//! Why a provider call failed, with the provider's own words.

use super::json;
use crate::command;
use crate::error::Error;
use crate::exec::{Ended, ExecError};
use std::fmt;

/// What a failure means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Nobody is signed in, or the session has ended.
    SignedOut,
    /// The provider does not find it. Beyond 200 rows that is no proof (contract 3.1).
    NotFound,
    /// The sandbox's name is in use; a paused box keeps its name.
    NameTaken,
    /// Too many sandboxes at once; paused ones count.
    Cap,
    /// Too many sandboxes made today.
    DailyCap,
    /// The shape is not in the account's plan.
    Shape,
    /// No credit left.
    Credit,
    /// Too many requests.
    Rate,
    /// `pause` and `resume` of CLI 0.0.24 and older (quirk Q7).
    LifecycleBroken,
    /// The call took longer than its limit: what it asked for may have happened.
    TimedOut,
    /// The caller raised its stop flag: what the call asked for may have happened.
    Interrupted,
    /// The box's image has no bash, in which everything runs there.
    NoBash,
    /// The connection to the box ended in the middle: what was asked for may go on there.
    Cut,
    /// The program could not be started.
    NotStarted,
    /// The service understood the request and said no, for none of the reasons above.
    Rejected,
    /// Anything else.
    Other,
}

/// A provider call that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// What it means.
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
    pub(super) fn from_words(verb: &str, words: &str) -> Self {
        let words = plain(words);
        Self { refusal: classify("", &words), verb: verb.into(), words }
    }

    /// From a program that ended with an error: envelope, else stderr, else stdout (contract 1.5).
    pub(crate) fn from_ended(verb: &str, ended: &Ended) -> Self {
        let stdout = ended.stdout_text();
        let (code, words) = envelope(&stdout).unwrap_or_else(|| {
            let stderr = ended.stderr_text();
            let text = if stderr.is_empty() { stdout.trim().to_owned() } else { stderr };
            (String::new(), plain(&text))
        });
        let words =
            if words.is_empty() { format!("exit code {}, without a word", ended.code()) } else { words };
        Self { refusal: classify(&code, &words), verb: verb.into(), words }
    }

    /// Whether what the call asked for may have happened all the same: nobody clearly said no.
    pub(crate) fn may_have_happened(&self) -> bool {
        match self.refusal {
            Refusal::SignedOut
            | Refusal::NameTaken
            | Refusal::Cap
            | Refusal::DailyCap
            | Refusal::Shape
            | Refusal::Credit
            | Refusal::Rate
            | Refusal::LifecycleBroken
            | Refusal::NotStarted
            | Refusal::Rejected => false,
            // A new box may be unknown for a moment to a service that has just made it (contract 4.1).
            Refusal::NotFound
            | Refusal::NoBash
            | Refusal::Cut
            | Refusal::TimedOut
            | Refusal::Interrupted
            | Refusal::Other => true,
        }
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
            Refusal::Cap => error.help(format!(
                "paused sandboxes count too, only deleting one makes room: {}",
                command::action("boxes")
            )),
            Refusal::DailyCap => error.help("the account's daily number is used up: try again tomorrow"),
            Refusal::Shape => {
                error.help(format!("pick a shape of your plan: {}", command::createos(["sandbox", "shapes"])))
            }
            Refusal::NoBash => error.help(format!(
                "use an image that has bash, git, tar and curl: {}",
                command::setup().with("--rootfs", "NAME").flag("--force")
            )),
            Refusal::LifecycleBroken => error
                .help(format!(
                    "createos 0.0.24 and older cannot pause or resume: {}",
                    command::createos(["upgrade"])
                ))
                .help("or rely on autoPause in config.json"),
            Refusal::NotFound
            | Refusal::NameTaken
            | Refusal::Cut
            | Refusal::TimedOut
            | Refusal::Interrupted
            | Refusal::Rejected
            | Refusal::Other => error,
        }
    }
}

/// Code and message of `{"error":{…}}`, the JSON mode's error document.
fn envelope(stdout: &str) -> Option<(String, String)> {
    let document = json::first_document(stdout)?;
    let error = document.get("error")?;
    let words = json::text(error, "message").or_else(|| error.as_str())?;
    let hint = json::text(error, "hint").map(|hint| format!(" ({hint})")).unwrap_or_default();
    Some((json::text(error, "code").unwrap_or_default().to_owned(), format!("{}{hint}", words.trim())))
}

/// Where the CLI's own error begins in what a stream printed: at its badge. Both printers have one (contract 1.5).
pub(super) fn badge(text: &str) -> Option<usize> {
    let starts_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    text.rfind(" ERROR  ").or_else(|| text.rfind("ERROR: ").filter(starts_line))
}

/// The words without the badge that old and new builds put before them, blank lines dropped.
fn plain(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("; ");
    let text = text.strip_prefix("ERROR").map_or(text.as_str(), |rest| rest.trim_start_matches([':', ' ']));
    text.chars().take(2000).collect()
}

fn classify(code: &str, words: &str) -> Refusal {
    let lower = words.to_lowercase();
    let says = |text: &str| lower.contains(text);
    match code {
        "unauthorized" => return Refusal::SignedOut,
        "not_found" => return Refusal::NotFound,
        "rate_limited" => return Refusal::Rate,
        "server_error" => return Refusal::Other,
        _ => {}
    }
    // Before "not found": a program that the box lacks is no sandbox that is gone.
    if says("bash") && (says("executable file not found") || says("no such file")) {
        Refusal::NoBash
    } else if says("content-length is required") {
        Refusal::LifecycleBroken
    } else if says("not signed in") || says("session has expired") || says("session is not usable") {
        Refusal::SignedOut
    } else if says("post \"http") {
        // The connection failed: what else it says is an address, not an answer.
        Refusal::Other
    } else if says("not allowed") && says("choices:") {
        Refusal::Shape
    } else if says("no credit") || says("insufficient credit") || says("status 402") {
        Refusal::Credit
    } else if says("per day") || says("daily") {
        Refusal::DailyCap
    } else if says("rate limit") || says("too many requests") || says("status 429") {
        Refusal::Rate
    } else if says("name") && (code == "conflict" || says("taken") || says("already") || says("in use")) {
        Refusal::NameTaken
    } else if says("limit") || says("quota") || says("maximum") {
        Refusal::Cap
    } else if says("no sandbox named") || says("no sandbox matching") || says("not found") {
        Refusal::NotFound
    } else if matches!(code, "bad_request" | "forbidden" | "conflict") {
        Refusal::Rejected
    } else {
        Refusal::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_every_generation_are_understood() {
        for (code, words, refusal) in [
            ("", "you're not signed in — run 'createos login' to get started", Refusal::SignedOut),
            ("unauthorized", "bad key", Refusal::SignedOut),
            ("not_found", "no sandbox matching \"x\"", Refusal::NotFound),
            ("", "no sandbox named \"x\"", Refusal::NotFound),
            ("conflict", "a sandbox with this name exists", Refusal::NameTaken),
            ("bad_request", "shape is not allowed, choices: [s-1vcpu-1gb]", Refusal::Shape),
            ("api_error", "request failed with status 402", Refusal::Credit),
            ("rate_limited", "slow down", Refusal::Rate),
            ("forbidden", "sandbox limit reached (2)", Refusal::Cap),
            ("forbidden", "limit of 20 sandboxes per day reached", Refusal::DailyCap),
            ("", "Content-Length is required", Refusal::LifecycleBroken),
            ("error", "exec: \"bash\": executable file not found in $PATH", Refusal::NoBash),
            ("bad_request", "rootfs: is unknown", Refusal::Rejected),
            ("error", "disk on fire", Refusal::Other),
            ("server_error", "request failed with status 503", Refusal::Other),
        ] {
            assert_eq!(classify(code, words), refusal, "{words}");
        }
    }

    #[test]
    fn only_a_clear_no_proves_that_nothing_happened() {
        let failure = |code: &str, words: &str| Failure {
            refusal: classify(code, words),
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

    #[test]
    fn badges_and_blank_lines_are_not_words() {
        assert_eq!(plain(" ERROR  it broke\n\n  example: x\n"), "it broke; example: x");
        assert_eq!(plain("ERROR: it broke"), "it broke");
        assert_eq!(
            envelope("{\"error\":{\"code\":\"x\",\"message\":\"m\",\"hint\":\"h\"}}").unwrap().1,
            "m (h)"
        );
    }
}
