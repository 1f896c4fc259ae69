//! The record of a start, before anything is made for it.

use super::context::ActionContext;
use super::naming::box_name;
use super::project::Wishes;
use crate::config::{Agent, ProviderKind};
use crate::error::{Error, Result};
use crate::state::{Phase, Record, RecordId, Recorded, now};
use crate::worktree::Worktree;
use std::path::Path;

/// What is wanted of a start besides the settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) agent: Agent,
    pub(crate) provider: ProviderKind,
}

/// A reservation for a box of this worktree; nobody has seen it yet.
///
/// # Errors
/// The worktree's path cannot be kept, or the state not be read.
pub(crate) fn reservation(
    context: &ActionContext,
    worktree: &Worktree,
    wishes: &Wishes,
    wanted: Wanted,
) -> Result<Record> {
    if worktree.root().to_str().is_none() {
        return Err(Error::failed(format!(
            "the worktree's path is not UTF-8: {}",
            worktree.root().display()
        )));
    }
    let (config, spec) = (&wishes.config, wanted.agent.spec());
    let unattended = spec.unattended.as_ref().filter(|_| config.unattended);
    let switch = unattended.iter().flat_map(|unattended| unattended.args.iter().cloned());
    Ok(Record {
        id: RecordId::random(),
        phase: Phase::Starting,
        socket: context.socket.clone(),
        source: None,
        terminal: None,
        pane: None,
        provider: wanted.provider,
        name: box_name(worktree, &context.store.read()?.installation)?,
        create_called: false,
        box_id: None,
        agent: Recorded::Known(wanted.agent),
        args: switch.chain(config.agent_args.of(wanted.agent).iter().cloned()).collect(),
        unattended: unattended.is_some(),
        environment: Vec::new(),
        project_failed: None,
        folder: below(worktree.root(), &context.folder()?).or_else(|| of_project(worktree.root(), wishes)),
        program: None,
        process: None,
        shown: None,
        paused_by_hand: false,
        label: None,
        worktree: worktree.root().to_path_buf(),
        remote_root: Recorded::Known(config.remote_root.clone()),
        auto_pause: Recorded::Known(config.auto_pause.clone()),
        outcome: None,
        delete_armed_at: None,
        created_at: now(),
    })
}

/// The folder that the project names, if it is one below the worktree when its links are followed.
fn of_project(root: &Path, wishes: &Wishes) -> Option<String> {
    below(root, &root.join(wishes.project.as_ref()?.cwd.as_ref()?))
}

/// The folder below the worktree in which the key was pressed; `None` for its top.
fn below(root: &Path, folder: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let below = folder.strip_prefix(root).ok()?.to_str()?;
    let plain = !below.is_empty() && !below.chars().any(char::is_control);
    plain.then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_below_the_worktree_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(root.join("a b/c")).unwrap();
        std::os::unix::fs::symlink(root.join("a b/c"), root.join("link")).unwrap();
        std::os::unix::fs::symlink("/", root.join("out")).unwrap();
        let of = |folder: &str| below(&root, &root.join(folder));
        assert_eq!((of(""), of("a b/c"), of("link")), (None, Some("a b/c".into()), Some("a b/c".into())));
        assert_eq!((of("out"), of("gone")), (None, None));
    }
}
