//! The links of the worktree, as it is and as it would be, and where they lead.

use super::ours::Ours;
use super::transaction::Change;
use crate::error::{IoContext, Result};
use crate::worktree::{Base, FileKind, Leads, RelPath, follow};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What does not come home, and why.
pub(super) type Dropped = BTreeMap<RelPath, String>;

/// All links by the key of their path. Links need each other: one that comes or goes turns those whose
/// way goes through it, whoever made them and however long ago.
#[derive(Debug)]
pub(super) struct Links {
    root: Vec<u8>,
    folds_case: bool,
    now: BTreeMap<Vec<u8>, (RelPath, Vec<u8>)>,
    /// What each changed path becomes: a link's target, or nothing for what is no link.
    coming: BTreeMap<Vec<u8>, (RelPath, Option<Vec<u8>>)>,
    /// Links of the base that are not here: whoever brings one back turns what leads through it.
    absent: BTreeSet<Vec<u8>>,
}

/// What of the changes would lead out of the worktree as it is at this moment.
///
/// # Errors
/// The worktree or a target cannot be read.
pub(super) fn leading_out(ours: &Ours<'_>, base: &Base, changes: &[Change]) -> Result<Dropped> {
    let link = |kind: FileKind| kind == FileKind::Link;
    let turns = |change: &Change| {
        change.before.is_some_and(|before| link(before.kind))
            || change.after.as_ref().is_some_and(|after| link(after.entry.kind))
    };
    let mut dropped = Dropped::new();
    if changes.iter().any(turns) {
        let after = |change: &'_ Change| {
            change.after.as_ref().map(|after| (after.entry.kind, after.contents.clone()))
        };
        let coming = changes.iter().map(|change| (change.path.clone(), after(change)));
        Links::new(ours, base, coming)?.drop_those_that_lead_out(&mut dropped);
    }
    Ok(dropped)
}

impl Links {
    /// `theirs` are the changed paths.
    ///
    /// # Errors
    /// The worktree or a target that arrived cannot be read.
    pub(super) fn new(
        ours: &Ours<'_>,
        base: &Base,
        coming: impl Iterator<Item = (RelPath, Option<(FileKind, PathBuf)>)>,
    ) -> Result<Self> {
        let mut links = Self {
            root: ours.root().as_os_str().as_bytes().to_vec(),
            folds_case: ours.folds_case(),
            now: BTreeMap::new(),
            coming: BTreeMap::new(),
            absent: BTreeSet::new(),
        };
        for (path, becomes) in coming {
            let comes = becomes.is_some();
            let link = becomes.filter(|(kind, _)| *kind == FileKind::Link);
            let target = link.map(|(_, contents)| std::fs::read(&contents).at("read", &contents));
            let key = links.key(path.as_bytes());
            // Where case folds, a new spelling counts more than the old one that goes.
            if comes || !links.coming.contains_key(&key) {
                links.coming.insert(key, (path, target.transpose()?));
            }
        }
        if links.coming.is_empty() {
            return Ok(links);
        }
        links.look(ours)?;
        let of_base = base.iter().filter(|(_, entry)| entry.kind == FileKind::Link);
        let keys = of_base.map(|(path, _)| links.key(path.as_bytes()));
        links.absent = keys.filter(|key| !links.now.contains_key(key)).collect();
        Ok(links)
    }

    /// Finds every link of the worktree, whatever git thinks of it, and follows none.
    fn look(&mut self, ours: &Ours<'_>) -> Result<()> {
        let mut folders = vec![Vec::new()];
        while let Some(folder) = folders.pop() {
            let full = ours.root().join(std::ffi::OsStr::from_bytes(&folder));
            let entries = match std::fs::read_dir(&full) {
                // Whoever cannot look into a folder cannot find its links either.
                Err(error) if matches!(error.kind(), PermissionDenied | NotFound) => continue,
                entries => entries.at("read", &full)?,
            };
            for entry in entries {
                let entry = entry.at("read", &full)?;
                let kind = entry.file_type().at("look at", &entry.path())?;
                if !kind.is_dir() && !kind.is_symlink() {
                    continue;
                }
                let name = entry.file_name();
                let inner = if folder.is_empty() {
                    name.as_bytes().to_vec()
                } else {
                    [&folder[..], b"/", name.as_bytes()].concat()
                };
                // Only git's own folders are no paths; nobody leads into them.
                let Ok(path) = RelPath::new(&inner) else { continue };
                if kind.is_dir() {
                    folders.push(inner);
                } else {
                    let target = std::fs::read_link(entry.path()).at("read the link", &entry.path())?;
                    self.now.insert(self.key(&inner), (path, target.as_os_str().as_bytes().to_vec()));
                }
            }
        }
        Ok(())
    }

    /// Same for all spellings that this disk takes for one path.
    pub(super) fn key(&self, path: &[u8]) -> Vec<u8> {
        match self.folds_case {
            true => String::from_utf8_lossy(path).to_lowercase().into_bytes(),
            false => path.to_vec(),
        }
    }

