//! The record of a change to the worktree, written before its first step and read after a kill.

use crate::error::{Error, IoContext, Kind, Result};
use crate::fs::{self, Mode};
use crate::worktree::{Entry, FileKind, RelPath};
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How far a change has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// New contents are being written beside their targets.
    Staging,
    /// They are being moved into place.
    Swapping,
    /// All are in place; what is left is tidying up.
    Committed,
    /// Done.
    Done,
}

/// One step, with all that is needed to take it and to take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    /// A file or link goes away.
    Delete {
        path: Name,
        stage: Name,
        before: State,
        /// Its mode bits, to give them back.
        mode: u32,
    },
    /// An empty folder makes room for a file.
    RemoveFolder { path: Name },
    /// A folder for new files.
    MakeFolder { path: Name },
    /// A file or link comes.
    Create { path: Name, stage: Name, after: State },
    /// A file or link takes another's place.
    Replace { path: Name, stage: Name, before: State, after: State },
}

impl Step {
    /// The path that it is about.
    pub(super) fn path(&self) -> &RelPath {
        match self {
            Self::Delete { path, .. }
            | Self::RemoveFolder { path }
            | Self::MakeFolder { path }
            | Self::Create { path, .. }
            | Self::Replace { path, .. } => &path.0,
        }
    }
}

/// The journal of one change.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Journal {
    /// Format of this file.
    pub(super) version: u32,
    /// The worktree's top folder.
    pub(super) worktree: Folder,
    /// How far it has come.
    pub(super) phase: Phase,
    /// The apply that this change takes back, if it is an undo.
    pub(super) undoes: Option<u64>,
    /// In order.
    pub(super) steps: Vec<Step>,
}

/// The only format so far.
pub(super) const VERSION: u32 = 1;

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// It cannot be read, or is of a newer version.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).at("read", path)?;
        let help = "use the newer createos-sandbox, which will finish it";
        fs::refuse_newer(path, &text, VERSION, Kind::Failed, help)?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::failed(format!("{} is no journal: {error}", path.display())))
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).expect("a journal is plain data");
        fs::write_atomic(path, &text, Mode::Private)
    }
}

/// A path in a journal: bytes that are not plain text are written as `%XX`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) struct Name(pub(super) RelPath);

/// An absolute path in a journal, escaped likewise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) struct Folder(pub(super) PathBuf);

/// An entry in a journal: mode word and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) struct State(pub(super) Entry);

impl From<Name> for String {
    fn from(name: Name) -> Self {
        escape(name.0.as_bytes())
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bytes = unescape(&text).ok_or("not an escaped path")?;
        RelPath::new(&bytes).map(Self).map_err(|why| why.to_string())
    }
}

impl From<Folder> for String {
    fn from(folder: Folder) -> Self {
        escape(folder.0.as_os_str().as_bytes())
    }
}

impl TryFrom<String> for Folder {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bytes = unescape(&text).ok_or("not an escaped path")?;
        Ok(Self(PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))))
    }
}

impl From<State> for String {
    fn from(State(entry): State) -> Self {
        format!("{} {}", entry.kind.mode(), entry.hash)
    }
}

impl TryFrom<String> for State {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (mode, hash) = text.split_once(' ').ok_or("not a mode and a hash")?;
        let kind = FileKind::from_mode(mode).ok_or("not a mode")?;
        let hash = hash.parse().map_err(|why: fs::NotADigest| why.to_string())?;
        Ok(Self(Entry { kind, hash }))
    }
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'%' | 0..=0x1f | 0x7f.. => text.push_str(&format!("%{byte:02X}")),
            _ => text.push(char::from(*byte)),
        }
    }
    text
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_survives_a_journal() {
        let name = Name(RelPath::new(b"a%41\n\xff/-\"b").unwrap());
        let text = serde_json::to_string(&name).unwrap();
        assert!(text.is_ascii());
        assert_eq!(serde_json::from_str::<Name>(&text).unwrap(), name);
        assert!(serde_json::from_str::<Name>("\"../x\"").is_err());
        assert!(serde_json::from_str::<Name>("\"%2\"").is_err());
    }
}
