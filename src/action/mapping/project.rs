//! The settings of a start: the user's own, and below them what the worktree's `.createos-sandbox.toml` says, if the user
//! said yes to exactly that.

use super::context::ActionContext;
use crate::command;
use crate::config::{Config, PROJECT, Project, Settings};
use crate::error::Result;
use crate::state::Asks;
use std::path::Path;

/// The settings, and the repository's word if it counts.
#[derive(Debug, Clone)]
pub(crate) struct Wishes {
    pub(crate) config: Config,
    pub(crate) project: Option<Project>,
    /// There is a word that does not count; what to type about it.
    pub(crate) ignored: Option<String>,
}

/// What holds for the worktree with this top folder.
///
/// # Errors
/// The settings or the worktree's file cannot be read.
pub(crate) fn wishes(context: &ActionContext, root: &Path) -> Result<Wishes> {
    let file = context.config_file();
    let settings = Settings::load(&file)?;
    let Some(project) = Project::read(root)? else {
        return Ok(Wishes { config: settings.resolve().fitting(&file)?, project: None, ignored: None });
    };
    if context.store.read()?.yes_to(Asks::Project, root) != Some(project.hash.as_str()) {
        let ignored = format!(
            "{PROJECT} of this worktree is ignored; to read it and say yes: {}",
            command::own(["trust"])
        );
        return Ok(Wishes {
            config: settings.resolve().fitting(&file)?,
            project: None,
            ignored: Some(ignored),
        });
    }
    let config = settings.over(project.settings()).resolve().fitting(&file)?;
    Ok(Wishes { config, project: Some(project), ignored: None })
}
