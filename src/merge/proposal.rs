//! What the box proposes, and its apply.

use super::fate::{Fate, Judged, Settled};
use super::ledger::Ledger;
use super::ours::Ours;
use super::patch::{PatchFile, Stat};
use super::spool::Spool;
use super::transaction::{self, Change};
use super::tree::Tree;
use super::{Remote, kill, links, script, source};
use crate::config::RemoteRoot;
use crate::error::{Error, IoContext, Result};
use crate::worktree::{Base, RelPath};
use std::path::PathBuf;

/// What the box would change here. Nothing is written before [`Proposal::apply`].
#[derive(Debug)]
#[must_use]
pub(crate) struct Proposal {
    /// Every path that differs from the base, in the order of their bytes; odd names last.
    pub(crate) judged: Vec<Judged>,
    /// Repositories that the agent made inside the workspace; they stay in the box.
    pub(crate) nested: Vec<RelPath>,
    /// Files that the box's user cannot read; they stay in the box.
    pub(crate) unreadable: Vec<RelPath>,
    /// The patch.
    pub(crate) patch: PatchFile,
    pub(super) changes: Vec<Change>,
    /// What it was judged against.
    pub(super) base: Base,
    /// What was in step when it was judged; the same, but for `--again`.
    pub(super) in_step: Base,
    pub(super) next_base: Base,
    pub(super) worktree: PathBuf,
    pub(super) root: RemoteRoot,
    pub(super) token: String,
    pub(super) _spool: Spool,
}

/// How an apply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Files were written.
    Applied,
    /// There was work, and all of it is here already.
    AlreadyApplied,
    /// There is nothing new in the box.
    NoChanges,
    /// Something clashes; nothing was changed.
    Conflict,
}

impl Outcome {
    /// The word in the result line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::AlreadyApplied => "already-applied",
            Self::NoChanges => "no-changes",
            Self::Conflict => "conflict",
        }
    }
}

/// What an apply did.
#[derive(Debug)]
pub(crate) struct Applied {
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Files written or removed.
    pub(crate) files: usize,
    /// Bytes of the patch; 0 when nothing was to do.
    pub(crate) bytes: u64,
    /// Of these files: how many were deleted here.
    pub(crate) deleted: usize,
    /// Lines added and taken away.
    pub(crate) lines: Stat,
    /// Where the patch is kept: what was applied, or, after a conflict, what the box did.
    pub(crate) patch: Option<PathBuf>,
    /// The judgement of every path.
    pub(crate) judged: Vec<Judged>,
    /// What a person should know besides: one sentence each.
    pub(crate) notes: Vec<String>,
}

/// So many files may go without a question, however few there are.
const FEW: usize = 10;

impl Proposal {
    /// The same, judged against an earlier base than `in_step`, which is the one that the apply moves.
    pub(crate) fn over(mut self, in_step: Base) -> Self {
        self.in_step = in_step;
        self
    }

    /// How many files an apply would delete here.
    pub(crate) fn deletions(&self) -> usize {
        self.changes.iter().filter(|change| change.after.is_none()).count()
    }

    /// Whether so much would be deleted here that a person should be asked: more than a few files, and more than
    /// half of those that were in step.
    pub(crate) fn deletes_most(&self) -> bool {
        let count = self.deletions();
        count > FEW && 2 * count > self.base.iter().count()
    }

    /// How an apply would end.
    pub(crate) fn outcome(&self) -> Outcome {
        let any = |test: fn(&Fate) -> bool| self.judged.iter().any(|judged| test(&judged.fate));
        if any(|fate| matches!(fate, Fate::Conflict(_))) {
            Outcome::Conflict
        } else if any(Fate::touches) {
            Outcome::Applied
        } else if any(|fate| matches!(fate, Fate::AlreadyHere | Fate::Settled(Settled::Mine))) {
            Outcome::AlreadyApplied
        } else {
            Outcome::NoChanges
        }
    }

