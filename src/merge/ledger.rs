//! The state folder of one box's work: the base, the last patches, and what each apply replaced.

use super::journal::{Journal, Phase};
use super::ours::{Here, Ours};
use super::script;
use super::transaction::{self, Place};
use super::tree::Tree;
use crate::error::{Error, IoContext, Result};
use crate::fs::{self, IfThere, Lock, Mode};
use crate::worktree::{Base, RelPath};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// So many patches, and so many applies that can be taken back, are kept.
const KEPT: usize = 20;

/// The base as it was after the upload.
const START: &str = "base-start";

/// The state folder of one box's work. Nothing else of this room outlives the process.
///
/// It holds `base`, `base-start`, `patches/N-applied.patch`, `patches/N-conflict.patch`, and `applies/N/` with the
/// journal and the earlier contents of apply N.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(super) folder: PathBuf,
}

impl Ledger {
    /// The ledger in `folder`, which is made when first written.
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Records what is in step on both sides, after an upload.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn begin(&self, base: &Base) -> Result<()> {
        self.make("")?;
        let _lock = self.lock()?;
        fs::write_atomic(&self.folder.join(START), &script::packed(base).0, Mode::Private)?;
        self.write_base(base)
    }

    /// Whether it is recorded what was in step with the box.
    pub(crate) fn has_base(&self) -> bool {
        self.folder.join("base").exists()
    }

    /// What was in step when the box was started, as far back as that is known.
    ///
    /// # Errors
    /// A record cannot be read.
    pub(crate) fn start(&self) -> Result<Base> {
        let path = self.folder.join(START);
        if path.exists() {
            return read_base(&path);
        }
        // An earlier version wrote none: what the first of the applies that are kept began with.
        for (_, place) in self.applies()? {
            let before = place.0.join("base-before");
            if place.journal().exists() && before.exists() {
                return read_base(&before);
            }
        }
        self.base()
    }

    /// What came home since the start, and is here as it was before: somebody has put it back.
    ///
    /// # Errors
    /// A record or the worktree cannot be read.
    pub(crate) fn put_back(&self, worktree: &Path) -> Result<Vec<RelPath>> {
        let (start, base) = (self.start()?, self.base()?);
        if start == base {
            return Ok(Vec::new());
        }
        let worktree = std::fs::canonicalize(worktree).at("look at", worktree)?;
        let mut ours = Ours::new(&worktree)?;
        let paths: BTreeSet<&RelPath> = start.iter().chain(base.iter()).map(|(path, _)| path).collect();
        let mut found = Vec::new();
        for path in paths {
            let (before, after) = (start.get(path), base.get(path));
            if before == after {
                continue;
            }
            let here = ours.at(path)?;
            let as_before = match here {
                Here::Nothing => before.is_none(),
                Here::Entry(entry) => before == Some(&entry),
                Here::Folder | Here::Special => false,
            };
            if as_before {
                found.push(path.clone());
            }
        }
        Ok(found)
    }

    /// What is in step on both sides.
    ///
    /// # Errors
    /// There is no such record, or it cannot be read.
    pub(crate) fn base(&self) -> Result<Base> {
        let path = self.folder.join("base");
        if !path.exists() {
            return Err(Error::failed("nothing records what was uploaded to this box")
                .fact("expected at", path.display().to_string()));
        }
        read_base(&path)
    }

    pub(super) fn write_base(&self, base: &Base) -> Result<()> {
        fs::write_atomic(&self.folder.join("base"), &script::packed(base).0, Mode::Private)
    }

    pub(super) fn lock(&self) -> Result<Lock> {
        Lock::wait(&self.folder.join("lock"))
    }

    pub(super) fn make(&self, below: &str) -> Result<PathBuf> {
        let folder = self.folder.join(below);
        fs::make_private(&folder)?;
        Ok(folder)
    }

    /// Finishes or takes back what a killed run has left. Gives notes for a person, usually none.
    /// Every fetch, apply and undo begins with it.
    ///
    /// # Errors
    /// The way back is blocked; the next run tries again.
    pub(crate) fn recover(&self) -> Result<Vec<String>> {
        self.make("")?;
        let _lock = self.lock()?;
        self.recover_locked()
    }

