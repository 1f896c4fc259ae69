//! The worktree by open folders: every step goes through a descriptor, never through a link.

use super::folders_of;
use super::ours::Here;
use super::spool::copy_hashed;
use crate::command;
use crate::error::{Error, IoContext, Result};
use crate::fs::digest;
use crate::worktree::{Entry, FileKind, RelPath};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether all files of a disk can be written to it in one step.
const SYNCS_TOGETHER: bool = cfg!(target_os = "linux");

/// A worktree's top folder, held open.
#[derive(Debug)]
pub(super) struct Tree {
    root: OwnedFd,
    shown: PathBuf,
    exchanges: bool,
}

/// The mode bits and owner that a file has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) mode: u32,
    uid: u32,
    gid: u32,
}

impl Tree {
    /// Opens the top folder.
    ///
    /// # Errors
    /// It is not there or cannot be opened.
    pub(super) fn open(root: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(root, flags, Mode::empty()).at("open the folder", root)?;
        Ok(Self { root: fd, shown: root.to_path_buf(), exchanges: super::kill::exchanges() })
    }

    fn full(&self, path: &RelPath) -> PathBuf {
        self.shown.join(path.as_path())
    }

    /// The open folder of `path`, each component opened without following links.
    fn folder_of(&self, path: &RelPath) -> rustix::io::Result<OwnedFd> {
        let mut folder = self.root.try_clone().map_err(|_| Errno::MFILE)?;
        let mut components: Vec<_> = path.components().collect();
        components.pop();
        for name in components {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            folder = rustix::fs::openat(&folder, OsStr::from_bytes(name), flags, Mode::empty())?;
        }
        Ok(folder)
    }

