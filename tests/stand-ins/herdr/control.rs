//! What a test scripts, and the record of the calls.

use crate::places::Places;
use crate::reply::Reply;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// The exit code of an argv that the contract does not have.
const UNKNOWN: u8 = 97;

/// The script of a test; everything has a default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Control {
    /// What `--version` says after the name.
    #[serde(default = "version")]
    pub(crate) version: String,
    /// Diagnostics of `config check`, in order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Calls that fail: the beginning of the joined argv, and how.
    pub(crate) fail: BTreeMap<String, Failure>,
    /// A running server, without sockets: only that it runs and what a reload says.
    pub(crate) server: Option<ScriptedServer>,
    #[serde(skip)]
    folder: Option<PathBuf>,
}

/// One scripted diagnostic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diagnostic {
    /// The text; it may span lines.
    pub(crate) text: String,
    /// Said only when `config.toml` holds this.
    #[serde(default)]
    pub(crate) when: Option<String>,
}

/// How a scripted call fails.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    #[serde(default)]
    pub(crate) stdout: String,
    #[serde(default)]
    pub(crate) stderr: String,
}

/// A server that is only said to run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedServer {
    /// `applied`, `partial` or `failed`.
    pub(crate) reload: String,
    #[serde(default)]
    pub(crate) diagnostics: Vec<String>,
    #[serde(default = "compatible")]
    pub(crate) compatible: bool,
}

fn version() -> String {
    "0.8.2".into()
}

fn compatible() -> bool {
    true
}

/// Whether the program that called is the plugin's: what it does and what a test does are told apart.
fn is_called_by_plugin() -> bool {
    let parent = std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id()));
    let name = parent.as_ref().ok().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    // One that was replaced meanwhile has a suffix.
    name.is_some_and(|name| name.starts_with("createos-sandbox"))
}

impl Control {
    /// Reads the script of this HOME; a broken one is a broken test.
    pub(crate) fn read(places: &Places) -> Self {
        let folder = places.home.join(".herdr-stand-in");
        let mut control = match std::fs::read(folder.join("control.json")) {
            Ok(bytes) => serde_json::from_slice(&bytes).expect("control.json is well formed"),
            Err(_) => Self { version: version(), ..Self::default() },
        };
        control.folder = folder.is_dir().then_some(folder);
        control
    }

    /// Appends the call to `calls`, and one of the plugin's own program to `ours` too.
    pub(crate) fn record(&self, words: &[&str]) {
        self.append("calls", &words.join(" "));
        if is_called_by_plugin() {
            self.append("ours", &words.join(" "));
        }
    }

    /// Ends the scripted server. The real one is silent, too (docs/measured/herdr.md 8.1).
    pub(crate) fn stop_server(&self) -> Reply {
        let script = self.folder.as_ref().expect("a script").join("control.json");
        let text = std::fs::read(&script).expect("the script");
        let mut members: serde_json::Map<String, Value> = serde_json::from_slice(&text).expect("an object");
        members.remove("server");
        std::fs::write(script, Value::Object(members).to_string()).expect("the script");
        Reply::text("")
    }

    /// Records and refuses an argv that the contract does not have.
    pub(crate) fn unknown(&self, words: &[&str]) -> Reply {
        let call = words.join(" ");
        self.append("unknown", &call);
        Reply {
            out: String::new(),
            err: format!("herdr stand-in: not in the contract: {call}\n"),
            code: UNKNOWN,
        }
    }

    /// Appends a line to a record of this HOME.
    pub(crate) fn append(&self, file: &str, line: &str) {
        let Some(folder) = &self.folder else { return };
        let mut file =
            std::fs::File::options().append(true).create(true).open(folder.join(file)).expect("a record");
        file.write_all(format!("{line}\n").as_bytes()).expect("a record");
    }
}
