//! Opens what is below a root, and nothing else: each folder on the way by its own descriptor,
//! never through a link. It also reaches paths that are too long for the kernel in one piece.

use super::RelPath;
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Folders that are kept open; deeper ones are opened anew, so that no tree uses up descriptors.
const KEPT_OPEN: usize = 24;

#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens paths below one root. Paths that come in order share the folders on their way.
#[derive(Debug)]
pub(super) struct Below {
    root: OwnedFd,
    open: Vec<(Box<[u8]>, OwnedFd)>,
}

impl Below {
    /// Holds the root open.
    ///
    /// # Errors
    /// The root cannot be opened.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        // The root itself may be named through links; what is below may not.
        let flags = FOLDER.difference(OFlags::NOFOLLOW);
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())?, open: Vec::new() })
    }

    /// What is at the path, links not followed.
    ///
    /// # Errors
    /// `NotFound`; `NotADirectory` when a folder on the way is a link or no folder; others.
    pub(super) fn stat(&mut self, path: &[u8]) -> io::Result<Stat> {
        self.with_folder(path, |folder, name| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// A link's target.
    ///
    /// # Errors
    /// As [`Below::stat`]; `InvalidInput` when it is no link.
    pub(super) fn read_link(&mut self, path: &[u8]) -> io::Result<Vec<u8>> {
        self.with_folder(path, |folder, name| {
            rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
        })
    }

    /// Opens a file for reading; a pipe does not make it wait.
    ///
    /// # Errors
    /// As [`Below::stat`]; a link is an error.
    pub(super) fn open(&mut self, path: &RelPath) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        self.with_folder(path.as_bytes(), |folder, name| {
            rustix::fs::openat(folder, name, flags, Mode::empty())
        })
        .map(File::from)
    }

    fn with_folder<T>(
        &mut self,
        path: &[u8],
        act: impl FnOnce(BorrowedFd<'_>, &[u8]) -> rustix::io::Result<T>,
    ) -> io::Result<T> {
        let mut components: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let name = components.pop().expect("splitting gives at least one piece");
        let shared =
            self.open.iter().zip(&components).take_while(|(open, component)| &*open.0 == **component).count();
        self.open.truncate(shared);
        let mut deep: Option<OwnedFd> = None;
        for component in &components[shared..] {
            let parent = self.innermost(deep.as_ref());
            let next = rustix::fs::openat(parent, *component, FOLDER, Mode::empty()).map_err(not_through)?;
            if deep.is_none() && self.open.len() < KEPT_OPEN {
                self.open.push(((*component).into(), next));
            } else {
                deep = Some(next);
            }
        }
        act(self.innermost(deep.as_ref()), name).map_err(Into::into)
    }

    fn innermost<'a>(&'a self, deep: Option<&'a OwnedFd>) -> BorrowedFd<'a> {
        deep.or(self.open.last().map(|(_, open)| open)).unwrap_or(&self.root).as_fd()
    }
}

/// A link on the way is `ELOOP` on macOS and `ENOTDIR` on Linux.
fn not_through(error: rustix::io::Errno) -> io::Error {
    if error == rustix::io::Errno::LOOP { rustix::io::Errno::NOTDIR.into() } else { error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_reached_and_a_folder_that_is_a_link_is_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/b/c"), "x").unwrap();
        symlink("a", dir.path().join("l")).unwrap();
        let mut below = Below::new(dir.path()).unwrap();
        let mut text = String::new();
        below.open(&RelPath::new(b"a/b/c").unwrap()).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
        assert_eq!(below.stat(b"l/b/c").unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(below.stat(b"a/x/c").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(below.read_link(b"l").unwrap(), b"a");
        assert!(below.open(&RelPath::new(b"l").unwrap()).is_err());
    }
}
