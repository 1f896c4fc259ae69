//! One call of the Herdr command line: JSON in, a typed refusal out (docs/measured/herdr.md 0).

use crate::command;
use crate::error::Error;
use crate::exec::Run;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Herdr answers in milliseconds; a server that hangs must not hang an action.
const LIMIT: Duration = Duration::from_secs(15);

/// Herdr's command line; the server is the one that the environment names.
#[derive(Debug, Clone)]
pub(crate) struct Herdr {
    program: PathBuf,
    socket: Option<String>,
}

/// `Result` of a call.
pub(super) type Result<T, E = HerdrError> = std::result::Result<T, E>;

/// Why a call gave no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum HerdrError {
    /// The server refused, with its code as in `pane_not_found`.
    #[error("herdr refused: {message}")]
    Refused {
        /// Herdr's code.
        code: String,
        /// Herdr's words.
        message: String,
    },
    /// No server on the socket.
    #[error("no Herdr server is running on this socket")]
    NoServer,
    /// It could not be run, or answered something else.
    #[error("herdr failed: {0}")]
    Failed(String),
}

impl HerdrError {
    /// Herdr refused with this code.
    pub(crate) fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == wanted)
    }
}

impl From<HerdrError> for Error {
    fn from(error: HerdrError) -> Self {
        let failed = Self::failed(error.to_string());
        match &error {
            HerdrError::NoServer => failed.help(format!("start Herdr with: {}", command::herdr([]))),
            _ if error.is("plugin_not_found") => {
                failed.help(format!("set the plugin up with: {}", command::setup()))
            }
            _ if error.is("plugin_disabled") => {
                let enable = command::herdr(["plugin", "enable", crate::paths::PLUGIN_ID]);
                failed.help(format!("enable it with: {enable}"))
            }
            _ if error.is("protocol_mismatch") => failed
                .help(format!("end the Herdr server: {}", command::herdr(["server", "stop"])))
                .help(format!("then: {}", command::herdr([]))),
            HerdrError::Refused { .. } | HerdrError::Failed(_) => failed,
        }
    }
}

impl Herdr {
    /// The command line at this path.
    pub(crate) fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), socket: None }
    }

    /// Of a machine without Herdr: every call says that no server runs.
    pub(crate) fn absent() -> Self {
        Self::new(PathBuf::new())
    }

    /// The same command line for the server of another session.
    pub(crate) fn at_socket(&self, socket: &str) -> Self {
        Self { program: self.program.clone(), socket: Some(socket.to_owned()) }
    }

    /// The program's path.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Calls and gives `.result`. Calls that answer nothing on success give `null`.
    pub(super) fn call(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Value> {
        self.result(self.run(args))
    }

    /// The same call as from outside of every pane.
    pub(super) fn call_from_nowhere(
        &self,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Value> {
        self.result(self.run(args).env_remove("HERDR_PANE_ID"))
    }

    fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run<'_> {
        let run = Run::new(&self.program).args(args).cwd("/").limit(LIMIT);
        self.socket.iter().fold(run, |run, socket| run.env("HERDR_SOCKET_PATH", socket))
    }

    fn result(&self, run: Run<'_>) -> Result<Value> {
        if self.program.as_os_str().is_empty() {
            return Err(HerdrError::NoServer);
        }
        let ended = run.run().map_err(|error| HerdrError::Failed(error.to_string()))?;
        if ended.success() {
            let text = ended.stdout_text();
            if text.trim().is_empty() {
                return Ok(Value::Null);
            }
            let mut answer: Value = serde_json::from_str(text.trim())
                .map_err(|_| HerdrError::Failed(format!("not JSON: {}", short(&text))))?;
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or(Value::Null));
        }
        // Offline errors are debug text, the others JSON.
        let stderr = ended.stderr_text();
        let error = serde_json::from_str::<Value>(&stderr).ok().and_then(|mut value| {
            let error = value.get_mut("error")?.take();
            Some((error.get("code")?.as_str()?.to_owned(), error.get("message")?.as_str()?.to_owned()))
        });
        Err(match error {
            Some((code, _)) if code == "server_not_running" => HerdrError::NoServer,
            Some((code, message)) => HerdrError::Refused { code, message },
            None => HerdrError::Failed(short(&stderr)),
        })
    }
}

fn short(text: &str) -> String {
    text.trim().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_herdr_no_server_runs() {
        let herdr = Herdr::absent();
        assert!(matches!(herdr.call(["pane", "list"]), Err(HerdrError::NoServer)));
        assert!(matches!(herdr.at_socket("/s").call(["pane", "list"]), Err(HerdrError::NoServer)));
    }

    #[test]
    fn a_herdr_that_hangs_is_given_up_and_the_time_is_told() {
        let herdr = Herdr::new("/bin/sleep");
        let error = herdr.result(herdr.run(["60"]).limit(Duration::from_secs(1))).unwrap_err();
        assert!(error.to_string().contains("sleep did not finish within 1 s and was stopped"), "{error}");
    }
}
