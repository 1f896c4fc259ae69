//! What the provider's words mean. Its printers differ: a document with a code, or text with a badge, with a hint or
//! without one, on either stream (docs/measured/createos-cli.md 3.11).

use super::Status;
use super::json;

/// What a failure means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no session, or it has ended.
    SignedOut,
    /// The provider does not find it. Beyond 200 rows that is no proof (docs/measured/createos-cli.md 4.5).
    NotFound,
    /// The sandbox's name is in use; a paused box keeps its name.
    NameTaken,
    /// Too many sandboxes at once; paused ones count.
    Cap,
    /// Too many sandboxes made today.
    DailyCap,
    /// The shape is not in the account's plan.
    Shape,
    Credit,
    Rate,
    /// `pause` and `resume` of CLI 0.0.24 and older (docs/measured/createos-cli.md 3.14).
    LifecycleBroken,
    /// The call took longer than its limit: what it asked for may have happened.
    TimedOut,
    /// The caller raised its stop flag: what the call asked for may have happened.
    Interrupted,
    /// The box is paused, or about to be: nothing was done in it.
    Paused,
    /// The box is on its way to run: nothing was done in it.
    NotYetUp,
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

/// Longer words than this are cut, in characters.
const LONGEST: usize = 2000;

/// An error in the provider's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// The code of the JSON mode's error document; empty for text.
    code: String,
    /// What is wrong, on one line.
    text: String,
    /// What the provider says to do about it; the service's answers with code 400, 401, 403 and 404 have one.
    hint: String,
}

impl Words {
    pub(super) fn refusal(&self) -> Refusal {
        classify(&self.code, &self.text, !self.hint.is_empty())
    }

    pub(super) fn shown(&self) -> String {
        match self.hint.is_empty() {
            true => self.text.clone(),
            false => format!("{} ({})", self.text, self.hint),
        }
    }
}

/// The error of a program that failed: its document, else what stands behind a badge, else what it says on stderr, else
/// on stdout.
pub(super) fn read(stdout: &str, stderr: &str) -> Words {
    if let Some(words) = envelope(stdout) {
        return words;
    }
    let stderr = without_noise(stderr);
    let text = match (badge(stdout), badge(&stderr)) {
        (Some(at), _) => &stdout[at..],
        (None, Some(at)) => &stderr[at..],
        (None, None) if stderr.trim().is_empty() => stdout,
        (None, None) => &stderr,
    };
    plain(text)
}

/// Code and message of `{"error":{…}}`, the JSON mode's error document.
fn envelope(stdout: &str) -> Option<Words> {
    let document = json::first_document(stdout)?;
    let error = document.get("error")?;
    let text = json::text(error, "message").or_else(|| error.as_str())?;
    let member = |name| json::text(error, name).unwrap_or_default().to_owned();
    Some(Words { code: member("code"), text: text.trim().to_owned(), hint: member("hint") })
}

/// Where the provider's own error begins in what a stream printed: at its badge. Both printers have one.
pub(super) fn badge(text: &str) -> Option<usize> {
    let starts_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    text.rfind(" ERROR  ").or_else(|| text.rfind("ERROR: ").filter(starts_line))
}

/// The words of an error that is text: without its badge, its blank lines, and what the HTTP library logs.
pub(super) fn plain(text: &str) -> Words {
    let text = without_noise(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (hints, lines): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("Hint:"));
    let hint = hints.iter().map(|hint| hint["Hint:".len()..].trim()).collect::<Vec<_>>().join("; ");
    let text = lines.join("; ");
    // Our own provider writes its badge in small letters.
    let badge = text.strip_prefix("ERROR").or_else(|| text.strip_prefix("error:"));
    let text = badge.map_or(text.as_str(), |rest| rest.trim_start_matches([':', ' ']));
    Words { code: String::new(), text: text.chars().take(LONGEST).collect(), hint }
}

/// Without the lines of the HTTP library, which tries again meanwhile and says so on stderr.
fn without_noise(text: &str) -> String {
    let is_noise = |line: &&str| line.contains("WARN RESTY") || line.contains("ERROR RESTY");
    text.lines().filter(|line| !is_noise(line)).map(|line| format!("{line}\n")).collect()
}

/// Whether these are words that an older printer puts in the place of any error at all: they name nothing.
pub(super) fn are_generic(text: &str) -> bool {
    let names_something = |c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '`' | '/' | ':');
    !text.contains(names_something)
}

/// What is said of a box that does not run; `None` when something else is said.
fn not_running(lower: &str) -> Option<Refusal> {
    let (_, after) = lower.split_once("sandbox ")?.1.split_once(" is ")?;
    let (word, rest) = after.split_at(after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len()));
    let says_no_more = rest.trim().is_empty();
    if !says_no_more && !lower.contains("resume it first") && !lower.contains("requires a running sandbox") {
        return None;
    }
    match Status::parse(word) {
        Status::Paused | Status::Pausing => Some(Refusal::Paused),
        Status::Creating | Status::Resuming | Status::Forking => Some(Refusal::NotYetUp),
        Status::Failed | Status::Destroying | Status::Destroyed => Some(Refusal::Rejected),
        Status::Running | Status::Unknown(_) => None,
    }
}

