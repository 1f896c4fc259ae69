//! `.worktreeinclude`: ignored files that the work in a box needs, in the syntax of ignore files, at the top of the
//! worktree. It is the repository's word: it counts only for who said yes to exactly this content.

use super::RelPath;
use super::git::{Worktree, records};
use super::open::Below;
use crate::error::{Error, Result};
use crate::fs::digest;
use std::collections::{BTreeSet, HashSet};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;

/// The file's name.
pub(crate) const INCLUDE: &str = ".worktreeinclude";
/// Nobody writes more of it by hand, in bytes.
const LARGEST: u64 = 256 * 1024;

/// The file, and what it names.
#[derive(Debug, Clone)]
pub(crate) struct Include {
    /// The hash of the worktree and the content: what a yes is for.
    pub(crate) hash: String,
    /// Files that git ignores and does not track, and that the file names; not judged yet.
    pub(super) candidates: Vec<Vec<u8>>,
}

impl Include {
    /// Reads it; `None` when there is none.
    ///
    /// # Errors
    /// It cannot be read, is too large, or git cannot list the worktree.
    pub(super) fn read(worktree: &Worktree) -> Result<Option<Self>> {
        let path = worktree.root().join(INCLUDE);
        let wrong = |source: &io::Error| Error::io("read", &path, source);
        let mut below = Below::new(worktree.root()).map_err(|source| wrong(&source))?;
        let name = RelPath::new(INCLUDE.as_bytes()).expect("the name is a file's");
        let file = match below.open(&name) {
            Ok(file) if file.metadata().is_ok_and(|found| found.is_file()) => file,
            // A folder or a pipe of that name, and a link, are nothing that the repository says.
            Ok(_) => return Ok(None),
            Err(source) if source.kind() == io::ErrorKind::NotFound || is_link(&source) => return Ok(None),
            Err(source) => return Err(wrong(&source)),
        };
        let mut content = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut content).map_err(|source| wrong(&source))?;
        if content.len() as u64 > LARGEST {
            return Err(Error::failed(format!("{} is larger than {} KB", path.display(), LARGEST / 1024)));
        }
        let named = [worktree.root().as_os_str().as_bytes(), b"\0", &content].concat();
        Ok(Some(Self { hash: digest(&named).to_string(), candidates: candidates(worktree, &content)? }))
    }
}

fn is_link(source: &io::Error) -> bool {
    source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// What git ignores and does not track, and the patterns name. git does the matching, with the content that was read.
fn candidates(worktree: &Worktree, content: &[u8]) -> Result<Vec<Vec<u8>>> {
    let list = |args: &[&str]| -> Result<Vec<Vec<u8>>> {
        let output = worktree.output(&[&["ls-files", "-z", "--others", "--ignored"], args].concat())?;
        Ok(records(&output).map(<[u8]>::to_vec).collect())
    };
    let place = std::env::temp_dir();
    let mut patterns =
        tempfile::NamedTempFile::new().map_err(|source| Error::io("create a file in", &place, &source))?;
    patterns.write_all(content).map_err(|source| Error::io("write", patterns.path(), &source))?;
    let from = format!("--exclude-from={}", patterns.path().display());
    let named = list(&[&from])?;
    if named.is_empty() {
        return Ok(named);
    }
    let ignored: HashSet<Vec<u8>> = list(&["--exclude-standard"])?.into_iter().collect();
    let both: BTreeSet<Vec<u8>> = named.into_iter().filter(|name| ignored.contains(name)).collect();
    Ok(both.into_iter().collect())
}

/// What a question about an include is about: the files that would leave after a yes.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What the yes is for.
    pub(crate) hash: String,
    /// The files that pass the filters of names, in the order of their bytes.
    pub(crate) files: Vec<RelPath>,
    /// Their sizes in all, in bytes.
    pub(crate) bytes: u64,
}
