//! Which files leave, by name: git's list, then four filters in the plugin's published order.

use super::RelPath;
use super::deny::Deny;
use super::git::{Worktree, records};
use super::include::{Asked, INCLUDE, Include};
use super::rules::{ByName, Rules, by_name};
use super::stayed::{Reason, Stayed};
use crate::error::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The files that may leave, judged by name only: their contents are judged while they are packed.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(super) root: PathBuf,
    /// In the order of their bytes, each once.
    pub(super) files: Vec<RelPath>,
    pub(super) allowed: HashSet<RelPath>,
    /// Files whose names are denied unless their contents are something else.
    pub(super) depends: HashMap<RelPath, &'static Deny>,
    /// In the index with the skip-worktree bit: no surprise when they are not on disk.
    pub(super) skipped: HashSet<RelPath>,
    /// Those that git does not track.
    pub(super) untracked: HashSet<RelPath>,
    /// What stays home for its name, with the reason.
    pub(crate) stayed: Vec<Stayed>,
    /// What leaves although a filter of names would keep it, and what lets it.
    pub(crate) let_through: BTreeMap<RelPath, Lifted>,
    /// Entries of the settings that lift nothing here, in words.
    pub(crate) idle: Vec<String>,
}

/// What lets a file through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lifted {
    /// This entry of `allowFiles`.
    Allowed(String),
    /// The `.worktreeinclude` that the user said yes to.
    Included,
}

impl Selection {
    /// Nothing yet of the folder `root`.
    pub(super) fn of(root: &Path, rules: &Rules) -> Self {
        Self {
            root: root.to_path_buf(),
            files: Vec::new(),
            allowed: rules.allow_secrets.iter().cloned().collect(),
            depends: HashMap::new(),
            skipped: HashSet::new(),
            untracked: HashSet::new(),
            stayed: Vec::new(),
            let_through: BTreeMap::new(),
            idle: Vec::new(),
        }
    }

    /// The folder that the files are in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The files that may leave, in the order of their bytes.
    pub(crate) fn files(&self) -> &[RelPath] {
        &self.files
    }
}

/// Lists the worktree and filters by name: submodules, excludes, the deny-list, git's ignore rules
/// (also for tracked files). The order decides which reason is given.
///
/// # Errors
/// git cannot list the worktree.
pub(crate) fn select(worktree: &Worktree, rules: &Rules) -> Result<Selection> {
    let mut listing = Listing::read(worktree)?;
    let include = Include::read(worktree)?;
    let mut offered: Vec<Vec<u8>> = Vec::new();
    match include {
        Some(include) if rules.trusted.as_ref() == Some(&include.hash) => {
            listing.names.extend(include.candidates.iter().cloned());
            listing.included.extend(include.candidates);
        }
        Some(include) => offered = include.candidates,
        None => {}
    }
    let mut used = vec![false; rules.allow_files.len()];
    let mut selection = Selection::of(worktree.root(), rules);
    for name in &listing.names {
        let shown = Path::new(OsStr::from_bytes(name));
        if listing.in_submodule(name) {
            selection.stayed.push(Stayed::new(shown, Reason::Submodule, "submodule"));
            continue;
        }
        if let Some(folder) = name.strip_suffix(b"/") {
            let folder = Path::new(OsStr::from_bytes(folder));
            selection.stayed.push(Stayed::new(folder, Reason::Repository, "a git repository of its own"));
            continue;
        }
        let path = match RelPath::new(name) {
            Ok(path) => path,
            Err(why) => {
                selection.stayed.push(Stayed::new(shown, Reason::Name, why.to_string()));
                continue;
            }
        };
        let named = by_name(&path, rules);
        let mut entry = match &named {
            ByName::Allowed(entry) => Some(*entry),
            _ => None,
        };
        let ignored = listing.ignored.contains(&name[..]);
        if ignored {
            entry = entry.or_else(|| rules.allowed(&path, false));
        }
        if let ByName::Stays(reason, rule) = named {
            selection.stayed.push(Stayed::new(shown, reason, rule));
        } else if ignored && entry.is_none() {
            selection.stayed.push(Stayed::new(shown, Reason::Ignored, "git's ignore rules"));
        } else {
            if let Some(entry) = entry {
                used[entry] = true;
                let text = rules.allow_files[entry].pattern.to_string();
                selection.let_through.insert(path.clone(), Lifted::Allowed(text));
            } else if listing.included.contains(&name[..]) {
                selection.let_through.insert(path.clone(), Lifted::Included);
            }
            if listing.skipped.contains(&name[..]) {
                selection.skipped.insert(path.clone());
            }
            if listing.untracked.contains(&name[..]) {
                selection.untracked.insert(path.clone());
            }
            if let ByName::Depends(denied) = named {
                selection.depends.insert(path.clone(), denied);
            }
            selection.files.push(path);
        }
    }
    for path in offered.iter().filter_map(|name| RelPath::new(name).ok()) {
        if !matches!(by_name(&path, rules), ByName::Stays(..)) {
            selection.stayed.push(Stayed::new(path.as_path(), Reason::Include, INCLUDE));
        }
    }
    selection.idle = idle(&selection, rules, &used);
    Ok(selection)
}

