//! The commands of a project, in its box.

use crate::action::mapping::{ActionContext, wishes};
use crate::config::RemoteRoot;
use crate::exec::{Heard, Hearing};
use crate::journey::ProviderBox;
use crate::state::Record;
use crate::ui;
use std::time::Duration;

/// How long one may take: dependencies of a large project.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Runs the command `$2` in the workspace `$1`.
const RUN: &str = r#"cd -- "$1" && exec bash -c "$2""#;

/// Runs a command; why it failed.
pub(crate) fn run(
    remote: &ProviderBox,
    root: &RemoteRoot,
    command: &str,
    heard: Hearing<'_>,
) -> Option<String> {
    match remote.provider.run_long(&remote.id, RUN, &[root.as_str(), command], LIMIT, heard) {
        Ok(0) => None,
        Ok(code) => Some(format!("exit code {code}")),
        Err(failure) => Some(failure.words),
    }
}

/// Runs the commands for a box that was resumed, out of sight. What failed.
pub(crate) fn on_resume(context: &ActionContext, record: &Record, remote: &ProviderBox) -> Option<String> {
    let found = wishes(context, &record.worktree).and_then(|wishes| Ok((wishes, record.remote_root.get()?)));
    let (wishes, root) = match found {
        Ok(found) => found,
        Err(error) => return Some(error.message().to_owned()),
    };
    let commands = wishes.project.map(|project| project.on_resume).unwrap_or_default();
    let failed: Vec<_> = commands
        .iter()
        .filter_map(|command| {
            let why = run(remote, &root, command, &mut |_: Heard<'_>| {})?;
            Some(format!("onResume {}: {why}", ui::visible_line(command)))
        })
        .collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}
