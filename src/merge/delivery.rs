//! One file or folder that a box hands over, as an archive: judged as hostile, and put in its place whole or not at all.

use super::lying;
use super::parcel::{long, unpacked};
use super::spool::{Spool, copy_hashed};
use super::tree::Tree;
use crate::error::{Error, IoContext, Result};
use crate::worktree::{FileKind, Leads, RelPath, follow};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A delivery that was judged, and is not in its place yet.
#[derive(Debug)]
pub(crate) struct Delivery {
    files: BTreeMap<RelPath, Piece>,
    folders: BTreeSet<RelPath>,
    _spool: Spool,
}

#[derive(Debug)]
struct Piece {
    kind: FileKind,
    contents: PathBuf,
}

impl Delivery {
    /// Reads the tar at `archive`, in which everything is at or below `wanted`, if that is said, of so many bytes at most.
    /// It is for the folder `root`.
    ///
    /// # Errors
    /// A name leads out or stands elsewhere, a link leads out, something is neither file, folder nor link, or it is
    /// larger than `limit`.
    pub(crate) fn read(archive: &Path, root: &Path, wanted: Option<&RelPath>, limit: u64) -> Result<Self> {
        let file = File::open(archive).at("open", archive)?;
        let unpacked = unpacked(file).map_err(|source| damaged(&source))?;
        let mut reader =
            Reader { wanted, left: limit, limit, files: BTreeMap::new(), folders: BTreeSet::new() };
        let spool = Spool::new()?;
        let (mut long_name, mut long_target) = (None, None);
        for entry in tar::Archive::new(unpacked).entries().map_err(|source| damaged(&source))?.raw(true) {
            let mut entry = entry.map_err(|source| damaged(&source))?;
            let endless = || lying("a name in its archive is endless");
            match entry.header().entry_type() {
                tar::EntryType::GNULongName => long_name = Some(long(&mut entry).map_err(|_| endless())?),
                tar::EntryType::GNULongLink => long_target = Some(long(&mut entry).map_err(|_| endless())?),
                kind => {
                    let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                    let target =
                        long_target.take().or_else(|| entry.link_name_bytes().map(|name| name.into_owned()));
                    let mode = entry.header().mode().map_err(|source| damaged(&source))?;
                    reader.one(&name, (kind, mode), target.as_deref(), &mut entry, &spool)?;
                }
            }
        }
        reader.finish(root, spool)
    }

    /// How many files and links it has.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }

    /// Puts everything below `root`. What stands in the place of a file or link is replaced; a folder there, or a link on
    /// the way, is an error, and then everything is as it was.
    ///
    /// # Errors
    /// It cannot be put there as a whole.
    pub(crate) fn put(&self, root: &Path) -> Result<()> {
        let tree = Tree::open(root)?;
        let token = super::script::token();
        let beside = |path: &RelPath, what: &str| {
            let bytes = path.as_bytes();
            let own = path.file_name().len();
            let name = format!(".createos-sandbox-{token}-{what}");
            RelPath::new(&[&bytes[..bytes.len() - own], name.as_bytes()].concat())
                .map_err(|why| Error::failed(format!("{path} cannot be put beside: {why}")))
        };
        let mut work = Work { tree: &tree, made: Vec::new(), staged: Vec::new(), done: Vec::new() };
        let carried = (|| {
            for folder in
                self.folders.iter().chain(self.files.keys().flat_map(outer).collect::<BTreeSet<_>>().iter())
            {
                for folder in outer(folder).into_iter().rev().chain([folder.clone()]) {
                    work.folder(&folder)?;
                }
            }
            for (number, (path, piece)) in self.files.iter().enumerate() {
                if tree.is_folder(path)? {
                    return Err(Error::failed(format!("{path} is a folder here, and a file in the box"))
                        .help("move it away, then do it again"));
                }
                let staged = beside(path, &format!("{number}-new"))?;
                work.staged.push(staged.clone());
                let like = if tree.exists(path)? { tree.look(path)? } else { None };
                tree.stage(&staged, piece.kind, &piece.contents, None, like, true)?;
            }
            tree.sync()?;
            for (number, path) in self.files.keys().enumerate() {
                let staged = beside(path, &format!("{number}-new"))?;
                let old = beside(path, &format!("{number}-old"))?;
                let had = tree.exists(path)?;
                if had {
                    tree.rename_new(path, &old)?;
                    work.done.push((path.clone(), Some(old)));
                }
                tree.rename_new(&staged, path)?;
                if !had {
                    work.done.push((path.clone(), None));
                }
            }
            Ok(())
        })();
        match carried {
            Ok(()) => work.commit(),
            Err(error) => work.back().map_or(Err(error.clone()), |left| Err(error.fact("left", left))),
        }
    }
}

/// The folders of a path, the innermost first.
fn outer(path: &RelPath) -> Vec<RelPath> {
    super::folders_of(path).collect()
}

/// What was done so far, so that it can be taken back.
struct Work<'a> {
    tree: &'a Tree,
    made: Vec<RelPath>,
    staged: Vec<RelPath>,
    /// Paths that have their new contents or have lost their old ones, and where those are.
    done: Vec<(RelPath, Option<RelPath>)>,
}

