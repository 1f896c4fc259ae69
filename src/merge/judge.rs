//! Every path that the box changed, judged before anything is written.

use super::index::{self, Marks};
use super::links::{self, Links};
use super::merge_file::{self, Merge};
use super::obstacles::obstacles;
use super::on_clash::{OnClash, Settled};
use super::ours::{Here, Ours, Way};
use super::parcel::{Arrived, Parcel};
use super::proposal::{Fate, Judged, Proposal, What};
use super::runs_code::Hot;
use super::source::Source;
use super::spool::Spool;
use super::transaction::{After, Change};
use super::verdict::{Clash, Verdict, verdict};
use super::{folders_of, proposal};
use crate::error::Result;
use crate::fs::Digest;
use crate::worktree::{Base, Entry, Kind, RelPath};
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

/// Judges the whole parcel.
///
/// # Errors
/// The worktree cannot be read, or the box cannot give the contents that a merge needs.
pub(super) fn judge(
    source: &mut Source<'_>,
    worktree: &Path,
    base: &Base,
    filters: &Filters<'_>,
    parcel: Parcel,
    token: String,
    spool: Spool,
) -> Result<Proposal> {
    let mut ours = Ours::new(worktree)?;
    let nothing = parcel.changed.is_empty() && parcel.gone.is_empty();
    let marks = if nothing { Marks::default() } else { index::read(filters.git, worktree)? };
    let mut case = Case { base, ours: &mut ours, marks: &marks, filters, parcel: &parcel, spool: &spool };

    let mut dropped = case.dropped()?;
    let judged_links = Links::new(case.ours, base, &case.theirs())?;
    judged_links.drop_those_that_lead_out(&mut dropped);
    let mut fates = BTreeMap::new();
    let mut changes = Vec::new();
    let mut merges = Vec::new();
    for (path, theirs) in case.theirs() {
        if let Some(why) = dropped.get(&path) {
            fates.insert(path, Fate::Dropped(why.clone()));
            continue;
        }
        let (was, here) = (base.get(&path).copied(), case.ours.at(&path)?);
        let entry = theirs.map(|arrived| arrived.entry);
        if case.marks.left_out.contains(&path) {
            fates.insert(path, Fate::Conflict("your sparse checkout leaves it out".into()));
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
                changes.push(Change { path: path.clone(), before: here.entry(), after: theirs.map(take) });
                Fate::Take(what)
            }
            Verdict::Merge(kind) => {
                merges.push((path.clone(), kind));
                continue;
            }
        };
        fates.insert(path, fate);
    }
    let bases = case.base_contents(source, &merges, &fates)?;
    for (path, kind) in merges {
        let fate = case.merge(&path, kind, bases.get(&path), &mut changes)?;
        fates.insert(path, fate);
    }
    for (path, why) in obstacles(case.ours, &changes)? {
        fates.insert(path, Fate::Conflict(why));
    }
    case.settle(&mut fates, &mut changes)?;
    if filters.on_clash == OnClash::Mine {
        // Links were judged as if all of theirs came.
        let turned = links::leading_out(case.ours, base, &changes)?;
        changes.retain(|change| !turned.contains_key(&change.path));
        for (path, why) in turned {
            dropped.insert(path.clone(), why.clone());
            fates.insert(path, Fate::Dropped(why));
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));

    let next_base = case.next_base(&fates);
    let clashes = fates.values().any(|fate| matches!(fate, Fate::Conflict(_)));
    let patch = if clashes {
        let shown = parcel.changed.keys().chain(&parcel.gone).filter(|path| !dropped.contains_key(path));
        proposal::patch_of_theirs(&spool, worktree, base, &parcel, &bases, shown)?
    } else {
        proposal::patch_of(&spool, worktree, &changes)?
    };
    let touched = changes.iter().map(|change| {
        let after = change.after.as_ref().map(|after| after.entry);
        let link = [change.before, after].into_iter().flatten().any(|entry| entry.kind == Kind::Link);
        (judged_links.key(change.path.as_bytes()), link)
    });
    let leading = judged_links.leading_to(&dropped);
    let hot = Hot::new(touched.collect(), &leading);
    let mut judged: Vec<Judged> = fates
        .into_iter()
        .map(|(path, fate)| {
            let runs_code = if fate.touches() { hot.why(&judged_links.key(path.as_bytes())) } else { None };
            Judged { name: path.to_string(), path: Some(path), fate, runs_code }
        })
        .collect();
    judged.extend(parcel.odd.iter().map(|(name, why)| Judged {
        name: String::from_utf8_lossy(name).into_owned(),
        path: None,
        fate: Fate::Dropped(why.to_string()),
        runs_code: None,
    }));
    Ok(Proposal {
        judged,
        nested: parcel.nested,
        unreadable: parcel.unreadable,
        patch,
        changes,
        base: base.clone(),
        in_step: base.clone(),
        next_base,
        worktree: worktree.to_path_buf(),
        root: source.root.clone(),
        token,
        _spool: spool,
    })
}

