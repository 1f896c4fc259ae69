//! The settings that count.

use super::settings::{Config, Settings};
use crate::command;
use crate::error::Result;
use crate::fs;
use crate::worktree::Rules;
use std::path::Path;

impl Config {
    /// Reads `config.json`; every key is optional, and so is the file.
    ///
    /// # Errors
    /// It cannot be read, or holds something that is not a setting; the message has file, line and column.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let Some(bytes) = fs::read_if_there(path)? else { return Ok(Self::default()) };
        let settings = Settings::parse(&bytes);
        Ok(settings.map_err(|error| error.in_file(path, &command::setup().flag("--force")))?.resolve())
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
