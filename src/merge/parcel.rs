//! What a box sends home: lists of what differs and the contents, every record judged.

use super::spool::{Spool, copy_hashed};
use super::{Limits, lying};
use crate::config::RemoteRoot;
use crate::error::{Error, IoContext, Result};
use crate::fs::digest;
use crate::worktree::{BadPath, Base, Entry, FileKind, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The folder of the lists in the parcel; it cannot be a path of the workspace, whose names begin with `./`.
const LISTS: &[u8] = b".createos-sandbox/";
/// A list longer than this is no list of a worktree: about half a million paths.
const LIST_LIMIT: u64 = 64 * 1024 * 1024;
/// Longer than any path that a system takes.
const NAME_LIMIT: u64 = 64 * 1024;

/// A path's new state and where its contents are.
#[derive(Debug, Clone)]
pub(super) struct Arrived {
    pub(super) entry: Entry,
    pub(super) contents: PathBuf,
}

impl Parcel {
    /// The paths that differ from the base once links are as they are here.
    pub(super) fn paths<'a>(&'a self, base: &'a Base) -> impl Iterator<Item = &'a RelPath> {
        let differs = |(path, arrived): &(&RelPath, &Arrived)| base.get(path) != Some(&arrived.entry);
        self.changed.iter().filter(differs).map(|(path, _)| path).chain(&self.gone)
    }
}

/// What differs in the box from the base.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    /// New or changed paths.
    pub(super) changed: BTreeMap<RelPath, Arrived>,
    /// Paths of the base that are no longer there.
    pub(super) gone: BTreeSet<RelPath>,
    /// Repositories inside the workspace, which git did not look into.
    pub(super) nested: Vec<RelPath>,
    /// Paths that are there but could not be read.
    pub(super) unreadable: Vec<RelPath>,
    /// Names that no worktree may hold, such as `.GIT/config`.
    pub(super) odd: Vec<(Vec<u8>, BadPath)>,
}

/// Why a parcel is no good.
#[derive(Debug)]
pub(super) enum Bad {
    /// A file changed while the box packed: ask again.
    Moving(RelPath),
    /// So many paths are said to be gone, this one for example, and are on the disk: ask again.
    Hidden(RelPath, usize),
    /// It contradicts itself or our rules, or reading it failed.
    Refused(Error),
}

impl From<Error> for Bad {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

fn refuse<T>(what: impl Into<String>) -> Result<T, Bad> {
    Err(Bad::Refused(lying(what)))
}

/// Reads the pulled parcel at `path` and keeps the contents in `spool`.
///
/// # Errors
/// [`Bad`] tells a box that works from one that lies.
pub(super) fn read(
    path: &Path,
    root: &RemoteRoot,
    base: &Base,
    limits: &Limits,
    spool: &Spool,
) -> Result<Parcel, Bad> {
    let file = File::open(path).at("open", path)?;
    let unpacked = unpacked(file).map_err(damaged)?.take(limits.contents + 4 * LIST_LIMIT);
    let mut archive = tar::Archive::new(unpacked);
    let mut reader = Reader {
        root,
        limits,
        base,
        spool,
        parcel: Parcel::default(),
        awaited: BTreeMap::new(),
        left: limits.contents,
    };
    let (mut long_name, mut long_target) = (None, None);
    let mut lists = 0;
    // Raw: the crate would read a long name of any size into memory.
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let mut entry = entry.map_err(damaged)?;
        match entry.header().entry_type() {
            tar::EntryType::GNULongName => long_name = Some(long(&mut entry)?),
            tar::EntryType::GNULongLink => long_target = Some(long(&mut entry)?),
            kind => {
                let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                let target = long_target.take().or_else(|| entry.link_name_bytes().map(|t| t.into_owned()));
                match name.strip_prefix(LISTS) {
                    Some(list) if lists < 4 => {
                        lists += 1;
                        reader.list(list, &mut entry)?;
                    }
                    _ if lists < 4 => return refuse("its parcel does not begin with its lists"),
                    _ => reader.contents(&name, kind, target.as_deref(), &mut entry)?,
                }
            }
        }
    }
    if lists < 4 {
        return refuse("its parcel holds no lists");
    }
    reader.finish()
}

