//! A change to the worktree: all of it or nothing, also when the process is killed between two steps.
//!
//! New contents are written beside their targets, then exchanged with them, so that what was there is
//! looked at *after* it was taken out: an edit that came in between is never overwritten.

use super::folders_of;
use super::journal::{Folder, Journal, Name, Phase, State, Step, VERSION};
use super::kill;
use super::ours::Here;
use super::tree::Tree;
use crate::error::{Error, IoContext, Result};
use crate::worktree::{Entry, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a path becomes.
#[derive(Debug, Clone)]
pub(super) struct After {
    /// File or link, and its hash.
    pub(super) entry: Entry,
    /// A file with the contents, or with a link's target.
    pub(super) contents: PathBuf,
    /// Mode bits to give it; those of what it replaces, or the umask's, when `None`.
    pub(super) mode: Option<u32>,
}

/// One path's change.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Which path.
    pub(super) path: RelPath,
    /// What has to be there for the change to be right.
    pub(super) before: Option<Entry>,
    /// What it becomes; `None` removes it.
    pub(super) after: Option<After>,
}

impl Change {
    /// Whether the path is as the change expects it. A folder may be in the place of a new file: its
    /// files are on their way out with the same change.
    pub(super) fn fits(&self, here: Here) -> bool {
        match here {
            Here::Nothing => self.before.is_none(),
            Here::Entry(entry) => self.before == Some(entry),
            Here::Folder => self.before.is_none() && self.after.is_some(),
            Here::Special => false,
        }
    }
}

/// A change's folder in our state: `journal.json`, `before/`, `base-before`, `base-after`.
#[derive(Debug, Clone)]
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn journal(&self) -> PathBuf {
        self.0.join("journal.json")
    }

    /// What step `number` took out of the worktree.
    pub(super) fn before(&self, number: usize) -> PathBuf {
        self.0.join("before").join(number.to_string())
    }
}

/// Carries all changes out, up to and including the commit. On an error everything is as it was.
///
/// # Errors
/// A path is not as its change expects it, or a step failed; both after the way back.
pub(super) fn run(
    tree: &Tree,
    worktree: &Path,
    place: &Place,
    changes: &[Change],
    undoes: Option<u64>,
) -> Result<Journal> {
    let steps = plan(tree, changes, &super::script::token())?;
    std::fs::create_dir_all(place.0.join("before")).at("create the folder", &place.0)?;
    let mut journal = Journal {
        version: VERSION,
        worktree: Folder(worktree.to_path_buf()),
        phase: Phase::Staging,
        undoes,
        steps,
    };
    kill::point("before the journal");
    journal.write(&place.journal())?;
    kill::point("journal written");
    let outcome = stage(tree, changes, &journal.steps).and_then(|()| {
        journal.phase = Phase::Swapping;
        journal.write(&place.journal())?;
        kill::point("all staged");
        swap(tree, &journal.steps)?;
        // The journal may lie on another disk: it must not know of renames that a power cut undoes.
        tree.sync_folders(journal.steps.iter().map(Step::path))?;
        journal.phase = Phase::Committed;
        journal.write(&place.journal())
    });
    match outcome {
        Ok(()) => {
            kill::point("committed");
            Ok(journal)
        }
        Err(error) => {
            let kept = roll_back(tree, place, &journal)?;
            Err(kept.into_iter().fold(error, |error, note| error.fact("note", note)))
        }
    }
}

