//! A parcel before its judge: the base, ours and theirs, and the stages of the judgement, each of which adds to it.

use super::fate::{Fate, OnClash, Settled, What};
use super::index::{self, Marks};
use super::merge_file::{self, Merge};
use super::obstacles::obstacles;
use super::ours::{Here, Ours, Way};
use super::parcel::{Arrived, Parcel};
use super::source::Source;
use super::spool::Spool;
use super::transaction::{After, Change};
use super::verdict::{Clash, Verdict, verdict};
use super::{folders_of, links};
use crate::error::Result;
use crate::worktree::{Base, Entry, FileKind, RelPath};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the judgement follows besides the three states.
pub(crate) struct Filters<'a> {
    /// The user's own git.
    pub(crate) git: &'a Path,
    /// Why the upload's filters keep a path at home, if they do.
    pub(crate) keeps_home: &'a dyn Fn(&RelPath) -> Option<String>,
    /// What a person wants where both sides changed the same.
    pub(crate) on_clash: OnClash,
}

pub(super) struct Case<'a, 'b> {
    base: &'a Base,
    pub(super) ours: &'a mut Ours<'b>,
    marks: &'a Marks,
    filters: &'a Filters<'a>,
    parcel: &'a Parcel,
    spool: &'a Spool,
    /// What does not come home, and why.
    pub(super) dropped: BTreeMap<RelPath, String>,
    pub(super) fates: BTreeMap<RelPath, Fate>,
    /// What an apply would write.
    pub(super) changes: Vec<Change>,
}

impl<'a, 'b> Case<'a, 'b> {
    pub(super) fn new(
        base: &'a Base,
        ours: &'a mut Ours<'b>,
        marks: &'a Marks,
        filters: &'a Filters<'a>,
        parcel: &'a Parcel,
        spool: &'a Spool,
    ) -> Self {
        let (dropped, fates, changes) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { base, ours, marks, filters, parcel, spool, dropped, fates, changes }
    }