fn take(arrived: &Arrived) -> After {
    After { entry: arrived.entry, contents: arrived.contents.clone(), mode: None }
}

struct Case<'a, 'b> {
    base: &'a Base,
    ours: &'a mut Ours<'b>,
    marks: &'a Marks,
    filters: &'a Filters<'a>,
    parcel: &'a Parcel,
    spool: &'a Spool,
}

impl<'a> Case<'a, '_> {
    /// All paths that differ from the base, in the order of their bytes.
    fn theirs(&self) -> BTreeMap<RelPath, Option<&'a Arrived>> {
        let same = |path: &RelPath, arrived: &Arrived| self.base.get(path) == Some(&arrived.entry);
        let changed = self.parcel.changed.iter().filter(|(path, arrived)| !same(path, arrived));
        let changed = changed.map(|(path, arrived)| (path.clone(), Some(arrived)));
        changed.chain(self.parcel.gone.iter().map(|path| (path.clone(), None))).collect()
    }

    /// What does not come home whatever it holds, and why.
    fn dropped(&mut self) -> Result<BTreeMap<RelPath, String>> {
        let mut dropped = BTreeMap::new();
        for (path, _) in self.theirs() {
            let why = match (self.filters.keeps_home)(&path) {
                Some(why) => Some(why),
                None => self.elsewhere(&path)?,
            };
            if let Some(why) = why {
                dropped.insert(path, why);
            }
        }
        let mut askable = Vec::new();
        for (path, _) in self.theirs() {
            let mut behind_link = false;
            for folder in folders_of(&path) {
                behind_link |= self.ours.way(&folder)? == Way::Link;
            }
            // What is in the base was here and in the box: an ignored file is there because it was sent on purpose.
            if !behind_link && !dropped.contains_key(&path) && self.base.get(&path).is_none() {
                askable.push(path);
            }
        }
        for path in index::ignored(self.filters.git, self.ours.root(), askable.iter())? {
            dropped.insert(path, "ignored here by git".into());
        }
        Ok(dropped)
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

    /// The base's contents from the box, for merges, and for the patch of what clashes.
    fn base_contents(
        &self,
        source: &mut Source<'_>,
        merges: &[(RelPath, Kind)],
        fates: &BTreeMap<RelPath, Fate>,
    ) -> Result<BTreeMap<RelPath, PathBuf>> {
        let clashes = fates.iter().filter(|(_, fate)| matches!(fate, Fate::Conflict(_)));
        let paths = merges.iter().map(|(path, _)| path).chain(clashes.map(|(path, _)| path));
        let wanted: Vec<(RelPath, Digest)> = paths
            .filter_map(|path| {
                Some((path.clone(), self.base.get(path).filter(|e| e.kind != Kind::Link)?.hash))
            })
            .collect();
        let found = source.base_contents(&wanted, self.spool)?;
        Ok(found.into_iter().map(|(number, contents)| (wanted[number].0.clone(), contents)).collect())
    }

    /// Merges one file that both sides changed.
    fn merge(
        &mut self,
        path: &RelPath,
        kind: Kind,
        base: Option<&PathBuf>,
        changes: &mut Vec<Change>,
    ) -> Result<Fate> {
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
        changes.push(Change { path: path.clone(), before: Some(here), after: Some(after) });
        Ok(fate)
    }

    /// What a person wants done with the paths that clash, as far as it can be done.
    fn settle(&mut self, fates: &mut BTreeMap<RelPath, Fate>, changes: &mut Vec<Change>) -> Result<()> {
        let settled = match self.filters.on_clash {
            OnClash::Refuse | OnClash::Mark => return Ok(()),
            OnClash::Mine => Settled::Mine,
            OnClash::Theirs => Settled::Theirs,
        };
        let theirs = self.theirs();
        changes.retain(|change| !matches!(fates.get(&change.path), Some(Fate::Conflict(_))));
        for (path, fate) in fates.iter_mut().filter(|(_, fate)| matches!(fate, Fate::Conflict(_))) {
            let here = self.ours.at(path)?;
            if settled == Settled::Theirs {
                // A folder or a special file is nothing that a file could replace.
                if matches!(here, Here::Folder | Here::Special) {
                    continue;
                }
                let after = theirs.get(path).copied().flatten().map(take);
                changes.push(Change { path: path.clone(), before: here.entry(), after });
            }
            *fate = Fate::Settled(settled);
        }
        for (path, why) in obstacles(self.ours, changes)? {
            fates.insert(path, Fate::Conflict(why));
        }
        Ok(())
    }

    /// What is in step on both sides when all of this is home: theirs, but for what was dropped.
    fn next_base(&self, fates: &BTreeMap<RelPath, Fate>) -> Base {
        let mut next = self.base.clone();
        for (path, theirs) in self.theirs() {
            match (fates.get(&path), theirs) {
                (Some(Fate::Dropped(_) | Fate::Conflict(_)) | None, _) => {}
                (Some(_), Some(arrived)) => next.insert(path, arrived.entry),
                (Some(_), None) => next.remove(&path),
            }
        }
        next
    }
}