/// The steps in their order: away, folders away, folders, files.
fn plan(tree: &Tree, changes: &[Change], id: &str) -> Result<Vec<Step>> {
    let writes: BTreeSet<&RelPath> = changes.iter().filter(|c| c.after.is_some()).map(|c| &c.path).collect();
    let deletes: BTreeSet<&RelPath> = changes.iter().filter(|c| c.after.is_none()).map(|c| &c.path).collect();
    let mut known = BTreeMap::new();
    let mut is_folder = |path: &RelPath| -> Result<bool> {
        if let Some(known) = known.get(path) {
            return Ok(*known);
        }
        let folder = tree.is_folder(path)?;
        known.insert(path.clone(), folder);
        Ok(folder)
    };
    let mut count = 0;
    let mut stage_in = |folder: Option<&RelPath>| {
        count += 1;
        let name = format!(".createos-sandbox-{id}-{count}");
        let full = match folder {
            Some(folder) => [folder.as_bytes(), b"/", name.as_bytes()].concat(),
            None => name.into_bytes(),
        };
        Name(RelPath::new(&full).expect("a plain name in a judged folder"))
    };

    let (mut steps, mut files) = (Vec::new(), Vec::new());
    for change in changes {
        // Beside the target, but not in a folder that is about to go or is not there yet.
        let mut beside = None;
        for folder in folders_of(&change.path) {
            if is_folder(&folder)?
                && !folders_of(&folder).any(|f| writes.contains(&f))
                && !writes.contains(&folder)
            {
                beside = Some(folder);
                break;
            }
        }
        let (path, stage) = (Name(change.path.clone()), stage_in(beside.as_ref()));
        match (change.before, &change.after) {
            (Some(before), None) => {
                let mode = tree.look(&change.path)?.map_or(0o644, |look| look.mode);
                steps.push(Step::Delete { path, stage, before: State(before), mode });
            }
            (Some(before), Some(after)) => {
                let (before, after) = (State(before), State(after.entry));
                files.push(Step::Replace { path, stage, before, after });
            }
            (None, Some(after)) => files.push(Step::Create { path, stage, after: State(after.entry) }),
            (None, None) => {}
        }
    }
    for path in &writes {
        if is_folder(path)? {
            let folders = tree.folders_below(path)?;
            steps.extend(folders.into_iter().map(|path| Step::RemoveFolder { path: Name(path) }));
        }
    }
    let mut made = BTreeSet::new();
    for path in &writes {
        let mut missing = Vec::new();
        for folder in folders_of(path) {
            if (is_folder(&folder)? && !deletes.contains(&folder)) || made.contains(&folder) {
                break;
            }
            missing.push(folder);
        }
        for folder in missing.into_iter().rev() {
            steps.push(Step::MakeFolder { path: Name(folder.clone()) });
            made.insert(folder);
        }
    }
    steps.extend(files);
    Ok(steps)
}

/// So many files are synced one by one: that is quicker than to wait for what others write to the disk.
const FEW: usize = 32;

/// Writes the new contents beside their targets, and onto the disk.
fn stage(tree: &Tree, changes: &[Change], steps: &[Step]) -> Result<()> {
    let afters: BTreeMap<&RelPath, &After> =
        changes.iter().filter_map(|change| Some((&change.path, change.after.as_ref()?))).collect();
    let together = afters.len() > FEW;
    for step in steps {
        let (path, stage, replaces) = match step {
            Step::Create { path, stage, .. } => (&path.0, &stage.0, false),
            Step::Replace { path, stage, .. } => (&path.0, &stage.0, true),
            _ => continue,
        };
        let after = afters[path];
        let like = if replaces { tree.look(path)? } else { None };
        tree.stage(stage, after.entry.kind, &after.contents, after.mode, like, together)?;
        kill::point("one staged");
    }
    if together { tree.sync() } else { Ok(()) }
}

fn swap(tree: &Tree, steps: &[Step]) -> Result<()> {
    for step in steps {
        match step {
            Step::Delete { path, stage, before, .. } => {
                moved(path, tree.rename_new(&path.0, &stage.0))?;
                kill::point("one taken out");
                expect(tree, &stage.0, &path.0, before)?;
            }
            Step::RemoveFolder { path } => {
                if !tree.remove_folder(&path.0)? {
                    return Err(changed(&path.0));
                }
            }
            Step::MakeFolder { path } => tree.make_folder(&path.0)?,
            Step::Create { path, stage, .. } => moved(path, tree.rename_new(&stage.0, &path.0))?,
            Step::Replace { path, stage, before, .. } => {
                moved(path, tree.exchange(&stage.0, &path.0, &spare(stage)))?;
                kill::point("one exchanged");
                expect(tree, &stage.0, &path.0, before)?;
            }
        }
        kill::point("one step done");
    }
    Ok(())
}

/// A move that failed because somebody was faster says so.
fn moved(path: &Name, outcome: Result<()>) -> Result<()> {
    outcome.map_err(|error| error.fact("while writing", path.0.to_string()))
}

