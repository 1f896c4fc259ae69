//! Every path that the box changed, judged before anything is written. The order of the stages is that of [`judge`].

use super::case::{Case, Filters};
use super::fate::{Fate, Judged};
use super::index::{self, Marks};
use super::links::Links;
use super::ours::Ours;
use super::parcel::{Arrived, Parcel};
use super::proposal::Proposal;
use super::runs_code::Hot;
use super::source::Source;
use super::spool::Spool;
use super::transaction::Change;
use super::{Limits, Remote, patch};
use crate::config::RemoteRoot;
use crate::error::{IoContext, Result};
use crate::worktree::{Base, FileKind, RelPath};
use std::collections::BTreeMap;
use std::path::Path;

/// Lists what the box changed since `base`, brings the contents here and judges every path. Changes
/// nothing here.
///
/// # Errors
/// The box cannot be asked, or its answer cannot be trusted; the worktree cannot be read.
pub(crate) fn propose(
    remote: &mut dyn Remote,
    root: &RemoteRoot,
    worktree: &Path,
    base: &Base,
    filters: &Filters<'_>,
) -> Result<Proposal> {
    propose_from(Source { remote, root, limits: Limits::default() }, worktree, base, filters)
}

/// [`propose`] with limits of the caller's.
pub(super) fn propose_from(
    mut source: Source<'_>,
    worktree: &Path,
    base: &Base,
    filters: &Filters<'_>,
) -> Result<Proposal> {
    let worktree = std::fs::canonicalize(worktree).at("look at", worktree)?;
    let spool = Spool::new()?;
    let (parcel, token) = source.settled(base, &spool)?;
    judge(&mut source, &worktree, base, filters, parcel, token, spool)
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
    let mut case = Case::new(base, &mut ours, &marks, filters, &parcel, &spool);

    case.drop_what_stays()?;
    let theirs = case.theirs().into_iter();
    let arrives = |arrived: &Arrived| (arrived.entry.kind, arrived.contents.clone());
    let coming = theirs.map(|(path, arrived)| (path, arrived.map(arrives)));
    let links = Links::new(case.ours, base, coming)?;
    links.drop_those_that_lead_out(&mut case.dropped);
    let merges = case.compare()?;
    let bases = case.base_contents(source, &merges)?;
    case.merge_all(merges, &bases)?;
    case.mark_obstacles()?;
    case.settle()?;
    case.drop_links_that_now_lead_out()?;
    case.changes.sort_by(|a, b| a.path.cmp(&b.path));

    let next_base = case.next_base();
    let patch = if case.clashes() {
        let shown = parcel.changed.keys().chain(&parcel.gone).filter(|path| !case.dropped.contains_key(path));
        patch::of_theirs(&spool, worktree, base, &parcel, &bases, shown)?
    } else {
        patch::of_changes(&spool, worktree, &case.changes)?
    };
    let leading = links.leading_to(&case.dropped);
    let hot = Hot::new(touched(&case.changes, &links), &leading);
    let Case { fates, changes, .. } = case;
    Ok(Proposal {
        judged: judged(fates, &parcel, &links, &hot),
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

/// The paths that an apply touches, and whether they are or were a link.
fn touched(changes: &[Change], links: &Links) -> BTreeMap<Vec<u8>, bool> {
    let touched = changes.iter().map(|change| {
        let after = change.after.as_ref().map(|after| after.entry);
        let link = [change.before, after].into_iter().flatten().any(|entry| entry.kind == FileKind::Link);
        (links.key(change.path.as_bytes()), link)
    });
    touched.collect()
}

/// Every path with its fate, and after them the names that no worktree may hold.
fn judged(fates: BTreeMap<RelPath, Fate>, parcel: &Parcel, links: &Links, hot: &Hot<'_>) -> Vec<Judged> {
    let mut judged: Vec<Judged> = fates
        .into_iter()
        .map(|(path, fate)| {
            let runs_code = if fate.touches() { hot.why(&links.key(path.as_bytes())) } else { None };
            Judged { name: path.to_string(), path: Some(path), fate, runs_code }
        })
        .collect();
    judged.extend(parcel.odd.iter().map(|(name, why)| Judged {
        name: String::from_utf8_lossy(name).into_owned(),
        path: None,
        fate: Fate::Dropped(why.to_string()),
        runs_code: None,
    }));
    judged
}