    /// All paths that differ from the base, in the order of their bytes.
    pub(super) fn theirs(&self) -> BTreeMap<RelPath, Option<&'a Arrived>> {
        let same = |path: &RelPath, arrived: &Arrived| self.base.get(path) == Some(&arrived.entry);
        let changed = self.parcel.changed.iter().filter(|(path, arrived)| !same(path, arrived));
        let changed = changed.map(|(path, arrived)| (path.clone(), Some(arrived)));
        changed.chain(self.parcel.gone.iter().map(|path| (path.clone(), None))).collect()
    }

    pub(super) fn clashes(&self) -> bool {
        self.fates.values().any(|fate| matches!(fate, Fate::Conflict(_)))
    }

    /// What does not come home whatever it holds.
    pub(super) fn drop_what_stays(&mut self) -> Result<()> {
        for (path, _) in self.theirs() {
            let why = match (self.filters.keeps_home)(&path) {
                Some(why) => Some(why),
                None => self.elsewhere(&path)?,
            };
            if let Some(why) = why {
                self.dropped.insert(path, why);
            }
        }
        let mut askable = Vec::new();
        for (path, _) in self.theirs() {
            let mut behind_link = false;
            for folder in folders_of(&path) {
                behind_link |= self.ours.way(&folder)? == Way::Link;
            }
            // What is in the base was here and in the box: an ignored file is there because it was sent on purpose.
            if !behind_link && !self.dropped.contains_key(&path) && self.base.get(&path).is_none() {
                askable.push(path);
            }
        }
        for path in index::ignored(self.filters.git, self.ours.root(), askable.iter())? {
            self.dropped.insert(path, "ignored here by git".into());
        }
        Ok(())
    }

    /// Whether the path belongs to another repository here.
    fn elsewhere(&mut self, path: &RelPath) -> Result<Option<String>> {
        if self.marks.submodules.contains(path) {
            return Ok(Some("it is a submodule here".into()));
        }
        for folder in folders_of(path) {
            if self.marks.submodules.contains(&folder) {
                return Ok(Some(format!("inside the submodule {folder}")));
            }
            if self.ours.way(&folder)? == Way::Repository {
                return Ok(Some(format!("inside {folder}, which is a repository of its own here")));
            }
        }
        Ok(None)
    }

    /// Compares the three states of every path. What both sides changed is left to be merged, and is the answer.
    pub(super) fn compare(&mut self) -> Result<Vec<(RelPath, FileKind)>> {
        let mut merges = Vec::new();
        for (path, theirs) in self.theirs() {
            if let Some(why) = self.dropped.get(&path) {
                self.fates.insert(path, Fate::Dropped(why.clone()));
                continue;
            }
            let (was, here) = (self.base.get(&path).copied(), self.ours.at(&path)?);
            let entry = theirs.map(|arrived| arrived.entry);
            if self.marks.left_out.contains(&path) {
                self.fates.insert(path, Fate::Conflict("your sparse checkout leaves it out".into()));
                continue;
            }
            let fate = match verdict(was, entry, here) {
                Verdict::Here => Fate::AlreadyHere,
                Verdict::Clash(clash) => Fate::Conflict(clash.reason().into()),
                Verdict::Take => {
                    let what = match (here.entry(), theirs) {
                        (None, _) => What::Added,
                        (_, None) => What::Deleted,
                        _ => What::Changed,
                    };
                    let (before, after) = (here.entry(), theirs.map(take));
                    self.changes.push(Change { path: path.clone(), before, after });
                    Fate::Take(what)
                }
                Verdict::Merge(kind) => {
                    merges.push((path, kind));
                    continue;
                }
            };
            self.fates.insert(path, fate);
        }
        Ok(merges)
    }

    /// The base's contents from the box, for merges, and for the patch of what clashes.
    pub(super) fn base_contents(
        &self,
        source: &mut Source<'_>,
        merges: &[(RelPath, FileKind)],
    ) -> Result<BTreeMap<RelPath, PathBuf>> {
        let clashes = self.fates.iter().filter(|(_, fate)| matches!(fate, Fate::Conflict(_)));
        let paths = merges.iter().map(|(path, _)| path).chain(clashes.map(|(path, _)| path));
        source.base_contents(self.base, paths, self.spool)
    }

    pub(super) fn merge_all(
        &mut self,
        merges: Vec<(RelPath, FileKind)>,
        bases: &BTreeMap<RelPath, PathBuf>,
    ) -> Result<()> {
        for (path, kind) in merges {
            let fate = self.merge(&path, kind, bases.get(&path))?;
            self.fates.insert(path, fate);
        }
        Ok(())
    }

    /// Merges one file that both sides changed.
    fn merge(&mut self, path: &RelPath, kind: FileKind, base: Option<&PathBuf>) -> Result<Fate> {
        let full = self.ours.root().join(path.as_path());
        let mut fate = Fate::Merged;
        let (Some(was), Some(arrived), Here::Entry(here)) =
            (self.base.get(path), self.parcel.changed.get(path), self.ours.at(path)?)
        else {
            return Ok(Fate::Conflict(Clash::BothChanged.reason().into()));
        };
        let contents = if arrived.entry.hash == was.hash || arrived.entry.hash == here.hash {
            full
        } else if here.hash == was.hash {
            arrived.contents.clone()
        } else {
            let Some(base) = base else {
                return Ok(Fate::Conflict(
                    "both sides changed it, and the box no longer has what they started from".into(),
                ));
            };
            match merge_file::merge(self.filters.git, self.spool, &full, base, &arrived.contents)? {
                Merge::Clean(merged) => merged,
                Merge::Lines(marked) if self.filters.on_clash == OnClash::Mark => {
                    fate = Fate::Settled(Settled::Marked);
                    marked
                }
                Merge::Lines(_) => return Ok(Fate::Conflict("both sides changed the same lines".into())),
                Merge::Unmergeable => {
                    return Ok(Fate::Conflict("both sides changed it, and it is no text".into()));
                }
            }
        };
        // A copy: ours may change before it is written.
        let (contents, hash) = self.spool.copy(&contents)?;
        let entry = Entry { kind, hash };
        if entry == here {
            return Ok(Fate::AlreadyHere);
        }
        let after = After { entry, contents, mode: None };
        self.changes.push(Change { path: path.clone(), before: Some(here), after: Some(after) });
        Ok(fate)
    }

    /// What stands in the way of the changes makes them clash.
    pub(super) fn mark_obstacles(&mut self) -> Result<()> {
        for (path, why) in obstacles(self.ours, &self.changes)? {
            self.fates.insert(path, Fate::Conflict(why));
        }
        Ok(())
    }

    /// What a person wants done with the paths that clash, as far as it can be done.
    pub(super) fn settle(&mut self) -> Result<()> {
        let settled = match self.filters.on_clash {
            OnClash::Refuse | OnClash::Mark => return Ok(()),
            OnClash::Mine => Settled::Mine,
            OnClash::Theirs => Settled::Theirs,
        };
        let theirs = self.theirs();
        let is_conflict = |fate: &Fate| matches!(fate, Fate::Conflict(_));
        self.changes.retain(|change| !self.fates.get(&change.path).is_some_and(is_conflict));
        for (path, fate) in self.fates.iter_mut().filter(|(_, fate)| is_conflict(fate)) {
            let here = self.ours.at(path)?;
            if settled == Settled::Theirs {
                // A folder or a special file is nothing that a file could replace.
                if matches!(here, Here::Folder | Here::Special) {
                    continue;
                }
                let after = theirs.get(path).copied().flatten().map(take);
                self.changes.push(Change { path: path.clone(), before: here.entry(), after });
            }
            *fate = Fate::Settled(settled);
        }
        self.mark_obstacles()
    }

    /// Links were judged as if all of theirs came; where ours stay, some may lead out.
    pub(super) fn drop_links_that_now_lead_out(&mut self) -> Result<()> {
        if self.filters.on_clash != OnClash::Mine {
            return Ok(());
        }
        let turned = links::leading_out(self.ours, self.base, &self.changes)?;
        self.changes.retain(|change| !turned.contains_key(&change.path));
        for (path, why) in turned {
            self.dropped.insert(path.clone(), why.clone());
            self.fates.insert(path, Fate::Dropped(why));
        }
        Ok(())
    }

    /// What is in step on both sides when all of this is home: theirs, but for what was dropped.
    pub(super) fn next_base(&self) -> Base {
        let mut next = self.base.clone();
        for (path, theirs) in self.theirs() {
            match (self.fates.get(&path), theirs) {
                (Some(Fate::Dropped(_) | Fate::Conflict(_)) | None, _) => {}
                (Some(_), Some(arrived)) => next.insert(path, arrived.entry),
                (Some(_), None) => next.remove(&path),
            }
        }
        next
    }
}

fn take(arrived: &Arrived) -> After {
    After { entry: arrived.entry, contents: arrived.contents.clone(), mode: None }
}
