//! What a test scripts, and the record of the calls.

use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

const UNKNOWN: u8 = 97;

/// Which line of the program is played (docs/measured/createos-cli.md 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Generation {
    /// What people have.
    #[default]
    Main,
    /// A development branch: envelopes, `exec` with documents, globals anywhere.
    Branch,
}

/// The script of a test; everything but the provider has a default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Control {
    /// Our own binary, whose `local` has the boxes.
    pub(crate) provider: PathBuf,
    #[serde(default)]
    pub(crate) generation: Generation,
    #[serde(default = "version")]
    pub(crate) version: String,
    /// How errors are told: `envelope`, `stdout`, `stderr`, `generic`; as the generation does when nothing is said.
    #[serde(default)]
    pub(crate) errors: Option<String>,
    /// A help word in an argv is a call without a sign-in, and only `process` shows its help.
    #[serde(default)]
    pub(crate) older_help: bool,
    /// The HTTP library tells on stderr what it tries again.
    #[serde(default)]
    pub(crate) noise: bool,
    /// Milliseconds that a renewal of the session takes on its way.
    #[serde(default = "refresh_ms")]
    pub(crate) refresh_ms: u64,
    /// Seconds of silence after which something on the way cuts an exec, whose command is killed then.
    #[serde(default)]
    pub(crate) idle_cut: Option<u64>,
    /// After so many bytes each stream of a followed run is cut, one after the other.
    #[serde(default)]
    pub(crate) cuts: Vec<u64>,
    /// So many boxes at once are all that the account may have.
    #[serde(default)]
    pub(crate) cap: Option<usize>,
    /// Seconds between the heartbeats of a streamed exec; 0: this service sends none.
    #[serde(default = "heartbeat")]
    pub(crate) heartbeat: u64,
    /// What create answers: `object`, `action`, `merged`, `decorated`, `text`; as the generation does when nothing
    /// is said.
    #[serde(default)]
    pub(crate) create_json: Option<String>,
    /// Members that `get` shows in place of the box's own, as after a change from elsewhere.
    #[serde(default)]
    pub(crate) view: serde_json::Map<String, serde_json::Value>,
    /// A verb whose calls wait until this says another one, as `exec`, or `exec with TEXT` for those calls that
    /// have it; `create` waits with its box made.
    #[serde(default)]
    pub(crate) hold: Option<String>,
    /// What the image carries: a script that runs in a box as soon as there is one.
    #[serde(default)]
    pub(crate) image: Option<String>,
    #[serde(default)]
    pub(crate) signed_out: bool,
    /// An empty list is `null`.
    #[serde(default)]
    pub(crate) null_lists: bool,
    /// This build knows no `--offset`.
    #[serde(default)]
    pub(crate) offset_ignored: bool,
    /// Rows of other boxes, newest first, before ours.
    #[serde(default)]
    pub(crate) other_rows: usize,
    /// `get` does not find boxes, as beyond the first 200 rows.
    #[serde(default)]
    pub(crate) hide_from_get: bool,
    /// Another account is signed in, which has none of our boxes.
    #[serde(default)]
    pub(crate) other_account: bool,
    /// What `get` says of every box's status, whatever it is.
    #[serde(default)]
    pub(crate) status: Option<String>,
    /// How many `get`s after `create` and `resume` find the box on its way, the first after a `create` not at all.
    /// Until then lists show it so, and nothing works in it.
    #[serde(default)]
    pub(crate) slow: u32,
    /// The status after these, such as `failed`; what it really is when nothing is said.
    #[serde(default)]
    pub(crate) ends_as: Option<String>,
    /// Calls that fail.
    #[serde(default)]
    pub(crate) fail: Vec<Fail>,
    /// Verbs that this build does not know: it shows its banner and ends well (docs/measured/createos-cli.md 3.11).
    #[serde(default)]
    pub(crate) banner: Vec<String>,
    /// Things that happen so many times: `name_taken`, `rm_fails`, `stream_cut` (an exec's stream ends without its
    /// end), `stream_error` (with an error frame), `attach_loses`, `attach_ends` (the stream ends cleanly while the
    /// program runs, docs/measured/createos-cli.md 3.8), `attach_says_detached` (the same, behind the words of a
    /// detach), `create_late` (the call fails and its box comes later: what makes it is a line of `late`).
    #[serde(default)]
    pub(crate) times: BTreeMap<String, u32>,
    #[serde(skip)]
    folder: PathBuf,
}

