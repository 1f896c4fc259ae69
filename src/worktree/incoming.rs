//! Judges an archive that a box made, before anything of it is unpacked.

use super::link::leads_out;
use super::{BadPath, RelPath};
use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use tar::{Archive, EntryType};

/// What an archive may hold at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Entries, folders included.
    pub(crate) entries: u64,
    /// The sum of the files' sizes in bytes.
    pub(crate) bytes: u64,
}

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadArchive {
    /// A name that is absolute, leads out, or is git's own.
    #[error("the archive holds \"{name}\": {why}")]
    Name {
        /// The name as the archive has it.
        name: String,
        /// What is wrong with it.
        why: BadPath,
    },
    /// A link whose target is outside.
    #[error("the archive holds a link that leads out: \"{name}\" -> \"{target}\"")]
    LinkOut {
        /// The link.
        name: String,
        /// Where it leads.
        target: String,
    },
    /// A name below a link of the same archive: unpacking would write through the link.
    #[error("the archive would write through a link: \"{name}\"")]
    ThroughLink {
        /// The name below the link.
        name: String,
    },
    /// A hard link, a device, a pipe, or anything else that is no file, folder or link.
    #[error("the archive holds \"{name}\", which is no file, folder or link")]
    Special {
        /// The entry's name.
        name: String,
    },
    /// More entries or bytes than the limits allow.
    #[error("the archive holds more than {} entries or {} bytes", limits.entries, limits.bytes)]
    TooLarge {
        /// The limits that it had.
        limits: Limits,
    },
    /// It cannot be read as a tar archive.
    #[error("the archive cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Judges every entry of an uncompressed tar stream, reading it to its end: names as [`RelPath`]
/// accepts them, links that stay inside (also by way of other links of the archive), nothing below
/// a link, only files, folders and symbolic links, within the limits.
///
/// # Errors
/// The first thing that is wrong with it.
pub(crate) fn check_archive(tar: impl Read, limits: Limits) -> Result<(), BadArchive> {
    let mut links: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    let (mut entries, mut bytes) = (0_u64, 0_u64);
    for entry in Archive::new(tar).entries()? {
        let entry = entry?;
        entries += 1;
        bytes = bytes.saturating_add(entry.size());
        if entries > limits.entries || bytes > limits.bytes {
            return Err(BadArchive::TooLarge { limits });
        }
        let raw = entry.path_bytes();
        let shown = || String::from_utf8_lossy(&raw).into_owned();
        let what = entry.header().entry_type();
        let Some(name) = plain(&raw) else {
            // "./", the folder that is unpacked into.
            if what == EntryType::Directory && matches!(&*raw, b"." | b"./") {
                continue;
            }
            return Err(BadArchive::Name { name: shown(), why: BadPath::Empty });
        };
        let path = RelPath::new(name).map_err(|why| BadArchive::Name { name: shown(), why })?;
        match what {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse | EntryType::Directory => {}
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                links.insert(path.as_bytes().to_vec(), target);
            }
            _ => return Err(BadArchive::Special { name: shown() }),
        }
        names.push(path.as_bytes().to_vec());
    }
    for (path, target) in &links {
        if leads_out(path, target, |at| links.get(at).cloned()) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            return Err(BadArchive::LinkOut { name: text(path), target: text(target) });
        }
    }
    for name in &names {
        if memchr::memchr_iter(b'/', name).any(|slash| links.contains_key(&name[..slash])) {
            return Err(BadArchive::ThroughLink { name: String::from_utf8_lossy(name).into_owned() });
        }
    }
    Ok(())
}

/// The name without the `./` before it and the `/` after it that tar writes for folders.
fn plain(name: &[u8]) -> Option<&[u8]> {
    let name = name.strip_prefix(b"./").unwrap_or(name);
    let name = if name.len() > 1 { name.strip_suffix(b"/").unwrap_or(name) } else { name };
    (!name.is_empty() && name != b".").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::Header;

    const LIMITS: Limits = Limits { entries: 10, bytes: 1000 };

    /// A raw archive: the tar crate's own builder refuses the names that are tested here.
    fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, what, text) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*what);
            header.set_mode(0o644);
            let gnu = header.as_gnu_mut().unwrap();
            gnu.name[..name.len()].copy_from_slice(name.as_bytes());
            let contents = if *what == EntryType::Symlink || *what == EntryType::Link {
                gnu.linkname[..text.len()].copy_from_slice(text.as_bytes());
                ""
            } else {
                text
            };
            header.set_size(contents.len() as u64);
            header.set_cksum();
            bytes.extend(header.as_bytes());
            bytes.extend(contents.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
        bytes.resize(bytes.len() + 1024, 0);
        bytes
    }

    fn check(entries: &[(&str, EntryType, &str)]) -> Result<(), BadArchive> {
        check_archive(&archive(entries)[..], LIMITS)
    }

    const FILE: EntryType = EntryType::Regular;
    const LINK: EntryType = EntryType::Symlink;

    #[test]
    fn an_ordinary_archive_passes() {
        check(&[
            ("./", EntryType::Directory, ""),
            ("./a/", EntryType::Directory, ""),
            ("a/b", FILE, "x"),
            ("./c", FILE, ""),
            ("a/l", LINK, "../c"),
        ])
        .unwrap();
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            ".git/hooks/pre-commit",
            "a/.GIT/config",
            "a//b",
            "./../x",
            "//x",
        ] {
            assert!(matches!(check(&[(name, FILE, "")]), Err(BadArchive::Name { .. })), "{name}");
        }
    }

    #[test]
    fn links_that_lead_out_are_refused_in_any_order() {
        for target in ["/etc/passwd", "../x", "b/../../x", ""] {
            assert!(matches!(check(&[("l", LINK, target)]), Err(BadArchive::LinkOut { .. })), "{target}");
        }
        let chain = [("d/e/l", LINK, "up/../x"), ("d/e/up", LINK, "../..")];
        assert!(matches!(check(&chain), Err(BadArchive::LinkOut { .. })));
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let through = [("d", LINK, "e"), ("d/x", FILE, "x")];
        assert!(matches!(check(&through), Err(BadArchive::ThroughLink { .. })));
        let later = [("d/x", FILE, "x"), ("d", LINK, "e")];
        assert!(matches!(check(&later), Err(BadArchive::ThroughLink { .. })));
    }

    #[test]
    fn other_kinds_and_too_much_are_refused() {
        for what in [EntryType::Link, EntryType::Fifo, EntryType::Block, EntryType::Char] {
            assert!(matches!(check(&[("x", what, "a")]), Err(BadArchive::Special { .. })), "{what:?}");
        }
        let large = "x".repeat(600);
        assert!(matches!(
            check(&[("a", FILE, &large), ("b", FILE, &large)]),
            Err(BadArchive::TooLarge { .. })
        ));
        let many: Vec<_> = (0..11).map(|_| ("a", FILE, "")).collect();
        assert!(matches!(check(&many), Err(BadArchive::TooLarge { .. })));
    }
}