/// What of the settings lifts nothing here although it is meant for here.
fn idle(selection: &Selection, rules: &Rules, used: &[bool]) -> Vec<String> {
    let own = rules.allow_files.iter().zip(used).filter(|(allow, used)| !**used && !allow.everywhere);
    let mut idle: Vec<String> =
        own.map(|(allow, _)| format!("allowFiles: \"{}\" lifts nothing here", allow.pattern)).collect();
    let denied = selection.stayed.iter().filter(|stayed| stayed.reason == Reason::Denied);
    let named = denied.filter(|stayed| rules.allow_secrets.iter().any(|path| path.as_path() == stayed.path));
    idle.extend(named.map(|stayed| {
        let path = stayed.path.display();
        format!("allowSecrets: \"{path}\" lifts nothing: its name stays home; let it through with allowFiles")
    }));
    idle
}

/// What a yes to the worktree's `.worktreeinclude` would let leave; `None` where there is nothing to ask: no such
/// file, no match, or a yes already.
///
/// # Errors
/// The file cannot be read, or git cannot list the worktree.
pub(crate) fn asked(worktree: &Worktree, rules: &Rules) -> Result<Option<Asked>> {
    let Some(include) = Include::read(worktree)?.filter(|found| rules.trusted.as_ref() != Some(&found.hash))
    else {
        return Ok(None);
    };
    let passes = |path: &RelPath| !matches!(by_name(path, rules), ByName::Stays(..));
    let files: Vec<RelPath> =
        include.candidates.iter().filter_map(|name| RelPath::new(name).ok()).filter(passes).collect();
    let size = |path: &RelPath| {
        let found = worktree.root().join(path.as_path()).symlink_metadata();
        found.map_or(0, |found| found.len())
    };
    let bytes = files.iter().map(size).sum();
    Ok((!files.is_empty()).then_some(Asked { hash: include.hash, files, bytes }))
}

/// What git says about the worktree's names, in raw bytes.
#[derive(Debug, Default)]
struct Listing {
    names: BTreeSet<Vec<u8>>,
    submodules: HashSet<Vec<u8>>,
    skipped: HashSet<Vec<u8>>,
    /// Neither tracked nor ignored.
    untracked: HashSet<Vec<u8>>,
    ignored: HashSet<Vec<u8>>,
    /// Ignored and untracked, and named by a `.worktreeinclude` that counts.
    included: HashSet<Vec<u8>>,
}

impl Listing {
    /// Three listings at the same time: each is a walk of its own inside git.
    fn read(worktree: &Worktree) -> Result<Self> {
        let list = |args: &[&str]| worktree.output(&[&["ls-files", "-z"], args].concat());
        let (index, untracked, ignored) = std::thread::scope(|scope| {
            let untracked = scope.spawn(|| list(&["--others", "--exclude-standard"]));
            // The answer of `check-ignore --no-index` for every tracked path, without its failure
            // of the whole call on a path behind a link (docs/measured/git.md 1).
            let ignored = scope.spawn(|| list(&["--cached", "--ignored", "--exclude-standard"]));
            let index = list(&["--cached", "--stage", "-t"]);
            (
                index,
                untracked.join().expect("listing does not panic"),
                ignored.join().expect("listing does not panic"),
            )
        });
        let mut listing = Self::default();
        for record in records(&index?) {
            listing.add_index(record);
        }
        listing.untracked.extend(records(&untracked?).map(<[u8]>::to_vec));
        listing.names.extend(listing.untracked.iter().cloned());
        listing.ignored.extend(records(&ignored?).map(<[u8]>::to_vec));
        Ok(listing)
    }

    /// One record of `ls-files --stage -t`: `TAG MODE OBJECT STAGE<tab>NAME`.
    fn add_index(&mut self, record: &[u8]) {
        let Some(tab) = memchr::memchr(b'\t', record) else { return };
        let (facts, name) = (&record[..tab], &record[tab + 1..]);
        let mut facts = facts.split(|byte| *byte == b' ');
        let (tag, mode) = (facts.next().unwrap_or_default(), facts.next().unwrap_or_default());
        if mode == b"160000" {
            self.submodules.insert(name.to_vec());
        }
        // Lower case: the entry is also marked as assumed unchanged.
        if tag.eq_ignore_ascii_case(b"S") {
            self.skipped.insert(name.to_vec());
        }
        self.names.insert(name.to_vec());
    }

    /// Whether the name is a submodule or anything under one.
    fn in_submodule(&self, name: &[u8]) -> bool {
        !self.submodules.is_empty()
            && (self.submodules.contains(name)
                || memchr::memchr_iter(b'/', name).any(|slash| self.submodules.contains(&name[..slash])))
    }
}