fn expect(tree: &Tree, taken_out: &RelPath, path: &RelPath, before: &State) -> Result<()> {
    if tree.at(taken_out)? == Here::Entry(before.0) { Ok(()) } else { Err(changed(path)) }
}

fn changed(path: &RelPath) -> Error {
    Error::failed(format!("{path} was changed here while the work was being brought home"))
        .help("nothing was changed; do it again to judge the new state")
}

/// The name that the two-rename exchange uses.
fn spare(stage: &Name) -> RelPath {
    RelPath::new(&[stage.0.as_bytes(), b"o"].concat()).expect("a plain name")
}

/// Takes every step back, last first, whichever of them were taken. May be repeated.
/// Gives notes on what somebody changed meanwhile and was therefore left as it is.
///
/// # Errors
/// A step cannot be taken back; the journal stays, and the next run tries again.
pub(super) fn roll_back(tree: &Tree, place: &Place, journal: &Journal) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for (number, step) in journal.steps.iter().enumerate().rev() {
        kill::point("one step back");
        if journal.phase == Phase::Staging {
            if let Step::Create { stage, .. } | Step::Replace { stage, .. } = step {
                tree.remove(&stage.0)?;
            }
            continue;
        }
        match step {
            Step::Create { path, stage, after } => {
                if tree.exists(&stage.0)? {
                    tree.remove(&stage.0)?;
                } else if tree.at(&path.0)? == Here::Entry(after.0) {
                    tree.remove(&path.0)?;
                }
            }
            Step::Replace { path, stage, after, .. } => {
                let spare = spare(stage);
                if tree.exists(&spare)? {
                    // The two-rename exchange was cut: its first half is taken back, its second finished.
                    if !tree.exists(&path.0)? {
                        tree.rename_new(&spare, &path.0)?;
                    } else {
                        tree.rename_new(&spare, &stage.0)?;
                    }
                }
                let staged = tree.at(&stage.0)?;
                if staged != Here::Nothing && staged != Here::Entry(after.0) {
                    if tree.at(&path.0)? == Here::Entry(after.0) {
                        tree.exchange(&stage.0, &path.0, &spare)?;
                    } else {
                        notes.push(rescue(tree, place, number, &path.0, &stage.0)?);
                    }
                }
                tree.remove(&stage.0)?;
            }
            Step::Delete { path, stage, .. } => {
                if tree.exists(&stage.0)? {
                    if !tree.exists(&path.0)? {
                        tree.rename_new(&stage.0, &path.0)?;
                    } else {
                        notes.push(rescue(tree, place, number, &path.0, &stage.0)?);
                    }
                }
            }
            Step::MakeFolder { path } => {
                tree.remove_folder(&path.0)?;
            }
            Step::RemoveFolder { path } => tree.make_folder(&path.0)?,
        }
    }
    std::fs::remove_file(place.journal()).at("remove", &place.journal())?;
    if notes.is_empty() {
        std::fs::remove_dir_all(&place.0).at("remove", &place.0)?;
    }
    Ok(notes)
}

/// Somebody changed a path after our step: theirs stays, what was there before is kept with us.
fn rescue(tree: &Tree, place: &Place, number: usize, path: &RelPath, stage: &RelPath) -> Result<String> {
    let kept = place.before(number);
    tree.take_out(stage, &kept)?;
    Ok(format!("{path} was changed meanwhile and stays; what it was before is in {}", kept.display()))
}

/// What follows the commit: what was taken out moves to our state, empty folders go. May be repeated.
///
/// # Errors
/// A step failed; the journal stays, and the next run tries again.
pub(super) fn finish(tree: &Tree, place: &Place, journal: &Journal) -> Result<()> {
    for (number, step) in journal.steps.iter().enumerate() {
        if let Step::Replace { stage, .. } | Step::Delete { stage, .. } = step
            && tree.exists(&stage.0)?
        {
            tree.take_out(&stage.0, &place.before(number))?;
            kill::point("one put away");
        }
    }
    for step in &journal.steps {
        if let Step::Delete { path, .. } = step {
            tree.prune_above(&path.0)?;
        }
    }
    Ok(())
}