    pub(super) fn recover_locked(&self) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for (number, place) in self.applies()? {
            if !place.journal().exists() {
                // Killed before its journal was there: nothing of the worktree was touched.
                if !place.0.join("before").exists() || is_empty(&place.0.join("before")) {
                    std::fs::remove_dir_all(&place.0).at("remove", &place.0)?;
                }
                continue;
            }
            let journal = Journal::read(&place.journal())?;
            match journal.phase {
                Phase::Done => {}
                Phase::Committed => {
                    let tree = Tree::open(&journal.worktree.0)?;
                    self.finish(&tree, number, &place, journal)?;
                    notes.push("an apply that was interrupted was finished".into());
                }
                Phase::Staging | Phase::Swapping => {
                    let tree = Tree::open(&journal.worktree.0)?;
                    notes.extend(transaction::roll_back(&tree, &place, &journal)?);
                    notes.push("an apply that was interrupted was taken back".into());
                }
            }
        }
        Ok(notes)
    }

    /// A new change's folder, with the next free number.
    pub(super) fn open_place(&self) -> Result<(u64, Place)> {
        let applies = self.make("applies")?;
        let number = self.newest()? + 1;
        let place = Place(applies.join(format!("{number:06}")));
        std::fs::DirBuilder::new().mode(0o700).create(&place.0).at("create the folder", &place.0)?;
        Ok((number, place))
    }

    /// All that follows a commit, up to the new base. May be repeated.
    pub(super) fn finish(&self, tree: &Tree, number: u64, place: &Place, mut journal: Journal) -> Result<()> {
        transaction::finish(tree, place, &journal)?;
        let patch = place.0.join("patch");
        if patch.exists() {
            let kept = self.patch(number, "applied")?;
            std::fs::rename(&patch, &kept).at("move", &patch)?;
        }
        super::kill::point("patch kept");
        let base = std::fs::read(place.0.join("base-after")).at("read", &place.0.join("base-after"))?;
        fs::write_atomic(&self.folder.join("base"), &base, Mode::Private)?;
        super::kill::point("base moved");
        if let Some(undone) = journal.undoes {
            let taken_back = self.folder.join(format!("applies/{undone:06}"));
            if taken_back.exists() {
                std::fs::remove_dir_all(&taken_back).at("remove", &taken_back)?;
            }
            return std::fs::remove_dir_all(&place.0).at("remove", &place.0);
        }
        journal.phase = Phase::Done;
        journal.write(&place.journal())?;
        self.prune()
    }

    /// Where the patch of apply `number` is kept.
    pub(super) fn patch(&self, number: u64, word: &str) -> Result<PathBuf> {
        Ok(self.make("patches")?.join(format!("{number:06}-{word}.patch")))
    }

    /// Keeps the patch of work that clashes, and says where.
    pub(super) fn keep_conflict(&self, patch: &Path) -> Result<PathBuf> {
        self.make("")?;
        let _lock = self.lock()?;
        let kept = self.patch(self.newest()? + 1, "conflict")?;
        std::fs::copy(patch, &kept).at("write", &kept)?;
        self.prune()?;
        Ok(kept)
    }

    fn newest(&self) -> Result<u64> {
        let applies = self.applies()?.into_iter().map(|(number, _)| number);
        let patches = self.patches()?.into_iter().map(|(number, _)| number);
        Ok(applies.chain(patches).max().unwrap_or(0))
    }

    pub(super) fn applies(&self) -> Result<Vec<(u64, Place)>> {
        Ok(numbered(&self.folder.join("applies"))?.into_iter().map(|(n, path)| (n, Place(path))).collect())
    }

    /// The kept patches with their numbers, the oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn patches(&self) -> Result<Vec<(u64, PathBuf)>> {
        numbered(&self.folder.join("patches"))
    }

    fn prune(&self) -> Result<()> {
        let patches = self.patches()?;
        for (_, path) in patches.iter().take(patches.len().saturating_sub(KEPT)) {
            std::fs::remove_file(path).at("remove", path)?;
        }
        let applies = self.applies()?;
        for (_, place) in applies.iter().take(applies.len().saturating_sub(KEPT)) {
            std::fs::remove_dir_all(&place.0).at("remove", &place.0)?;
        }
        Ok(())
    }
}

pub(super) fn read_base(path: &Path) -> Result<Base> {
    Base::read(&mut BufReader::new(File::open(path).at("open", path)?)).at("read", path)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// The entries of a folder whose names begin with a number, in the order of the numbers.
fn numbered(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).if_there().at("read", folder)?.into_iter().flatten() {
        let entry = entry.at("read", folder)?;
        let name = entry.file_name();
        let digits: String = name.to_string_lossy().chars().take_while(char::is_ascii_digit).collect();
        if let Ok(number) = digits.parse() {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
