//! Herdr's command line for an installer: configuration, plugins, reload (docs/measured/herdr.md 2.2, 4.2 to 4.4, 8.1).
//!
//! These calls run in our own folder: with an empty `XDG_CONFIG_HOME` Herdr's paths are relative to it.

use super::client::Herdr;
use super::diagnostics::Diagnostics;
use super::registry::GithubSource;
use crate::error::Error;
use crate::exec::{Ended, Run};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Local calls answer at once.
const LIMIT: Duration = Duration::from_secs(10);
/// An install fetches a repository and runs its build.
const INSTALL_LIMIT: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reload {
    /// No server runs; the file is read when one starts.
    NoServer,
    /// Every running server took it over.
    Applied,
    /// A server kept some or all of its old settings, with Herdr's words.
    Refused(Vec<String>),
}

impl Herdr {
    /// What Herdr has to say about its `config.toml`.
    ///
    /// # Errors
    /// The check could not be run. Complaints are no error.
    pub(crate) fn config_check(&self) -> Result<Diagnostics, Error> {
        let call = ["config", "check"];
        let ended = self.admin(&call, LIMIT)?;
        match (ended.code(), ended.stdout_text()) {
            (0 | 1, stdout) if stdout.starts_with("config: ") => Ok(Diagnostics::parse(&stdout)),
            _ => Err(refused(&call, &ended)),
        }
    }

    /// Links a folder. This also enables a disabled plugin, unless `enabled` is false.
    ///
    /// # Errors
    /// Herdr refuses the manifest, or cannot write its registry.
    pub(crate) fn link(&self, root: &Path, enabled: bool) -> Result<(), Error> {
        let root = root.to_str().ok_or_else(|| {
            Error::failed(format!("{} is not UTF-8, which Herdr's command line needs", root.display()))
        })?;
        let mut args = vec!["plugin", "link", root];
        if !enabled {
            args.push("--disabled");
        }
        self.done(&args, LIMIT)
    }

    /// Unregisters a plugin; the checkout of an installed one goes too. Works without a server.
    ///
    /// # Errors
    /// It is not registered, or the registry cannot be written.
    pub(crate) fn uninstall(&self, id: &str) -> Result<(), Error> {
        self.done(&["plugin", "uninstall", id], LIMIT)
    }

    /// Installs a plugin from GitHub, its build included.
    ///
    /// # Errors
    /// Fetch, manifest or build failed; what was installed before stays.
    pub(crate) fn install(&self, source: &GithubSource) -> Result<(), Error> {
        let mut args = vec!["plugin", "install", &source.repository];
        if let Some(reference) = &source.reference {
            args.extend(["--ref", reference]);
        }
        args.push("--yes");
        self.done(&args, INSTALL_LIMIT)
    }

    /// Switches an installed plugin off; needs a server.
    ///
    /// # Errors
    /// No server runs, or it refuses.
    pub(crate) fn disable(&self, id: &str) -> Result<(), Error> {
        self.done(&["plugin", "disable", id], LIMIT)
    }

    /// Lets every running server of this user read `config.toml` again. Its exit code is always 0; the
    /// status in its answer counts.
    ///
    /// # Errors
    /// Herdr could not be run at all.
    pub(crate) fn reload(&self) -> Result<Reload, Error> {
        let sessions = self.running_sessions()?;
        let mut refusals = Vec::new();
        for session in &sessions {
            let ended = self.admin(&["--session", session, "server", "reload-config"], LIMIT)?;
            let answer: Value = serde_json::from_str(ended.stdout_text().trim()).unwrap_or_default();
            let result = &answer["result"];
            if result["status"] == "applied" {
                continue;
            }
            let said = result["diagnostics"].as_array().into_iter().flatten().filter_map(Value::as_str);
            refusals.extend(said.map(str::to_owned));
            if result["diagnostics"].as_array().is_none_or(Vec::is_empty) {
                refusals.push(words(&ended));
            }
        }
        Ok(match (sessions.is_empty(), refusals.is_empty()) {
            (true, _) => Reload::NoServer,
            (false, true) => Reload::Applied,
            (false, false) => Reload::Refused(refusals),
        })
    }

    /// The names of the sessions whose server runs.
    ///
    /// # Errors
    /// Herdr could not be run, or answered something else.
    pub(crate) fn running_sessions(&self) -> Result<Vec<String>, Error> {
        let answer = self.answer(&["session", "list", "--json"])?;
        let sessions = answer["sessions"].as_array().into_iter().flatten();
        let running = sessions.filter(|session| session["running"] == true);
        Ok(running.filter_map(|session| session["name"].as_str()).map(str::to_owned).collect())
    }

    /// Whether client and server of the default session understand each other; none without a server.
    ///
    /// # Errors
    /// Herdr could not be run, or answered something else.
    pub(crate) fn compatible(&self) -> Result<Option<bool>, Error> {
        let answer = self.answer(&["status", "--json"])?;
        let server = &answer["server"];
        Ok((server["running"] == true).then(|| server["compatible"] != false))
    }

    fn done(&self, args: &[&str], limit: Duration) -> Result<(), Error> {
        let ended = self.admin(args, limit)?;
        if ended.success() { Ok(()) } else { Err(refused(args, &ended)) }
    }

    fn answer(&self, args: &[&str]) -> Result<Value, Error> {
        let ended = self.admin(args, LIMIT)?;
        serde_json::from_str(ended.stdout_text().trim()).map_err(|_not_json| refused(args, &ended))
    }

    fn admin(&self, args: &[&str], limit: Duration) -> Result<Ended, Error> {
        Run::new(self.program()).args(args).limit(limit).run().map_err(Error::from)
    }
}

fn refused(args: &[&str], ended: &Ended) -> Error {
    let verb: Vec<&str> = args.iter().copied().take(2).take_while(|word| !word.starts_with('-')).collect();
    Error::failed(format!("herdr {} failed", verb.join(" "))).fact("herdr says", words(ended))
}

/// Herdr's words: JSON with a server, Rust debug text without one.
fn words(ended: &Ended) -> String {
    let stderr = ended.stderr_text();
    let message = serde_json::from_str::<Value>(&stderr).ok();
    if let Some(message) = message.as_ref().and_then(|value| value["error"]["message"].as_str()) {
        return message.to_owned();
    }
    // Error: Custom { kind: Other, error: "…" }
    let debug = stderr.strip_prefix("Error: Custom { kind: ").and_then(|rest| rest.split_once("error: "));
    let quoted = debug.and_then(|(_, rest)| rest.strip_suffix(" }"));
    match quoted.and_then(|quoted| serde_json::from_str::<String>(quoted).ok()) {
        Some(text) => text,
        None if stderr.is_empty() => format!("exit code {}", ended.code()),
        None => stderr,
    }
}