/// The tar in a parcel: as it is, or in gzip.
pub(super) fn unpacked(mut file: File) -> std::io::Result<Box<dyn Read>> {
    let mut mark = Vec::new();
    (&mut file).take(2).read_to_end(&mut mark)?;
    file.rewind()?;
    let file = std::io::BufReader::with_capacity(64 * 1024, file);
    Ok(if mark == [0x1f, 0x8b] { Box::new(flate2::bufread::GzDecoder::new(file)) } else { Box::new(file) })
}

fn damaged(source: std::io::Error) -> Bad {
    Bad::Refused(lying(format!("its parcel cannot be read: {source}")))
}

pub(super) fn long(entry: &mut impl Read) -> Result<Vec<u8>, Bad> {
    let mut name = Vec::new();
    entry.take(NAME_LIMIT + 1).read_to_end(&mut name).map_err(damaged)?;
    if name.len() as u64 > NAME_LIMIT {
        return refuse("a name in its parcel is endless");
    }
    while name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

struct Reader<'a> {
    root: &'a RemoteRoot,
    limits: &'a Limits,
    base: &'a Base,
    spool: &'a Spool,
    parcel: Parcel,
    awaited: BTreeMap<RelPath, Entry>,
    left: u64,
}

impl Reader<'_> {
    fn list(&mut self, name: &[u8], entry: &mut impl Read) -> Result<(), Bad> {
        let mut bytes = Vec::new();
        entry.take(LIST_LIMIT + 1).read_to_end(&mut bytes).map_err(damaged)?;
        if bytes.len() as u64 > LIST_LIMIT {
            return refuse("a list in its parcel is endless");
        }
        if !matches!(bytes.last(), None | Some(0)) {
            return refuse("a list in its parcel ends in the middle");
        }
        let records = bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        for record in records {
            if name == b"changed" {
                self.changed(record)?;
                continue;
            }
            let path = self.path(record)?;
            match name {
                b"gone" => self.parcel.gone.extend(path),
                b"nested" => self.parcel.nested.extend(path),
                b"unreadable" => self.parcel.unreadable.extend(path),
                _ => return refuse("it sends a list that was not asked for"),
            }
        }
        Ok(())
    }

    /// A path, or nothing for a name that an honest box may have but no worktree takes.
    fn path(&mut self, bytes: &[u8]) -> Result<Option<RelPath>, Bad> {
        match RelPath::new(bytes) {
            Ok(path) => Ok(Some(path)),
            Err(why @ BadPath::Git) => {
                self.parcel.odd.push((bytes.to_vec(), why));
                Ok(None)
            }
            Err(why) => refuse(format!("it names {why}: \"{}\"", String::from_utf8_lossy(bytes))),
        }
    }

    fn changed(&mut self, record: &[u8]) -> Result<(), Bad> {
        let mut fields = record.splitn(3, |byte| *byte == b' ');
        let mut text = || fields.next().and_then(|field| std::str::from_utf8(field).ok()).unwrap_or_default();
        let (kind, hash) = (FileKind::from_mode(text()), text().parse());
        let (Some(kind), Ok(hash), Some(name)) = (kind, hash, fields.next()) else {
            return refuse(format!("a record of its list is none: \"{}\"", String::from_utf8_lossy(record)));
        };
        if let Some(path) = self.path(name)?
            && self.awaited.insert(path.clone(), Entry { kind, hash }).is_some()
        {
            return refuse(format!("it names {path} twice"));
        }
        Ok(())
    }

    fn contents(
        &mut self,
        name: &[u8],
        kind: tar::EntryType,
        target: Option<&[u8]>,
        entry: &mut tar::Entry<'_, impl Read>,
    ) -> Result<(), Bad> {
        let shown = String::from_utf8_lossy(name).into_owned();
        let Some(bare) = name.strip_prefix(b"./") else {
            return refuse(format!("it sends \"{shown}\", which is no path of the workspace"));
        };
        let path = match RelPath::new(bare) {
            Ok(path) => path,
            Err(BadPath::Git) if self.parcel.odd.iter().any(|(odd, _)| odd == bare) => return Ok(()),
            Err(why) => return refuse(format!("it sends {why}: \"{shown}\"")),
        };
        let Some(promised) = self.awaited.remove(&path) else {
            return refuse(format!("it sends {path}, which its list does not name"));
        };
        let contents = self.spool.fresh();
        let mut file = File::create_new(&contents).at("create", &contents)?;
        let written = match kind {
            tar::EntryType::Regular | tar::EntryType::Continuous => copy_hashed(entry, &mut file, self.left),
            tar::EntryType::Symlink => {
                copy_hashed(&mut target.unwrap_or_default(), &mut file, NAME_LIMIT.min(self.left))
            }
            _ => return refuse(format!("it sends {path} as something that is neither file nor link")),
        };
        let (size, hash) = match written {
            Ok(written) => written,
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                return refuse(format!(
                    "its contents are more than {}",
                    crate::ui::bytes(self.limits.contents)
                ));
            }
            Err(error) => return Err(damaged(error)),
        };
        self.left -= size;
        let mode = entry.header().mode().map_err(damaged)?;
        let sent = match kind {
            tar::EntryType::Symlink => FileKind::Link,
            _ if mode & 0o100 != 0 => FileKind::Executable,
            _ => FileKind::File,
        };
        if (Entry { kind: sent, hash }) != promised {
            return Err(Bad::Moving(path));
        }
        if let Some(target) =
            target.filter(|_| sent == FileKind::Link).and_then(|target| self.inside(&path, target))
        {
            // The same link where the workspace is elsewhere. What is in step is this one, on both sides.
            std::fs::write(&contents, &target).at("write", &contents)?;
            let entry = Entry { kind: sent, hash: digest(&target) };
            self.parcel.changed.insert(path, Arrived { entry, contents });
            return Ok(());
        }
        self.parcel.changed.insert(path, Arrived { entry: promised, contents });
        Ok(())
    }

    /// A link's absolute target in the workspace, as seen from the link's folder.
    fn inside(&self, path: &RelPath, target: &[u8]) -> Option<Vec<u8>> {
        let inner = target.strip_prefix(self.root.as_str().as_bytes())?;
        let inner = inner.strip_prefix(b"/").or(inner.is_empty().then_some(inner))?;
        let mut relative = b"../".repeat(path.components().count() - 1);
        relative.extend(inner);
        Some(if relative.is_empty() { b".".to_vec() } else { relative })
    }

    /// All that was promised is there, and the whole is a tree.
    fn finish(mut self) -> Result<Parcel, Bad> {
        if let Some((path, _)) = self.awaited.pop_first() {
            return Err(Bad::Moving(path));
        }
        let Parcel { changed, gone, .. } = &self.parcel;
        for path in gone {
            if self.base.get(path).is_none() || changed.contains_key(path) {
                return refuse(format!("it says that {path} is gone, which it cannot be"));
            }
        }
        let there = |path: &RelPath| {
            changed.contains_key(path) || (self.base.get(path).is_some() && !gone.contains(path))
        };
        for path in changed.keys().filter(|path| there(path)) {
            if let Some(folder) = super::folders_of(path).find(|folder| there(folder)) {
                return refuse(format!("it has {folder} as a file and as the folder of {path}"));
            }
        }
        for (path, _) in self.base.iter().filter(|(path, _)| there(path)) {
            if let Some(folder) = super::folders_of(path).find(|folder| changed.contains_key(folder)) {
                return refuse(format!("it has {folder} as a file and as the folder of {path}"));
            }
        }
        Ok(self.parcel)
    }
}