    /// Brings all of it into the worktree, or, when anything clashes, nothing. The base moves, the patch
    /// is kept, and the box keeps what came home as the contents that the next merge starts from.
    ///
    /// # Errors
    /// The worktree or the base changed since the fetch, or a write failed; nothing is changed then.
    pub(crate) fn apply(self, remote: &mut dyn Remote, ledger: &Ledger) -> Result<Applied> {
        let mut notes = ledger.recover()?;
        let outcome = self.outcome();
        let mut kept = None;
        match outcome {
            Outcome::Conflict => kept = Some(ledger.keep_conflict(&self.patch.path)?),
            Outcome::Applied => kept = Some(self.write(ledger)?),
            Outcome::AlreadyApplied => {
                let _lock = ledger.lock()?;
                self.base_is_ours(ledger)?;
                ledger.write_base(&self.next_base)?;
            }
            Outcome::NoChanges => {}
        }
        if matches!(outcome, Outcome::Applied | Outcome::AlreadyApplied)
            && let Err(error) = source::keep(remote, &self.root, &self.token, &self.next_base)
        {
            // The work is home. What is lost is the starting point of a later merge, which says so then.
            notes.push(format!("the box did not keep the new base: {error}"));
        }
        let wrote = outcome == Outcome::Applied;
        Ok(Applied {
            outcome,
            files: if wrote { self.changes.len() } else { 0 },
            deleted: if wrote { self.deletions() } else { 0 },
            bytes: if wrote || outcome == Outcome::Conflict { self.patch.bytes } else { 0 },
            lines: if wrote { self.patch.lines } else { Stat::default() },
            patch: kept,
            judged: self.judged,
            notes,
        })
    }

    /// Brings the changes into the worktree; gives the kept patch.
    pub(super) fn write(&self, ledger: &Ledger) -> Result<PathBuf> {
        let _lock = ledger.lock()?;
        self.base_is_ours(ledger)?;
        let tree = Tree::open(&self.worktree)?;
        // Once more, right before the first write; each step looks again at what it takes out.
        for change in &self.changes {
            if !change.fits(tree.at(&change.path)?) {
                return Err(Error::failed(format!(
                    "{} was changed here meanwhile, nothing was changed",
                    change.path
                ))
                .help("do it again to judge the new state"));
            }
        }
        let turned = links::leading_out(&Ours::new(&self.worktree)?, &self.base, &self.changes)?;
        if let Some((path, why)) = turned.into_iter().next() {
            return Err(Error::failed("the links here were changed meanwhile, nothing was changed")
                .fact(path.to_string(), why)
                .help("do it again to judge the new state"));
        }
        let (number, place) = ledger.open_place()?;
        let prepared = (|| {
            let save = |name: &str, base: &Base| {
                let path = place.0.join(name);
                std::fs::write(&path, script::packed(base).0).at("write", &path)
            };
            save("base-before", &self.in_step)?;
            save("base-after", &self.next_base)?;
            let patch = place.0.join("patch");
            // One file is enough where both folders are on one file system.
            match std::fs::hard_link(&self.patch.path, &patch) {
                Ok(()) => Ok(()),
                Err(_) => std::fs::copy(&self.patch.path, &patch).map(|_| ()).at("copy", &self.patch.path),
            }
        })();
        kill::point("apply prepared");
        let journal =
            prepared.and_then(|()| transaction::run(&tree, &self.worktree, &place, &self.changes, None));
        match journal {
            Ok(journal) => {
                ledger.finish(&tree, number, &place, journal).map_err(|error| {
                    error.help("the work is in place; the next apply or undo puts away what it replaced")
                })?;
                ledger.patch(number, "applied")
            }
            Err(error) => {
                if !place.journal().exists() && place.0.exists() && !place.0.join("before").exists() {
                    std::fs::remove_dir_all(&place.0).at("remove", &place.0)?;
                }
                Err(error)
            }
        }
    }

    fn base_is_ours(&self, ledger: &Ledger) -> Result<()> {
        if ledger.base()? == self.in_step {
            return Ok(());
        }
        Err(Error::failed("another apply came in between, nothing was changed").help("do it again"))
    }
}
