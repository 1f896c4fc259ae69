//! `sandbox process …`: processes that outlive the call that started them.

use super::exec::{NAME, UNGUARD};
use super::provider::ASK;
use super::{BoxId, Failure, ProcessId, Provider, Result, json};
use crate::config::DetachKey;
use crate::exec::Run;
use serde_json::Value;
use std::time::Duration;

/// Starts what follows in the folder `$1`, else in `$2`, with the variables before `:` that the box's shell takes: a
/// locale that it lacks is left out.
const START: &str = r#"while [ "$1" != : ]; do
[ -n "$( { export "$1"; } 2>&1)" ] || export "$1"
shift; done; shift
cd -- "$1" 2>/dev/null || cd -- "$2" && shift 2 && exec "$@""#;

/// A process to start on a PTY.
#[derive(Debug, Clone)]
pub(crate) struct StartSpec {
    /// Its folder in the box.
    pub(crate) cwd: String,
    /// The folder in which it starts where that is there, an absolute path.
    pub(crate) folder: String,
    /// Variables that it gets, no secrets: they stand in the argv.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) rows: u16,
    pub(crate) cols: u16,
    /// The program in the box, resolved there to an absolute path.
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
}

/// A process as the provider shows it; only what we use.
#[derive(Debug, Clone)]
pub(crate) struct ProcessView {
    pub(crate) id: ProcessId,
    /// It runs and can be attached to (docs/measured/createos-cli.md 4.2).
    pub(crate) running: bool,
    /// So many bytes of its output are kept.
    pub(crate) output: u64,
    /// Its exit code once it has ended, if the provider knows it.
    pub(crate) exit_code: Option<i64>,
    /// The signal that ended it, raw text.
    pub(crate) signal: Option<String>,
}

impl ProcessView {
    pub(super) fn parse(verb: &str, value: &Value) -> Result<Self> {
        let id = json::text(value, "process_id")
            .ok_or_else(|| Failure::other(verb, "the answer has no process id"))?
            .parse()
            .map_err(|error| Failure::other(verb, format!("{error}")))?;
        let flag = |key| value.get(key).and_then(Value::as_bool).unwrap_or(false);
        Ok(Self {
            id,
            running: json::text(value, "state") == Some("running")
                && !flag("leader_exited")
                && !flag("tree_exited"),
            output: value.pointer("/output/bytes").and_then(Value::as_u64).unwrap_or(0),
            exit_code: value.get("exit_code").and_then(Value::as_i64),
            signal: json::text(value, "signal").map(str::to_owned),
        })
    }
}

impl Provider {
    /// Starts a program on a PTY in the box, through a login shell that gives it the box's PATH.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn process_start(&self, id: &BoxId, spec: &StartSpec) -> Result<ProcessView> {
        const VERB: &str = "sandbox process start";
        let (rows, cols) = (spec.rows.to_string(), spec.cols.to_string());
        let mut words: Vec<String> =
            spec.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        words.extend([":", &spec.folder, &spec.cwd, &spec.program].map(str::to_owned));
        words.extend(spec.args.iter().cloned());
        self.awake(id, || {
            let run = self
                .json(ASK)
                .args(["process", "start", "--pty", "--cwd", &spec.cwd, "--rows", &rows, "--cols", &cols])
                .args([id.as_str(), "--", "bash", "-lc", &format!("{UNGUARD}{START}"), NAME])
                .args(words.iter().map(|word| format!("={word}")));
            ProcessView::parse(VERB, &self.document(VERB, run)?)
        })
    }

    /// The box's processes, ended ones among them if the provider keeps them.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn process_list(&self, id: &BoxId) -> Result<Vec<ProcessView>> {
        const VERB: &str = "sandbox process list";
        match self.document(VERB, self.json(ASK).args(["process", "list", id.as_str()]))? {
            Value::Null => Ok(Vec::new()),
            Value::Array(rows) => rows.iter().map(|row| ProcessView::parse(VERB, row)).collect(),
            _ => Err(Failure::other(VERB, "the answer is not a list")),
        }
    }

    /// One process.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn process_get(&self, id: &BoxId, process: &ProcessId) -> Result<ProcessView> {
        const VERB: &str = "sandbox process get";
        let run = self.json(ASK).args(["process", "get", id.as_str(), process.as_str()]);
        ProcessView::parse(VERB, &self.document(VERB, run)?)
    }

    /// Types `keys` to a process's terminal and follows its output to the end; no terminal of ours
    /// is needed. The output is replayed from its beginning, so nothing that was shown is missed.
    ///
    /// # Errors
    /// The provider's refusal, or the process does not end within `limit`.
    pub(crate) fn attach_typing(
        &self,
        id: &BoxId,
        process: &ProcessId,
        keys: impl Into<Vec<u8>>,
        limit: Duration,
    ) -> Result<String> {
        let run = self.sandbox(limit).args(["process", "attach", "--after", "0", "--stdin"]);
        let run = run.args([id.as_str(), process.as_str()]).stdin_bytes(keys);
        Ok(self.finish("sandbox process attach", run)?.stdout_text())
    }

    /// Attaches our own terminal to a process. What is kept of its output is shown first: agents otherwise leave the
    /// pane blank until they repaint (docs/measured/createos-cli.md 3.8). Our own provider shows the screen as it is,
    /// and says by its exit code when the person has detached, with this key.
    pub(crate) fn attach(&self, id: &BoxId, process: &ProcessId, key: DetachKey) -> Run<'static> {
        let key = key.to_string();
        let more: &[&str] = match self.kind().has().screen {
            true => &["--for-pane", "--detach-key", &key],
            false => &["--after", "0"],
        };
        self.watched(["process", "attach"].iter().chain(more).chain([&id.as_str(), &process.as_str()]))
    }
}
