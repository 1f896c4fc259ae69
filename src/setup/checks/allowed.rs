//! The names that `allowFiles` lets through: never silently.

use super::check::Check;
use super::context::Context;
use crate::config::Config;
use crate::paths::Paths;
use crate::worktree::{self, AllowPattern, Worktree};
use std::path::Path;

/// One check for each worktree of `allowFiles`; none without any.
pub(super) fn allowed(context: &Context<'_>) -> Vec<Check> {
    let config = context.config();
    let entries = config.allow_files.entries().filter(|(.., patterns)| !patterns.is_empty());
    entries
        .map(|(written, folder, patterns)| {
            let message = sentence(written, patterns);
            match folder.map(|folder| fault(&config, &folder, context.paths)) {
                Some(Some(fault)) => Check::warn("allow-files", format!("{message}; {fault}"))
                    .fix("correct allowFiles in config.json, or take the entry out"),
                Some(None) | None => Check::note("allow-files", message),
            }
        })
        .collect()
}

/// What is let through, for a line of setup's or the doctor's.
pub(in crate::setup) fn sentence(written: &str, patterns: &[AllowPattern]) -> String {
    let place = if written == "*" { "every worktree" } else { written };
    let list: Vec<String> = patterns.iter().map(AllowPattern::to_string).collect();
    format!("of {place} leave although their names say no: {}", list.join(", "))
}

/// What is not as the entry means it.
fn fault(config: &Config, folder: &Path, paths: &Paths) -> Option<String> {
    if !folder.exists() {
        return Some(format!("{} is not there", paths.show(folder)));
    }
    let listed = Worktree::discover(Path::new("git"), folder)
        .and_then(|worktree| worktree::select(&worktree, &config.rules(worktree.root())));
    match listed {
        Ok(selection) => selection.idle.first().cloned(),
        Err(error) => Some(error.message().to_owned()),
    }
}