/// A verb that fails.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fail {
    pub(crate) verb: String,
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Fail {
    /// Whether it is about this verb; `*` is about every one.
    pub(crate) fn applies(&self, verb: &str) -> bool {
        self.verb == "*" || self.verb == verb
    }
}

fn version() -> String {
    "0.0.29".into()
}

fn refresh_ms() -> u64 {
    300
}

fn heartbeat() -> u64 {
    5
}

impl Control {
    /// Reads the script of this HOME; a broken one is a broken test.
    pub(crate) fn read() -> Self {
        let home = PathBuf::from(std::env::var_os("HOME").expect("tests set HOME"));
        let folder = home.join(".createos-stand-in");
        let bytes = std::fs::read(folder.join("control.json")).expect("a control.json");
        let mut control: Self = serde_json::from_slice(&bytes).expect("control.json is well formed");
        control.folder = folder;
        control
    }

    /// What the HTTP library says on stderr while it tries again.
    pub(crate) fn make_noise(&self) {
        if self.noise {
            let get = "Get \"https://api.sb.example.com/v1/sandboxes\": dial tcp: lookup api.sb.example.com";
            crate::tell(&format!("2026/11/30 12:00:00 WARN RESTY {get}: i/o timeout, Attempt 1\n"));
        }
    }

    /// 0.0.24 and older cannot pause or resume.
    pub(crate) fn lifecycle_broken(&self) -> bool {
        matches!(self.version.as_str(), "0.0.23" | "0.0.24")
    }

    /// Waits as long as the test holds this verb, or the calls of it with one of these words.
    pub(crate) fn wait_while_held(&self, verb: &str, words: &[String]) {
        let held = |control: &Self| {
            let Some(hold) = control.hold.as_deref() else { return false };
            let (held, text) = hold.split_once(" with ").unwrap_or((hold, ""));
            held == verb && (text.is_empty() || words.iter().any(|word| word.contains(text)))
        };
        let mut is_held = held(self);
        while is_held {
            std::thread::sleep(std::time::Duration::from_millis(20));
            is_held = held(&Self::read());
        }
    }

    /// Whether `get` hides the box.
    pub(crate) fn hidden(&self, id: &str) -> bool {
        self.hide_from_get && id.starts_with("sb-")
    }

    /// Uses up one of the times that `what` is to happen. Files count, since calls are processes.
    pub(crate) fn take(&self, what: &str) -> bool {
        let most = self.times.get(what).copied().unwrap_or(0);
        (0..most).any(|n| {
            let used = self.folder.join(format!("{what}.{n}"));
            std::fs::File::options().write(true).create_new(true).open(used).is_ok()
        })
    }

    /// Where the next stream is cut. Files count, as for [`Control::take`].
    pub(crate) fn next_cut(&self) -> Option<u64> {
        std::fs::create_dir_all(self.folder.join("cut")).expect("a folder");
        self.cuts.iter().enumerate().find_map(|(n, cut)| {
            let used = self.folder.join(format!("cut/{n}"));
            std::fs::File::options().write(true).create_new(true).open(used).is_ok().then_some(*cut)
        })
    }

    /// Appends the call to `calls`.
    pub(crate) fn record(&self, words: &[String]) {
        let call = json!({
            "program": std::env::args_os().next().map(PathBuf::from),
            "argv": words,
            "cwd": std::env::current_dir().unwrap_or_default(),
            "do_not_track": std::env::var("CREATEOS_DO_NOT_TRACK").unwrap_or_default(),
            "output": std::env::var("CREATEOS_OUTPUT").ok(),
            "herdr_agent": std::env::var("HERDR_AGENT").ok(),
            "stdin": std::fs::read_link("/proc/self/fd/0").ok(),
        });
        self.append("calls", &call.to_string());
    }

    /// Records and refuses an argv that the contract does not have.
    pub(crate) fn unknown(&self, words: &[String]) -> u8 {
        self.append("unknown", &words.join(" "));
        UNKNOWN
    }

    /// A file of the test's record.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Appends a line to a record.
    pub(crate) fn append(&self, file: &str, line: &str) {
        let path = self.file(file);
        let mut file = std::fs::File::options().append(true).create(true).open(path).expect("a record");
        file.write_all(format!("{line}\n").as_bytes()).expect("a record");
    }
}
