//! One path as it is on disk: read whole, judged, and read again when it changed meanwhile.

use super::open::Below;
use super::select::Selection;
use super::stayed::{Reason, Stayed};
use super::{FileKind, Leads, RelPath, follow};
use crate::error::{Error, Result};
use rustix::fs::{FileType, Stat};
use std::fs::File;
use std::io::{self, Read};

/// Files up to this size are held in memory while they are judged; larger ones are streamed.
pub(super) const SMALL: u64 = 2 * 1024 * 1024;

/// What is at a path.
pub(super) enum Found {
    /// A file whose contents are in the buffer.
    Small(FileKind),
    /// A file to be streamed, with its size.
    Large(FileKind, File, Signature),
    /// A link that stays inside, with its target.
    Link(Vec<u8>),
    /// It stays home.
    Stays(Stayed),
}

/// What changes when a file's contents do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature {
    /// Size in bytes.
    pub(super) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Signature {
    /// Of an open file.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(&rustix::fs::fstat(file)?))
    }
}

impl From<&Stat> for Signature {
    #[allow(clippy::unnecessary_cast, reason = "the fields' types differ between systems")]
    fn from(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// Reads paths of one selection, each into the same buffer.
pub(super) struct Reader<'a> {
    selection: &'a Selection,
    below: Below,
    /// The contents of the last small file.
    pub(super) contents: Vec<u8>,
}

impl<'a> Reader<'a> {
    /// A reader below the selection's worktree.
    ///
    /// # Errors
    /// The worktree's top folder cannot be opened.
    pub(super) fn new(selection: &'a Selection) -> Result<Self> {
        let root = &*selection.root;
        let below = Below::new(root).map_err(|source| Error::io("open", root, &source))?;
        Ok(Self { selection, below, contents: Vec::new() })
    }

    /// Reads what is at `path`. A small file that changed while it was read is read once more.
    pub(super) fn read(&mut self, path: &RelPath) -> Found {
        for attempt in 0..2 {
            match self.attempt(path, attempt) {
                Ok(Some(found)) => return found,
                Ok(None) => {}
                Err(error) => return Found::Stays(self.missing(path, &error)),
            }
        }
        Found::Stays(changed(path))
    }

    /// What to say of a path that could not be read.
    pub(super) fn missing(&self, path: &RelPath, error: &io::Error) -> Stayed {
        let (reason, rule) = match error.kind() {
            io::ErrorKind::NotFound if self.selection.skipped.contains(path) => {
                (Reason::Missing, "skip-worktree".into())
            }
            io::ErrorKind::NotFound => (Reason::Missing, "deleted".into()),
            io::ErrorKind::NotADirectory => {
                (Reason::BehindLink, "a folder on the way is a link or a file".into())
            }
            _ => (Reason::Unreadable, error.to_string()),
        };
        Stayed::new(path.as_path(), reason, rule)
    }

    /// `None`: the file changed while it was read.
    fn attempt(&mut self, path: &RelPath, attempt: u8) -> io::Result<Option<Found>> {
        let stat = self.below.stat(path.as_bytes())?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return self.link(path).map(Some),
            other => {
                return Ok(Some(Found::Stays(Stayed::new(path.as_path(), Reason::Special, special(other)))));
            }
        }
        let mut file = self.below.open(path)?;
        let before = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let kind = if before.st_mode & 0o100 == 0 { FileKind::File } else { FileKind::Executable };
        let before = Signature::from(&before);
        if before.size > SMALL {
            return Ok(Some(Found::Large(kind, file, before)));
        }
        self.contents.clear();
        (&mut file).take(SMALL + 1).read_to_end(&mut self.contents)?;
        disturb(self.selection, path, attempt);
        let steady = Signature::of(&file)? == before && self.contents.len() as u64 == before.size;
        Ok(steady.then_some(Found::Small(kind)))
    }

    fn link(&mut self, path: &RelPath) -> io::Result<Found> {
        let target = self.below.read_link(path.as_bytes())?;
        let below = &mut self.below;
        let (end, _) = follow(path.as_bytes(), &target, |at| below.read_link(at).ok());
        // One into git's own folder dangles in the box until that has a repository of its own.
        if end == Leads::Out {
            let shown = String::from_utf8_lossy(&target).into_owned();
            return Ok(Found::Stays(Stayed::new(path.as_path(), Reason::LinkOut, shown)));
        }
        Ok(Found::Link(target))
    }
}

/// It changed while it was read, twice.
pub(super) fn changed(path: &RelPath) -> Stayed {
    Stayed::new(path.as_path(), Reason::Changed, "changed while it was read, twice")
}

fn special(what: FileType) -> &'static str {
    match what {
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "not a file",
    }
}

/// For tests, in debug builds only: `CREATEOS_SANDBOX_DISTURB=once:PATH` (or `always:`, `vanish:`)
/// changes or removes a file just after it was read, as another program might.
pub(super) fn disturb(selection: &Selection, path: &RelPath, attempt: u8) {
    #[cfg(debug_assertions)]
    if let Some(wish) = std::env::var_os("CREATEOS_SANDBOX_DISTURB") {
        use std::os::unix::ffi::OsStrExt;
        let file = selection.root.join(path.as_path());
        let wish = wish.as_bytes().strip_suffix(path.as_bytes());
        let append = || {
            std::fs::OpenOptions::new()
                .append(true)
                .open(&file)
                .and_then(|mut f| io::Write::write_all(&mut f, b"+"))
        };
        let disturbed = match (wish, attempt) {
            (Some(b"once:"), 0) | (Some(b"always:"), _) => append(),
            (Some(b"vanish:"), 0) => append().and_then(|()| std::fs::remove_file(&file)),
            _ => Ok(()),
        };
        disturbed.expect("the test's file can be changed");
    }
    #[cfg(not(debug_assertions))]
    let _ = (selection, path, attempt);
}