    /// The change of this path that is not dropped.
    fn change(&self, key: &[u8], dropped: &Dropped) -> Option<&(RelPath, Option<Vec<u8>>)> {
        self.coming.get(key).filter(|(path, _)| !dropped.contains_key(path))
    }

    /// The target of a link in the tree as it would be.
    fn then(&self, key: &[u8], dropped: &Dropped) -> Option<&Vec<u8>> {
        match self.change(key, dropped) {
            Some((_, target)) => target.as_ref(),
            None => self.now.get(key).map(|(_, target)| target),
        }
    }

    /// Whether a link of the base is neither here nor on its way.
    fn is_absent(&self, key: &[u8], dropped: &Dropped) -> bool {
        self.absent.contains(key) && self.change(key, dropped).is_none()
    }

    /// Follows a link in the tree as it would be; `seen` gets the key of every place on the way.
    fn follow(
        &self,
        path: &RelPath,
        target: &[u8],
        dropped: &Dropped,
        seen: &mut BTreeSet<Vec<u8>>,
    ) -> (Leads, Vec<u8>) {
        follow(path.as_bytes(), target, |at| {
            let key = self.key(at);
            let target = self.then(&key, dropped).cloned();
            seen.insert(key);
            target
        })
    }

    /// Links that come home.
    fn arriving<'a>(&'a self, dropped: &'a Dropped) -> impl Iterator<Item = (&'a RelPath, &'a [u8])> {
        let coming = self.coming.values().filter(|(path, _)| !dropped.contains_key(path));
        coming.filter_map(|(path, target)| Some((path, target.as_deref()?)))
    }

    /// Links of this machine that stay, with their target as seen from their folder: an absolute one into
    /// the worktree goes the same ways as a relative one.
    fn staying<'a>(&'a self, dropped: &'a Dropped) -> impl Iterator<Item = (&'a RelPath, Vec<u8>)> {
        let staying = self.now.iter().filter(|(key, _)| self.change(key, dropped).is_none());
        staying.map(|(_, (path, target))| {
            let inner = target.strip_prefix(&self.root[..]).and_then(|rest| rest.strip_prefix(b"/"));
            let target = match inner {
                Some(inner) => [&b"../".repeat(path.components().count() - 1)[..], b"./", inner].concat(),
                None => target.clone(),
            };
            (path, target)
        })
    }

    /// Drops the links that would lead out of the worktree, and the changes through which a link that is
    /// here already would. Dropping one may turn another.
    pub(super) fn drop_those_that_lead_out(&self, dropped: &mut Dropped) {
        loop {
            let (mut more, before) = (Dropped::new(), dropped.len());
            for (path, target) in self.coming.values() {
                let Some(target) = target.as_ref().filter(|_| !dropped.contains_key(path)) else { continue };
                let mut seen = BTreeSet::new();
                let why = word(self.follow(path, target, dropped, &mut seen).0);
                let target = String::from_utf8_lossy(target);
                if let Some(why) = why {
                    dropped.insert(path.clone(), format!("a link that leads {why}: {target}"));
                } else if let Some(absent) = seen.iter().find(|key| self.is_absent(key, dropped)) {
                    let absent = String::from_utf8_lossy(absent);
                    dropped.insert(
                        path.clone(),
                        format!("a link that leads through {absent}, a link that is not here: {target}"),
                    );
                }
            }
            if dropped.len() == before {
                for (path, target) in self.staying(dropped) {
                    let mut seen = BTreeSet::new();
                    let Some(why) = word(self.follow(path, &target, dropped, &mut seen).0) else { continue };
                    for key in seen {
                        let was = self.now.get(&key).map(|(_, target)| target);
                        if let Some((change, target)) = self.change(&key, dropped)
                            && target.as_ref() != was
                        {
                            more.insert(change.clone(), format!("it would make the link {path} lead {why}"));
                        }
                    }
                }
            }
            dropped.extend(more);
            if dropped.len() == before {
                return;
            }
        }
    }

    /// For each place that a link of the tree as it would be ends at or passes, by keys: those links.
    pub(super) fn leading_to(&self, dropped: &Dropped) -> BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> {
        let arriving = self.arriving(dropped).map(|(path, target)| (path, target.to_vec()));
        let mut into: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (path, target) in arriving.chain(self.staying(dropped)) {
            let mut seen = BTreeSet::new();
            let (leads, end) = self.follow(path, &target, dropped, &mut seen);
            let link = self.key(path.as_bytes());
            // A folder on the way is no other name of what is in it; a link there decides the end.
            seen.retain(|key| self.then(key, dropped).is_some() || self.now.contains_key(key));
            if leads == Leads::Inside {
                seen.insert(self.key(&end));
            }
            for place in seen {
                into.entry(place).or_default().insert(link.clone());
            }
        }
        into
    }
}

fn word(leads: Leads) -> Option<&'static str> {
    match leads {
        Leads::Inside => None,
        Leads::Out => Some("out of the worktree"),
        Leads::IntoGit => Some("into .git"),
    }
}