impl Work<'_> {
    fn folder(&mut self, folder: &RelPath) -> Result<()> {
        if !self.tree.is_folder(folder)? {
            if self.tree.exists(folder)? {
                return Err(Error::failed(format!("{folder} is no folder here, and one in the box"))
                    .help("move it away, then do it again"));
            }
            self.tree.make_folder(folder)?;
            self.made.push(folder.clone());
        }
        Ok(())
    }

    fn commit(self) -> Result<()> {
        for old in self.done.iter().filter_map(|(_, old)| old.as_ref()) {
            self.tree.remove(old)?;
        }
        self.tree.sync_folders(self.done.iter().map(|(path, _)| path))
    }

    /// Everything as it was; what could not be is named.
    fn back(self) -> Option<String> {
        let mut left = Vec::new();
        for (path, old) in self.done.iter().rev() {
            let back = self.tree.remove(path).and_then(|()| match old {
                Some(old) => self.tree.rename_new(old, path),
                None => Ok(()),
            });
            if back.is_err() {
                left.push(old.as_ref().unwrap_or(path).to_string());
            }
        }
        for staged in &self.staged {
            if self.tree.remove(staged).is_err() {
                left.push(staged.to_string());
            }
        }
        for folder in self.made.iter().rev() {
            // One that is not empty has got something of somebody else's.
            let _theirs = self.tree.remove_folder(folder);
        }
        (!left.is_empty()).then(|| left.join(", "))
    }
}

fn damaged(source: &io::Error) -> Error {
    lying(format!("its archive cannot be read: {source}"))
}

struct Reader<'a> {
    wanted: Option<&'a RelPath>,
    left: u64,
    limit: u64,
    files: BTreeMap<RelPath, Piece>,
    folders: BTreeSet<RelPath>,
}

impl Reader<'_> {
    fn path(&self, name: &[u8]) -> Result<RelPath> {
        let shown = String::from_utf8_lossy(name).into_owned();
        let bare = name.strip_prefix(b"./").unwrap_or(name);
        let bare = bare.strip_suffix(b"/").unwrap_or(bare);
        let path = RelPath::new(bare).map_err(|why| lying(format!("it sends {why}: \"{shown}\"")))?;
        let below =
            self.wanted.map_or(Some(&[][..]), |wanted| path.as_bytes().strip_prefix(wanted.as_bytes()));
        match below {
            Some(rest) if rest.is_empty() || rest[0] == b'/' => Ok(path),
            _ => Err(lying(format!("it sends \"{shown}\", which was not asked for"))),
        }
    }

    fn one(
        &mut self,
        name: &[u8],
        (kind, mode): (tar::EntryType, u32),
        target: Option<&[u8]>,
        entry: &mut impl Read,
        spool: &Spool,
    ) -> Result<()> {
        // The folder itself.
        if kind == tar::EntryType::Directory && matches!(name, b"." | b"./") && self.wanted.is_none() {
            return Ok(());
        }
        let path = self.path(name)?;
        if kind == tar::EntryType::Directory {
            self.folders.insert(path);
            return Ok(());
        }
        let piece = match kind {
            tar::EntryType::Regular | tar::EntryType::Continuous => {
                let contents = spool.fresh();
                let mut file = File::create_new(&contents).at("create", &contents)?;
                let (size, _) =
                    copy_hashed(entry, &mut file, self.left).map_err(|source| match source.kind() {
                        io::ErrorKind::FileTooLarge => {
                            let most = crate::ui::bytes(self.limit);
                            Error::failed(format!("what comes home is more than {most}, nothing was changed"))
                        }
                        _ => damaged(&source),
                    })?;
                self.left -= size;
                let kind = if mode & 0o100 == 0 { FileKind::File } else { FileKind::Executable };
                Piece { kind, contents }
            }
            tar::EntryType::Symlink => {
                Piece { kind: FileKind::Link, contents: spool.keep(target.unwrap_or_default())? }
            }
            // The same file under another name: it has to be there by its first one.
            tar::EntryType::Link => {
                let first = self.path(target.unwrap_or_default())?;
                let first =
                    self.files.get(&first).filter(|piece| piece.kind != FileKind::Link).ok_or_else(|| {
                        lying(format!("it sends {path} as another name of what it does not send"))
                    })?;
                let (kind, from) = (first.kind, first.contents.clone());
                let size = from.metadata().at("look at", &from)?.len();
                self.left = self.left.checked_sub(size).ok_or_else(|| lying("its contents have no end"))?;
                Piece { kind, contents: spool.copy(&from)?.0 }
            }
            _ => return Err(lying(format!("it sends {path} as something that is neither file nor link"))),
        };
        self.files.insert(path, piece);
        Ok(())
    }

    fn finish(self, root: &Path, spool: Spool) -> Result<Delivery> {
        let Self { files, folders, .. } = self;
        for path in files.keys().chain(&folders) {
            if let Some(folder) = super::folders_of(path).find(|folder| files.contains_key(folder)) {
                return Err(lying(format!("it has {folder} as a file and as the folder of {path}")));
            }
        }
        if let Some(path) = files.keys().find(|path| folders.contains(*path)) {
            return Err(lying(format!("it has {path} as a file and as a folder")));
        }
        let mut targets = BTreeMap::new();
        for (path, piece) in files.iter().filter(|(_, piece)| piece.kind == FileKind::Link) {
            targets.insert(
                path.as_bytes().to_vec(),
                std::fs::read(&piece.contents).at("read", &piece.contents)?,
            );
        }
        for (path, target) in &targets {
            // A link that is here already, and stays, is on the way of the new ones too.
            let here = |at: &[u8]| {
                let path = RelPath::new(at).ok().filter(|path| !files.contains_key(path))?;
                let target = std::fs::read_link(root.join(path.as_path())).ok()?;
                Some(target.into_os_string().into_vec())
            };
            let (leads, _) = follow(path, target, |at| targets.get(at).cloned().or_else(|| here(at)));
            if leads != Leads::Inside {
                let (path, target) = (String::from_utf8_lossy(path), String::from_utf8_lossy(target));
                return Err(Error::failed(format!("{path} is a link that leads out, nothing was changed"))
                    .fact("target", target)
                    .help("remove it in the box, or bring home less"));
            }
        }
        Ok(Delivery { files, folders, _spool: spool })
    }
}
