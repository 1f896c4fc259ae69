//! A file's path relative to the worktree, in raw bytes, judged once.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path inside the worktree: `/`-separated raw bytes, never absolute, without empty, `.`, `..`
/// or `.git` components. The name may hold anything else: line feeds, leading dashes, any bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RelPath(Box<[u8]>);

/// Why a path is not one of a worktree's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPath {
    /// Nothing, or a component of nothing.
    #[error("an empty name")]
    Empty,
    /// It starts with `/`.
    #[error("an absolute path")]
    Absolute,
    /// `.` or `..`.
    #[error("a path that leaves the worktree")]
    Dots,
    /// Git's own folder, in any spelling that a case-folding file system takes for it.
    #[error("a path inside .git")]
    Git,
    /// A zero byte.
    #[error("a zero byte")]
    Zero,
}

impl RelPath {
    /// Judges `bytes`.
    ///
    /// # Errors
    /// [`BadPath`] says why it cannot be a file of a worktree.
    pub(crate) fn new(bytes: &[u8]) -> Result<Self, BadPath> {
        if bytes.is_empty() {
            return Err(BadPath::Empty);
        }
        if bytes[0] == b'/' {
            return Err(BadPath::Absolute);
        }
        if bytes.contains(&0) {
            return Err(BadPath::Zero);
        }
        for component in bytes.split(|byte| *byte == b'/') {
            match component {
                b"" => return Err(BadPath::Empty),
                b"." | b".." => return Err(BadPath::Dots),
                name if is_git(name) => return Err(BadPath::Git),
                _ => {}
            }
        }
        Ok(Self(bytes.into()))
    }

    /// The raw bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path to join to a root.
    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The components from the outermost folder to the file's own name.
    pub(crate) fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The last component.
    pub(crate) fn file_name(&self) -> &[u8] {
        self.components().next_back().expect("a path has a component")
    }
}

/// `.git` as Linux, macOS (case, ignored code points are refused by their bytes) and git itself know it.
pub(super) fn is_git(name: &[u8]) -> bool {
    // HFS+ ignores these code points in names, so `.g\u{200c}it` is `.git` there.
    let mut folded = String::from_utf8_lossy(name).into_owned();
    folded.retain(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'));
    let folded = folded.trim_end_matches([' ', '.']);
    folded.eq_ignore_ascii_case(".git") || folded.eq_ignore_ascii_case("git~1")
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_files_too() {
        for good in [&b"a"[..], b"-rf", b"a\nb", b"\xff\xfe", b".gitignore", b"a/.github/x", b"..a", b"git"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for (bad, why) in [
            (&b""[..], BadPath::Empty),
            (b"/etc/passwd", BadPath::Absolute),
            (b"a//b", BadPath::Empty),
            (b"a/", BadPath::Empty),
            (b"../x", BadPath::Dots),
            (b"a/./b", BadPath::Dots),
            (b".git/config", BadPath::Git),
            (b"a/.GIT/hooks/x", BadPath::Git),
            (b".git./x", BadPath::Git),
            (b"GIT~1/x", BadPath::Git),
            (".g\u{200c}it/config".as_bytes(), BadPath::Git),
            (b"a\0b", BadPath::Zero),
        ] {
            assert_eq!(RelPath::new(bad).unwrap_err(), why, "{bad:?}");
        }
    }
}
