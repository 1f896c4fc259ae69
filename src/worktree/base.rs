//! The base: mode, hash and path of every file that was last in step on both sides.

use super::RelPath;
use crate::fs::Digest;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

/// What a path is. Owner, time and the other mode bits do not travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FileKind {
    /// A regular file.
    File,
    /// A regular file with the owner's executable bit.
    Executable,
    /// A symbolic link; its contents are its target.
    Link,
}

impl FileKind {
    /// git's mode word for it, which is also how a stored list writes it.
    pub(crate) fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }

    /// The kind for a mode word.
    pub(crate) fn from_mode(word: &str) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link].into_iter().find(|kind| kind.mode() == word)
    }
}

/// One path's state: what it is, and the SHA-256 of its raw bytes (a link's: of its target).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// File, executable or link.
    pub(crate) kind: FileKind,
    /// Hash of the raw contents.
    pub(crate) hash: Digest,
}

/// The list of paths with their state, in the order of their bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Base {
    entries: BTreeMap<RelPath, Entry>,
}

impl Base {
    /// Adds or replaces a path's state.
    pub(crate) fn insert(&mut self, path: RelPath, entry: Entry) {
        self.entries.insert(path, entry);
    }

    /// Forgets a path.
    pub(crate) fn remove(&mut self, path: &RelPath) {
        self.entries.remove(path);
    }

    /// A path's state.
    pub(crate) fn get(&self, path: &RelPath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// All paths in the order of their bytes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&RelPath, &Entry)> {
        self.entries.iter()
    }

    /// No paths at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes `MODE HASH PATH` records, each ended by a zero byte.
    ///
    /// # Errors
    /// Whatever the writer reports.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (path, entry) in self.iter() {
            write!(out, "{} {} ", entry.kind.mode(), entry.hash)?;
            out.write_all(path.as_bytes())?;
            out.write_all(&[0])?;
        }
        Ok(())
    }

    /// Reads what [`Base::write`] wrote. Every record is judged: the text may come from a box.
    ///
    /// # Errors
    /// The reader's, or `InvalidData` with the record that is not one.
    pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Self> {
        let mut base = Self::default();
        let mut record = Vec::new();
        loop {
            record.clear();
            if input.read_until(0, &mut record)? == 0 {
                return Ok(base);
            }
            let (path, entry) = parse(&record).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("not a record of a base list: {:?}", String::from_utf8_lossy(&record)),
                )
            })?;
            base.insert(path, entry);
        }
    }
}

fn parse(record: &[u8]) -> Option<(RelPath, Entry)> {
    let record = record.strip_suffix(&[0])?;
    let mut fields = record.splitn(3, |byte| *byte == b' ');
    let kind = FileKind::from_mode(std::str::from_utf8(fields.next()?).ok()?)?;
    let hash = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    Some((RelPath::new(fields.next()?).ok()?, Entry { kind, hash }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::digest;

    #[test]
    fn a_list_reads_back_what_it_wrote() {
        let mut base = Base::default();
        base.insert(
            RelPath::new(b"a b\nc").unwrap(),
            Entry { kind: FileKind::Executable, hash: digest(b"x") },
        );
        base.insert(RelPath::new(b"\xff").unwrap(), Entry { kind: FileKind::Link, hash: digest(b"y") });
        let mut bytes = Vec::new();
        base.write(&mut bytes).unwrap();
        assert_eq!(Base::read(&mut &bytes[..]).unwrap(), base);
    }

    #[test]
    fn a_record_that_leads_out_is_refused() {
        let text = format!("100644 {} ../x\0", digest(b""));
        assert!(Base::read(&mut text.as_bytes()).is_err());
        assert!(Base::read(&mut &b"100644"[..]).is_err());
    }
}
