//! The file read strictly: it has to be right as a whole, and the error says where it is not.

use super::settings::{Config, Settings};
use crate::command::{self, Command};
use crate::error::{Error, Result};
use crate::fs;
use crate::worktree::Rules;
use std::path::Path;

impl Config {
    /// Reads `config.json`; every key is optional, and so is the file.
    ///
    /// # Errors
    /// It cannot be read, or holds something that is not a setting; the message has file, line and column.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        Ok(Settings::load(path)?.resolve())
    }

    /// What decides which files leave of the worktree with this top folder.
    pub(crate) fn rules(&self, root: &Path) -> Rules {
        Rules {
            excludes: self.excludes.clone(),
            allow_secrets: self.allow_secrets.clone(),
            allow_files: self.allow_files.for_worktree(root),
            trusted: None,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Settings::default().resolve()
    }
}

/// Why a text is not a valid `config.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadConfig {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column, from 1.
    pub(crate) column: usize,
    pub(crate) reason: String,
    /// A repair would lose a protection, so that only a person can do it.
    pub(crate) protects: bool,
}

impl BadConfig {
    /// The error for a person; `rewrite` is the setup that keeps what is valid.
    pub(crate) fn in_file(&self, path: &Path, rewrite: &Command) -> Error {
        let error =
            Error::usage(format!("{}:{}:{}: {}", path.display(), self.line, self.column, self.reason));
        if self.protects {
            let reset = rewrite.clone().without("--force").flag("--reset");
            return error
                .help("correct the file")
                .help(format!("or start from the defaults, without what it protects: {reset}"));
        }
        error.help(format!("correct the file, or rewrite it with its valid settings: {rewrite}"))
    }
}

impl Settings {
    /// Reads `config.json`; without the file nothing is set.
    ///
    /// # Errors
    /// As of [`Config::load`].
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let Some(bytes) = fs::read_if_there(path)? else { return Ok(Self::default()) };
        Self::parse(&bytes).map_err(|error| error.in_file(path, &command::setup().flag("--force")))
    }

    /// Reads a whole file strictly: an unknown key, a repeated key or a bad value is an error.
    ///
    /// # Errors
    /// Line, column and reason of the first thing that is wrong.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, BadConfig> {
        serde_json::from_slice(text).map_err(|error| {
            let full = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = match text.trim_ascii() {
                b"" => "the file is empty; {} stands for no settings",
                _ => full.strip_suffix(&place).unwrap_or(&full),
            };
            let protects = Self::salvage(text).1.iter().any(|dropped| !dropped.loosens.is_empty());
            // The parser counts columns from 0 at the beginning of a line.
            let (line, column) = (error.line().max(1), error.column().max(1));
            BadConfig { line, column, reason: reason.into(), protects }
        })
    }
}