/// Reads the parcel of base contents: numbered files, of which only those with the right hash count.
///
/// # Errors
/// The parcel cannot be read or holds more than the limit.
pub(super) fn read_contents(
    path: &Path,
    wanted: &[crate::fs::Digest],
    limits: &Limits,
    spool: &Spool,
) -> Result<BTreeMap<usize, PathBuf>> {
    let unreadable = |source: std::io::Error| lying(format!("its parcel cannot be read: {source}"));
    let file = File::open(path).at("open", path)?;
    let unpacked = unpacked(file).map_err(unreadable)?.take(limits.contents + LIST_LIMIT);
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(unpacked).entries().map_err(unreadable)?.raw(true) {
        let mut entry = entry.map_err(unreadable)?;
        if entry.header().entry_type() != tar::EntryType::Regular {
            continue;
        }
        let name = entry.path_bytes().into_owned();
        let number = std::ffi::OsStr::from_bytes(name.strip_prefix(b"./").unwrap_or(&name)).to_str();
        let Some(number) = number.and_then(|text| text.parse::<usize>().ok()) else { continue };
        let contents = spool.fresh();
        let mut file = File::create_new(&contents).at("create", &contents)?;
        let (_, hash) = copy_hashed(&mut entry, &mut file, limits.contents).map_err(unreadable)?;
        if wanted.get(number) == Some(&hash) {
            found.insert(number, contents);
        }
    }
    Ok(found)
}
