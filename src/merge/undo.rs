//! Takes applies back, the last one first, from what the ledger has kept.

use super::journal::{Journal, Phase, Step};
use super::ledger::{Ledger, read_base};
use super::obstacles::obstacles;
use super::ours::Ours;
use super::script;
use super::transaction::{self, After, Change, Place};
use super::tree::Tree;
use crate::error::{Error, IoContext, Result};
use crate::worktree::{Entry, RelPath};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An apply that can be taken back.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    /// The worktree that it changed.
    pub(crate) worktree: PathBuf,
    /// The paths that it changed, in order.
    pub(crate) paths: Vec<RelPath>,
    /// When it was done, if the disk tells.
    pub(crate) at: Option<SystemTime>,
    number: u64,
    place: Place,
    changes: Vec<Change>,
}

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undone {
    /// The paths that are as they were before the apply, in order.
    pub(crate) paths: Vec<RelPath>,
    /// The paths that were changed since and stay as they are, in order.
    pub(crate) kept: Vec<RelPath>,
}

impl Ledger {
    /// The applies that can be taken back, the last one first.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub(crate) fn levels(&self) -> Result<Vec<Level>> {
        let mut levels = Vec::new();
        for (number, place) in self.applies()? {
            if !place.journal().exists() {
                continue; // only what a way back has rescued
            }
            let journal = Journal::read(&place.journal())?;
            if journal.phase == Phase::Done && journal.undoes.is_none() {
                let changes = backwards(&journal, &place);
                levels.push(Level {
                    worktree: journal.worktree.0,
                    paths: changes.iter().map(|change| change.path.clone()).collect(),
                    at: std::fs::metadata(place.journal()).and_then(|found| found.modified()).ok(),
                    number,
                    place,
                    changes,
                });
            }
        }
        levels.reverse();
        Ok(levels)
    }

    /// Takes the last apply back where every file is still as it left them; with `keep_changed` but for the files that
    /// were changed since, for which it cannot be taken back again.
    ///
    /// # Errors
    /// There is none, or files were changed since (they are named) which are not to be kept, or all of them were, or it
    /// failed; nothing is changed then.
    pub(crate) fn undo(&self, worktree: &Path, keep_changed: bool) -> Result<Undone> {
        self.make("")?;
        let _lock = self.lock()?;
        self.recover_locked()?;
        let Some(last) = self.levels()?.into_iter().next() else {
            return Err(Error::failed("there is no apply to take back"));
        };
        let at_home = std::fs::canonicalize(worktree).at("look at", worktree)?;
        if last.worktree != at_home {
            return Err(Error::failed(format!(
                "the last apply went to another worktree, {}",
                last.worktree.display()
            )));
        }
        let tree = Tree::open(&at_home)?;
        let changed = changed_since(&tree, &at_home, &last.changes)?;
        let all = changed.len() >= last.changes.len();
        if !changed.is_empty() && (!keep_changed || all) {
            let error = Error::failed("files were changed since the last apply, nothing was undone");
            let error = changed.iter().take(20).fold(error, |error, (path, why)| match why {
                Some(why) => error.fact("changed", format!("{path}: {why}")),
                None => error.fact("changed", path.to_string()),
            });
            let error =
                error.help("bring them back to how the apply left them, or take the change back by hand");
            return Err(if all { error } else { error.help(KEEP_CHANGED) });
        }
        let kept: BTreeSet<RelPath> = changed.into_iter().map(|(path, _)| path).collect();
        let changes: Vec<Change> =
            last.changes.into_iter().filter(|change| !kept.contains(&change.path)).collect();
        let mut base = read_base(&last.place.0.join("base-before"))?;
        if !kept.is_empty() {
            // The base of a box that is gone is gone, too.
            let now = match self.has_base() {
                true => self.base()?,
                false => read_base(&last.place.0.join("base-after"))?,
            };
            for path in &kept {
                match now.get(path) {
                    Some(entry) => base.insert(path.clone(), *entry),
                    None => base.remove(path),
                }
            }
        }
        let (number, own) = self.open_place()?;
        let after = own.0.join("base-after");
        std::fs::write(&after, script::packed(&base).0).at("write", &after)?;
        let journal = transaction::run(&tree, &at_home, &own, &changes, Some(last.number))?;
        self.finish(&tree, number, &own, journal)?;
        Ok(Undone {
            paths: changes.into_iter().map(|change| change.path).collect(),
            kept: kept.into_iter().collect(),
        })
    }
}

/// The hint of a refusal that others of the apply's files could still follow.
pub(crate) const KEEP_CHANGED: &str = "or leave these, and take the others back";

/// What is not as the apply left it, or stands in the way, and why.
fn changed_since(tree: &Tree, worktree: &Path, changes: &[Change]) -> Result<Vec<(RelPath, Option<String>)>> {
    let mut changed = Vec::new();
    let mut rest = Vec::new();
    for change in changes {
        if change.fits(tree.at(&change.path)?) {
            rest.push(change.clone());
        } else {
            changed.push((change.path.clone(), None));
        }
    }
    // What stays may be in the way of what goes back.
    loop {
        let blocked = obstacles(&mut Ours::new(worktree)?, &rest)?;
        if blocked.is_empty() {
            return Ok(changed);
        }
        rest.retain(|change| !blocked.iter().any(|(path, _)| *path == change.path));
        changed.extend(blocked.into_iter().map(|(path, why)| (path, Some(why))));
    }
}

/// The changes that take an apply back.
fn backwards(journal: &Journal, place: &Place) -> Vec<Change> {
    let earlier = |number, entry: Entry, mode| After { entry, contents: place.before(number), mode };
    let steps = journal.steps.iter().enumerate();
    let mut changes: Vec<Change> = steps
        .filter_map(|(number, step)| {
            Some(match step {
                Step::Delete { path, before, mode, .. } => Change {
                    path: path.0.clone(),
                    before: None,
                    after: Some(earlier(number, before.0, Some(*mode))),
                },
                Step::Create { path, after, .. } => {
                    Change { path: path.0.clone(), before: Some(after.0), after: None }
                }
                Step::Replace { path, before, after, .. } => Change {
                    path: path.0.clone(),
                    before: Some(after.0),
                    after: Some(earlier(number, before.0, None)),
                },
                Step::MakeFolder { .. } | Step::RemoveFolder { .. } => return None,
            })
        })
        .collect();
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}
