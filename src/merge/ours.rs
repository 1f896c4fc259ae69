//! The worktree on this machine, looked at path by path and never through a link.

use super::folders_of;
use super::spool::hash_file;
use crate::error::{Error, IoContext, Result};
use crate::fs::digest;
use crate::worktree::{Entry, FileKind, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What is at a path of the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    /// Nothing, or something of the way to it is missing or no folder.
    Nothing,
    /// A file or a link.
    Entry(Entry),
    /// A folder.
    Folder,
    /// A fifo, socket or device.
    Special,
}

impl Here {
    /// The entry, if it is one.
    pub(super) fn entry(self) -> Option<Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            _ => None,
        }
    }
}

/// What is at a place on the way to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A folder.
    Folder,
    /// A folder with a `.git` of its own: a submodule or another repository.
    Repository,
    /// Nothing yet.
    Missing,
    /// A link, wherever it leads.
    Link,
    /// A file or something special.
    File,
}

/// Looks at a worktree and remembers the folders it has seen.
#[derive(Debug)]
pub(super) struct Ours<'a> {
    root: &'a Path,
    folds_case: bool,
    ways: BTreeMap<RelPath, Way>,
    names: BTreeMap<PathBuf, BTreeSet<OsString>>,
}

impl<'a> Ours<'a> {
    /// `root` is the top level of a git worktree.
    ///
    /// # Errors
    /// It is not there.
    pub(super) fn new(root: &'a Path) -> Result<Self> {
        let git = root.join(".git");
        let seen = std::fs::symlink_metadata(&git).map_err(|error| {
            Error::usage(format!("{} is not the top of a git worktree: {error}", root.display()))
        })?;
        // A file system that folds case finds `.git` by another spelling.
        let folded = std::fs::symlink_metadata(root.join(".GIT"));
        let folds_case = folded.is_ok_and(|other| (other.dev(), other.ino()) == (seen.dev(), seen.ino()));
        Ok(Self { root, folds_case, ways: BTreeMap::new(), names: BTreeMap::new() })
    }

    /// The worktree's top.
    pub(super) fn root(&self) -> &Path {
        self.root
    }

    /// What is at the place `folder`, which is on the way to another path.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(super) fn way(&mut self, folder: &RelPath) -> Result<Way> {
        if let Some(way) = self.ways.get(folder) {
            return Ok(*way);
        }
        let way = match folders_of(folder).next() {
            Some(outer) if !matches!(self.way(&outer)?, Way::Folder | Way::Repository) => Way::Missing,
            _ => {
                let path = self.root.join(folder.as_path());
                match look(&path)? {
                    None => Way::Missing,
                    Some(found) if found.is_symlink() => Way::Link,
                    Some(found) if found.is_dir() => match look(&path.join(".git"))? {
                        Some(_) => Way::Repository,
                        None => Way::Folder,
                    },
                    Some(_) => Way::File,
                }
            }
        };
        self.ways.insert(folder.clone(), way);
        Ok(way)
    }

    /// What is at `path`, exactly spelled so.
    ///
    /// # Errors
    /// It cannot be looked at or read.
    pub(super) fn at(&mut self, path: &RelPath) -> Result<Here> {
        if let Some(folder) = folders_of(path).next()
            && !matches!(self.way(&folder)?, Way::Folder | Way::Repository)
        {
            return Ok(Here::Nothing);
        }
        let full = self.root.join(path.as_path());
        if self.folds_case && !self.spelled_so(&full)? {
            return Ok(Here::Nothing);
        }
        here(&full)
    }

    /// The name that stands in the way of `path` where the file system folds case: same but for case.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn twin(&mut self, path: &RelPath) -> Result<Option<RelPath>> {
        let full = self.root.join(path.as_path());
        if !self.folds_case || self.spelled_so(&full)? {
            return Ok(None);
        }
        let own = path.file_name();
        let twin = self.names_in(full.parent().unwrap_or(self.root))?.iter().find_map(|name| {
            let same = String::from_utf8_lossy(name.as_bytes()).to_lowercase()
                == String::from_utf8_lossy(own).to_lowercase();
            let bytes = path.as_bytes();
            same.then(|| [&bytes[..bytes.len() - own.len()], name.as_bytes()].concat())
        });
        Ok(twin.and_then(|bytes| RelPath::new(&bytes).ok()))
    }

    /// Whether two names that differ in case only are one file here.
    pub(super) fn folds_case(&self) -> bool {
        self.folds_case
    }

    fn spelled_so(&mut self, full: &Path) -> Result<bool> {
        let name = full.file_name().unwrap_or_default().to_owned();
        Ok(self.names_in(full.parent().unwrap_or(full))?.contains(&name))
    }

    fn names_in(&mut self, folder: &Path) -> Result<&BTreeSet<OsString>> {
        if !self.names.contains_key(folder) {
            let mut names = BTreeSet::new();
            match std::fs::read_dir(folder) {
                Ok(entries) => {
                    for entry in entries {
                        names.insert(entry.at("read", folder)?.file_name());
                    }
                }
                Err(error) if missing(&error) => {}
                Err(error) => return Err(Error::io("read", folder, &error)),
            }
            self.names.insert(folder.to_path_buf(), names);
        }
        Ok(&self.names[folder])
    }

    /// Everything that lies below the folder `path`, files and what is not a file alike.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub(super) fn below(&self, path: &RelPath) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        let mut folders = vec![path.as_bytes().to_vec()];
        while let Some(folder) = folders.pop() {
            let full = self.root.join(std::ffi::OsStr::from_bytes(&folder));
            for entry in std::fs::read_dir(&full).at("read", &full)? {
                let entry = entry.at("read", &full)?;
                let inner = [&folder[..], b"/", entry.file_name().as_bytes()].concat();
                match entry.file_type().at("look at", &entry.path())? {
                    kind if kind.is_dir() => folders.push(inner),
                    _ => found.push(inner),
                }
            }
        }
        Ok(found)
    }
}

/// What is at a full path whose folders are known to be folders.
///
/// # Errors
/// It cannot be looked at or read.
pub(super) fn here(full: &Path) -> Result<Here> {
    let Some(found) = look(full)? else { return Ok(Here::Nothing) };
    if found.is_dir() {
        return Ok(Here::Folder);
    }
    if found.is_symlink() {
        let target = std::fs::read_link(full).at("read the link", full)?;
        let hash = digest(target.as_os_str().as_bytes());
        return Ok(Here::Entry(Entry { kind: FileKind::Link, hash }));
    }
    if !found.is_file() {
        return Ok(Here::Special);
    }
    let executable = found.permissions().mode() & 0o100 != 0;
    let kind = if executable { FileKind::Executable } else { FileKind::File };
    Ok(Here::Entry(Entry { kind, hash: hash_file(full)? }))
}

/// The metadata of what is at `path` itself; `None` when nothing is.
///
/// # Errors
/// Anything but absence.
pub(super) fn look(path: &Path) -> Result<Option<std::fs::Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if missing(&error) => Ok(None),
        Err(error) => Err(Error::io("look at", path, &error)),
    }
}

fn missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