/// What an error means; `hinted` for one with a hint.
pub(super) fn classify(code: &str, words: &str, hinted: bool) -> Refusal {
    let lower = words.to_lowercase();
    let says = |text: &str| lower.contains(text);
    match code {
        "unauthorized" => return Refusal::SignedOut,
        "not_found" => return Refusal::NotFound,
        "rate_limited" => return Refusal::Rate,
        "server_error" => return Refusal::Other,
        _ => {}
    }
    let signed_out = [
        "not signed in",
        "session has expired",
        "session is not usable",
        "invalid api key",
        "invalid access token",
        "unauthorized",
        "status 401",
    ];
    // Before "not found": a program that the box lacks is no sandbox that is gone.
    if says("bash") && (says("executable file not found") || says("no such file")) {
        Refusal::NoBash
    } else if says("content-length is required") {
        Refusal::LifecycleBroken
    } else if signed_out.into_iter().any(says) {
        Refusal::SignedOut
    } else if says("post \"http") || says("status 5") {
        // The connection failed, or the service: what else it says is an address, not an answer.
        Refusal::Other
    } else if let Some(refusal) = not_running(&lower) {
        refusal
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
    } else if says("no sandbox named")
        || says("no sandbox matching")
        || says("not found")
        || says("status 404")
    {
        Refusal::NotFound
    } else if matches!(code, "bad_request" | "forbidden" | "conflict") || hinted {
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
            assert_eq!(classify(code, words, false), refusal, "{words}");
        }
    }

    /// What each program that failed means, by what it printed on stdout and on stderr.
    #[track_caller]
    fn means(stdout: &str, stderr: &str) -> (Refusal, String) {
        let words = read(stdout, stderr);
        (words.refusal(), words.shown())
    }

    #[test]
    fn a_refused_sign_in_is_known_by_its_text_with_and_without_hint_and_document() {
        const HINT: &str = "  Hint: Run 'createos login' to sign in again.\n";
        for words in [
            "invalid api key",
            "invalid access token",
            "request failed with status 401",
            "Unauthorized",
            "your session has expired and could not be renewed — run 'createos login' to sign in again",
        ] {
            let badge = format!(" ERROR  {words}\n");
            for (stdout, stderr) in [
                (badge.clone(), String::new()),
                (String::new(), badge.clone()),
                (format!("{badge}{HINT}"), String::new()),
                (format!("ERROR: {words}\n{HINT}"), String::new()),
                (format!("{{\"error\":{{\"code\":\"api_error\",\"message\":\"{words}\"}}}}"), String::new()),
            ] {
                let (refusal, shown) = means(&stdout, &stderr);
                assert_eq!(refusal, Refusal::SignedOut, "{stdout}{stderr}");
                assert!(shown.starts_with(words), "{shown}");
            }
        }
        // The hint of a 403 is the same one: it says nothing about the session.
        let forbidden = format!(" ERROR  sandbox limit reached (2 of 2)\n{HINT}");
        assert_eq!(means(&forbidden, "").0, Refusal::Cap);
        let forbidden = format!(" ERROR  your plan has no such network\n{HINT}");
        assert_eq!(means(&forbidden, "").0, Refusal::Rejected, "the service has said no");
    }

    #[test]
    fn a_box_that_does_not_run_is_paused_or_on_its_way() {
        let paused = " ERROR  sandbox hd-a-x1 is paused\n\n  Resume it first:\n    createos sandbox resume hd-a-x1\n\n  \
                      Then retry your exec command\n";
        assert_eq!(means(paused, "").0, Refusal::Paused);
        let requires =
            |status: &str| format!("ERROR: sandbox sb-1 is {status}; push requires a running sandbox\n");
        for (status, refusal) in [
            ("pausing", Refusal::Paused),
            ("creating", Refusal::NotYetUp),
            ("resuming", Refusal::NotYetUp),
            ("forking", Refusal::NotYetUp),
            ("destroying", Refusal::Rejected),
            ("failed", Refusal::Rejected),
        ] {
            assert_eq!(means("", &requires(status)).0, refusal, "{status}");
        }
        assert_eq!(classify("conflict", "sandbox hd-a is paused", false), Refusal::Paused);
        let other = "sandbox sb-1 is failed — see `createos sandbox get sb-1` for details";
        assert_eq!(classify("", other, false), Refusal::Other);
    }

    #[test]
    fn what_the_http_library_logs_is_no_word_of_the_error() {
        let noise = "2026/11/30 12:00:00.000001 WARN RESTY Post \"https://api.example.com/x\": EOF, Attempt 1\n\
                     2026/11/30 12:00:02.000001 ERROR RESTY Post \"https://api.example.com/x\": EOF\n";
        let (refusal, shown) = means(" ERROR  Content-Length is required\n", noise);
        assert_eq!((refusal, shown.as_str()), (Refusal::LifecycleBroken, "Content-Length is required"));
        let (refusal, shown) = means("", &format!("{noise}ERROR: sandbox limit reached\n"));
        assert_eq!((refusal, shown.as_str()), (Refusal::Cap, "sandbox limit reached"));
    }

    #[test]
    fn badges_hints_and_blank_lines_are_told_apart() {
        assert_eq!(plain(" ERROR  it broke\n\n  example: x\n").shown(), "it broke; example: x");
        assert_eq!(plain("ERROR: it broke\n  Hint: mend it\n").shown(), "it broke (mend it)");
        let document = "{\"error\":{\"code\":\"x\",\"message\":\"m\",\"hint\":\"h\"}}";
        assert_eq!(envelope(document).unwrap().shown(), "m (h)");
        assert!(are_generic("Something went wrong. Please try again.") && !are_generic("dial tcp 10.0.0.1"));
    }
}