    /// What is at `path` now; behind a link there is nothing.
    ///
    /// # Errors
    /// It cannot be looked at or read.
    pub(super) fn at(&self, path: &RelPath) -> Result<Here> {
        match self.try_at(path) {
            Ok(here) => Ok(here),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Here::Nothing),
            Err(error) => Err(error).at("look at", &self.full(path)),
        }
    }

    /// Whether anything has this name; cheaper than [`Tree::at`], which reads contents.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(super) fn exists(&self, path: &RelPath) -> Result<bool> {
        self.file_type(path).map(|found| found.is_some())
    }

    /// Whether `path` is a folder, and no link to one.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(super) fn is_folder(&self, path: &RelPath) -> Result<bool> {
        self.file_type(path).map(|found| found == Some(FileType::Directory))
    }

    fn file_type(&self, path: &RelPath) -> Result<Option<FileType>> {
        let found = self.folder_of(path).and_then(|folder| {
            rustix::fs::statat(&folder, OsStr::from_bytes(path.file_name()), AtFlags::SYMLINK_NOFOLLOW)
        });
        match found {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error).at("look at", &self.full(path)),
        }
    }

    fn try_at(&self, path: &RelPath) -> rustix::io::Result<Here> {
        let folder = self.folder_of(path)?;
        let name = OsStr::from_bytes(path.file_name());
        let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => Ok(Here::Folder),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(&folder, name, Vec::new())?;
                Ok(Here::Entry(Entry { kind: FileKind::Link, hash: digest(target.as_bytes()) }))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let mut file = File::from(rustix::fs::openat(&folder, name, flags, Mode::empty())?);
                let (_, hash) = copy_hashed(&mut file, &mut std::io::sink(), u64::MAX)
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
                let executable = found.st_mode & 0o100 != 0;
                let kind = if executable { FileKind::Executable } else { FileKind::File };
                Ok(Here::Entry(Entry { kind, hash }))
            }
            _ => Ok(Here::Special),
        }
    }

    /// Mode bits and owner of the regular file at `path`.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(super) fn look(&self, path: &RelPath) -> Result<Option<Look>> {
        let found = self.folder_of(path).and_then(|folder| {
            rustix::fs::statat(&folder, OsStr::from_bytes(path.file_name()), AtFlags::SYMLINK_NOFOLLOW)
        });
        let found = found.at("look at", &self.full(path))?;
        let file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        #[allow(clippy::unnecessary_cast, reason = "the width differs between systems")]
        let mode = found.st_mode as u32 & 0o7777;
        Ok(file.then_some(Look { mode, uid: found.st_uid, gid: found.st_gid }))
    }

    /// Writes a new file or link; fails when something has that name. `like` is what it will replace. It is on the
    /// disk when [`Tree::sync`] has been called, or at once when nothing else would bring it there.
    ///
    /// # Errors
    /// Anything that keeps it from being complete.
    pub(super) fn stage(
        &self,
        path: &RelPath,
        kind: FileKind,
        contents: &Path,
        mode: Option<u32>,
        like: Option<Look>,
        together: bool,
    ) -> Result<()> {
        let shown = self.full(path);
        let folder = self.folder_of(path).at("open the folder of", &shown)?;
        let name = OsStr::from_bytes(path.file_name());
        if kind == FileKind::Link {
            let target = std::fs::read(contents).at("read", contents)?;
            return rustix::fs::symlinkat(OsStr::from_bytes(&target), &folder, name)
                .map_err(|error| self.refused(error, "create", path));
        }
        let executable = kind == FileKind::Executable;
        // The system takes the user's umask off, as for every other new file of his.
        let new = if executable { 0o777 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(new))
            .map_err(|error| self.refused(error, "create", path))?;
        let mut file = File::from(fd);
        let mut source = File::open(contents).at("open", contents)?;
        std::io::copy(&mut source, &mut file).at("write", &shown)?;
        if let Some(like) = like {
            // Only root can give a file away; for others the owner is their own already.
            let _not_ours_to_give = std::os::unix::fs::fchown(&file, Some(like.uid), Some(like.gid));
        }
        if let Some(old) = mode.or(like.map(|like| like.mode)) {
            let bits = if executable { old | (old & 0o444) >> 2 } else { old & !0o111 };
            rustix::fs::fchmod(&file, Mode::from_raw_mode((bits & 0o777) as rustix::fs::RawMode))
                .at("set the mode of", &shown)?;
        }
        if together && self.is_on_our_disk(&file)? {
            return Ok(());
        }
        file.sync_data().at("sync", &shown)
    }

    /// Whether [`Tree::sync`] writes this file to the disk. Something may be mounted in the worktree.
    fn is_on_our_disk(&self, file: &File) -> Result<bool> {
        let disk = |found: rustix::fs::Stat| found.st_dev;
        let ours = rustix::fs::fstat(&self.root).map(disk).at("look at", &self.shown)?;
        Ok(SYNCS_TOGETHER && rustix::fs::fstat(file).map(disk).at("look at", &self.shown)? == ours)
    }

    /// Writes all that was staged together to the disk, in one step where there is one: many files that are synced
    /// one by one take minutes.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn sync(&self) -> Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&self.root).at("sync the disk of", &self.shown)?;
        Ok(())
    }

    /// A folder in which nothing may be written is named with what to do about it.
    fn refused(&self, error: Errno, doing: &str, path: &RelPath) -> Error {
        let shown = self.full(path);
        if !matches!(error, Errno::ACCESS | Errno::PERM) {
            return Error::io(doing, &shown, &error.into());
        }
        let folder = shown.parent().unwrap_or(&self.shown);
        Error::failed(format!("{} may not be written by you, nothing was changed", folder.display())).help(
            format!(
                "make it writable, then do it again: {}",
                command::program("chmod", ["u+w"]).path(folder)
            ),
        )
    }

    /// Moves `from` to the free name `to`.
    ///
    /// # Errors
    /// `to` is taken, or the move failed.
    pub(super) fn rename_new(&self, from: &RelPath, to: &RelPath) -> Result<()> {
        let (old, new) = (self.folder_of(from), self.folder_of(to));
        let old = old.at("open the folder of", &self.full(from))?;
        let new = new.at("open the folder of", &self.full(to))?;
        let (from_name, to_name) = (OsStr::from_bytes(from.file_name()), OsStr::from_bytes(to.file_name()));
        let moved = if self.exchanges {
            rustix::fs::renameat_with(&old, from_name, &new, to_name, RenameFlags::NOREPLACE)
        } else {
            Err(Errno::INVAL)
        };
        let moved = match moved {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                match rustix::fs::statat(&new, to_name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(_) => Err(Errno::EXIST),
                    Err(Errno::NOENT) => rustix::fs::renameat(&old, from_name, &new, to_name),
                    Err(error) => Err(error),
                }
            }
            moved => moved,
        };
        moved.map_err(|error| match error {
            // Of a file that is taken out, the folder that it is in counts.
            Errno::ACCESS | Errno::PERM => self.refused(error, "move into place", from),
            error => Error::io("move into place", &self.full(to), &error.into()),
        })
    }

    /// Exchanges what two names stand for, in one step where the file system can.
    /// Where it cannot, `spare` holds `b`'s for two renames.
    ///
    /// # Errors
    /// One of them is missing, or a rename failed.
    pub(super) fn exchange(&self, a: &RelPath, b: &RelPath, spare: &RelPath) -> Result<()> {
        if self.exchanges {
            let one = self.folder_of(a).at("open the folder of", &self.full(a))?;
            let two = self.folder_of(b).at("open the folder of", &self.full(b))?;
            let (a_name, b_name) = (OsStr::from_bytes(a.file_name()), OsStr::from_bytes(b.file_name()));
            match rustix::fs::renameat_with(&one, a_name, &two, b_name, RenameFlags::EXCHANGE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                exchanged => return exchanged.map_err(|error| self.refused(error, "exchange", b)),
            }
        }
        self.rename_new(b, spare)?;
        super::kill::point("half an exchange");
        self.rename_new(a, b)?;
        super::kill::point("most of an exchange");
        self.rename_new(spare, a)
    }

    /// Removes a file or link that may be gone already.
    ///
    /// # Errors
    /// It is there and cannot be removed.
    pub(super) fn remove(&self, path: &RelPath) -> Result<()> {
        self.unlink(path, AtFlags::empty()).map(|_| ())
    }

    /// Removes a folder if it is empty; `false` when it is not empty or no folder.
    ///
    /// # Errors
    /// It is empty and cannot be removed.
    pub(super) fn remove_folder(&self, path: &RelPath) -> Result<bool> {
        self.unlink(path, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, path: &RelPath, flags: AtFlags) -> Result<bool> {
        let removed = self
            .folder_of(path)
            .and_then(|folder| rustix::fs::unlinkat(&folder, OsStr::from_bytes(path.file_name()), flags));
        match removed {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(flags == AtFlags::empty()),
            Err(Errno::NOTEMPTY | Errno::EXIST) if flags == AtFlags::REMOVEDIR => Ok(false),
            Err(error) => Err(error).at("remove", &self.full(path)),
        }
    }

    /// Makes a folder that may be there already.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn make_folder(&self, path: &RelPath) -> Result<()> {
        let folder = self.folder_of(path).at("open the folder of", &self.full(path))?;
        let name = OsStr::from_bytes(path.file_name());
        match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) if self.is_folder(path)? => Ok(()),
            made => made.map_err(|error| self.refused(error, "create the folder", path)),
        }
    }

    /// Moves a file or link out of the worktree into the new file `to`: a link's target becomes contents.
    ///
    /// # Errors
    /// It cannot be read, written or removed.
    pub(super) fn take_out(&self, path: &RelPath, to: &Path) -> Result<()> {
        let shown = self.full(path);
        let folder = self.folder_of(path).at("open the folder of", &shown)?;
        let name = OsStr::from_bytes(path.file_name());
        let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).at("look at", &shown)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Symlink {
            let target = rustix::fs::readlinkat(&folder, name, Vec::new()).at("read the link", &shown)?;
            std::fs::write(to, target.as_bytes()).at("write", to)?;
        } else if rustix::fs::renameat(&folder, name, rustix::fs::CWD, to).is_ok() {
            return Ok(());
        } else {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = rustix::fs::openat(&folder, name, flags, Mode::empty()).at("open", &shown)?;
            // A kill may have left half of a copy.
            let mut copy = File::create(to).at("create", to)?;
            std::io::copy(&mut File::from(fd), &mut copy).at("write", to)?;
            copy.sync_data().at("sync", to)?;
        }
        self.remove(path)
    }

    /// Makes it last what was renamed in the folders of these paths, as far as they are still there.
    ///
    /// # Errors
    /// A folder cannot be written to disk.
    pub(super) fn sync_folders<'a>(&self, paths: impl Iterator<Item = &'a RelPath>) -> Result<()> {
        let one_of_each: BTreeMap<_, _> = paths.map(|path| (folders_of(path).next(), path)).collect();
        for path in one_of_each.into_values() {
            match self.folder_of(path) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                folder => folder.and_then(rustix::fs::fsync).at("sync the folder of", &self.full(path))?,
            }
        }
        Ok(())
    }

    /// Removes the folders of `path` that have become empty, from the innermost outwards.
    ///
    /// # Errors
    /// An empty one cannot be removed.
    pub(super) fn prune_above(&self, path: &RelPath) -> Result<()> {
        for folder in folders_of(path) {
            if !self.remove_folder(&folder)? {
                break;
            }
        }
        Ok(())
    }

    /// All folders below and including `path`, the innermost first.
    ///
    /// # Errors
    /// One cannot be read.
    pub(super) fn folders_below(&self, path: &RelPath) -> Result<Vec<RelPath>> {
        let mut found = vec![path.clone()];
        let mut next = 0;
        while let Some(folder) = found.get(next).cloned() {
            next += 1;
            let full = self.full(&folder);
            for entry in std::fs::read_dir(&full).at("read", &full)? {
                let entry = entry.at("read", &full)?;
                if entry.file_type().at("look at", &entry.path())?.is_dir() {
                    let bytes = [folder.as_bytes(), b"/", entry.file_name().as_bytes()].concat();
                    let inner = RelPath::new(&bytes).map_err(|why| {
                        Error::failed(format!("{} is in the way: {why}", entry.path().display()))
                    })?;
                    found.push(inner);
                }
            }
        }
        found.reverse();
        Ok(found)
    }
}
