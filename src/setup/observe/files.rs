//! A user's file as it is: its bytes, and whether it is ours to write.

use crate::exec::Run;
use crate::fs::{can_replace, irregular, read_regular, resolve};
use rustix::fs::{Access, access};
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file that may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSeen {
    /// As its program reads it.
    pub(crate) path: PathBuf,
    /// Behind all links.
    pub(crate) real: PathBuf,
    /// Its bytes; none when it does not exist.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Why it could not be read.
    pub(crate) unreadable: Option<String>,
    /// Whose it is.
    pub(crate) owner: Owner,
}

/// Who writes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user, here.
    User,
    /// The user, in the place that a link leads to.
    Linked,
    /// A generator, which would overwrite what we add.
    Generated {
        by: &'static str,
        /// Where the change belongs.
        source: PathBuf,
    },
    /// It is no regular file, so it is neither read nor written.
    Irregular {
        kind: &'static str,
        /// Where it is.
        real: PathBuf,
    },
    /// It, or its folder, is read-only, another user's, or not there.
    Fixed {
        /// Which of them, and how.
        reason: String,
    },
}

impl Owner {
    pub(crate) fn is_ours_to_write(&self) -> bool {
        matches!(self, Self::User | Self::Linked)
    }

    /// Where a change goes when it is not ours to make.
    pub(crate) fn by_hand(&self) -> &'static str {
        match self {
            Self::Generated { .. } => "where the file is made",
            _ => "into it by hand",
        }
    }

    /// How our entries leave a file that is not ours to write.
    pub(crate) fn take_out(&self) -> &'static str {
        match self {
            Self::Generated { .. } => "take our entries out where the file is made",
            _ => "take our entries out by hand",
        }
    }
}

/// Why a file is not ours to write.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("it is an ordinary file"),
            Self::Linked => f.write_str("it is a link"),
            Self::Generated { by, source } => write!(f, "{by} writes it, from {}", source.display()),
            Self::Irregular { kind, real } => write!(f, "{} is {kind}, not a regular file", real.display()),
            Self::Fixed { reason } => f.write_str(reason),
        }
    }
}

impl FileSeen {
    pub(crate) fn look(path: &Path) -> Self {
        let path = &absolute(path);
        let (real, mut unreadable) = match resolve(path) {
            Ok(real) => (real, None),
            Err(error) => (path.to_path_buf(), Some(error.message().to_owned())),
        };
        let irregular = irregular(&real);
        let bytes = match read_regular(&real) {
            Ok(bytes) => Some(bytes),
            // Not read at all; `owner` says why.
            Err(_) if irregular.is_some() => None,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                unreadable.get_or_insert_with(|| error.to_string());
                None
            }
        };
        let owner = match irregular {
            Some(kind) => Owner::Irregular { kind, real: real.clone() },
            None => owner(path, &real),
        };
        Self { path: path.into(), real, bytes, unreadable, owner }
    }

    /// Its bytes, none of them when it does not exist.
    pub(crate) fn contents(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }
}

/// With an empty XDG_CONFIG_HOME Herdr's paths are relative; a receipt must not be.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_is_empty| path.to_path_buf())
}

fn owner(path: &Path, real: &Path) -> Owner {
    if path.as_os_str().is_empty() {
        return Owner::Fixed { reason: "HERDR_CONFIG_PATH is empty, so Herdr reads no file".into() };
    }
    // Home Manager links into the store through a chain of links.
    let canonical = real.canonicalize().unwrap_or_else(|_does_not_exist| real.to_path_buf());
    if canonical.starts_with("/nix/store") {
        return Owner::Generated { by: "Nix", source: canonical };
    }
    if let Some(source) = chezmoi_source(path) {
        return Owner::Generated { by: "chezmoi", source };
    }
    if let Some(reason) = fixed(path, real) {
        return Owner::Fixed { reason };
    }
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        Owner::Linked
    } else {
        Owner::User
    }
}

/// The source file, when chezmoi is here and says that it writes `path`.
fn chezmoi_source(path: &Path) -> Option<PathBuf> {
    let chezmoi = which::which("chezmoi").ok()?;
    if !path.exists() {
        return None;
    }
    let run = Run::new(chezmoi).arg("source-path").arg(path).limit(Duration::from_secs(10));
    let ended = run.run().ok().filter(|ended| ended.success())?;
    let source = ended.stdout_text();
    Some(PathBuf::from(source.trim())).filter(|source| source.is_absolute())
}

/// Why the file cannot be replaced. Root may write what has no write bit; the owner's wish counts.
fn fixed(path: &Path, real: &Path) -> Option<String> {
    // The new file is made beside the real one, the backup beside the path that Herdr reads.
    let folders = [real.parent(), path.parent()].into_iter().flatten();
    fixed_file(path, real).or_else(|| folders.filter_map(fixed_folder).next())
}

fn fixed_file(path: &Path, real: &Path) -> Option<String> {
    let metadata = std::fs::metadata(real).ok()?;
    // The sentence begins with the path that is read.
    let it = if real == path { "it".to_owned() } else { real.display().to_string() };
    if metadata.mode() & 0o222 == 0 {
        return Some(format!("{it} is read-only (mode {:04o})", metadata.mode() & 0o7777));
    }
    if let Err(error) = access(real, Access::WRITE_OK) {
        let reason = plain(error);
        return Some(if real == path { reason } else { format!("{it}: {reason}") });
    }
    let folder = std::fs::metadata(real.parent()?).ok()?;
    if !can_replace(&metadata, &folder) {
        let (uid, gid) = (metadata.uid(), metadata.gid());
        return Some(format!("{it} belongs to uid {uid}, gid {gid}, and a new file of ours would not"));
    }
    // Only writing into it would keep them together, and a write that is cut short would leave half a file.
    (metadata.nlink() > 1)
        .then(|| format!("{it} has {} hard links, which a new file would part", metadata.nlink()))
}

fn fixed_folder(folder: &Path) -> Option<String> {
    let mut way = folder.ancestors();
    let existing = loop {
        let Some(folder) = way.next().filter(|folder| !folder.as_os_str().is_empty()) else {
            break Path::new(".");
        };
        if folder.is_dir() {
            break folder;
        }
        // A link that leads nowhere, a file, or a way up from a folder that is not there.
        if folder.symlink_metadata().is_ok() || folder.ends_with("..") {
            return Some(format!("{} leads to no folder", folder.display()));
        }
    };
    if let Err(error) = access(existing, Access::WRITE_OK) {
        return Some(format!("the folder {} may not be written: {}", existing.display(), plain(error)));
    }
    let mode = std::fs::metadata(existing).map(|metadata| metadata.mode()).unwrap_or(0o700);
    (mode & 0o222 == 0)
        .then(|| format!("the folder {} is read-only (mode {:04o})", existing.display(), mode & 0o7777))
}

/// Why in words, without the system's number.
fn plain(error: rustix::io::Errno) -> String {
    let words = std::io::Error::from(error).to_string();
    let words = words.split_once(" (os error").map_or(words.as_str(), |(words, _)| words);
    words.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_seen_through_its_links() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&real, "x").unwrap();
        symlink("real", &link).unwrap();
        let seen = FileSeen::look(&link);
        assert_eq!((seen.contents(), &seen.owner), (&b"x"[..], &Owner::Linked));
        assert_eq!(FileSeen::look(&real).owner, Owner::User);
        assert_eq!(FileSeen::look(&dir.path().join("absent")).bytes, None);
    }

    #[test]
    fn what_has_no_write_bit_is_read_only_for_root_too() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "x").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
        assert!(matches!(FileSeen::look(&file).owner, Owner::Fixed { .. }));
        let folder = dir.path().join("d");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
        assert!(matches!(FileSeen::look(&folder.join("new")).owner, Owner::Fixed { .. }));
    }

    #[test]
    fn a_way_that_cannot_be_made_is_not_ours() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink("nowhere", at("dangling")).unwrap();
        std::fs::write(at("file"), "x").unwrap();
        for target in ["dangling/c", "dangling/deep/c", "absent/../c"] {
            let seen = FileSeen::look(&at(target));
            assert!(
                matches!(&seen.owner, Owner::Fixed { reason } if reason.contains("leads to no folder")),
                "{seen:?}"
            );
        }
        assert_eq!(FileSeen::look(&at("absent/deep/c")).owner, Owner::User);
    }

    #[test]
    fn one_of_several_names_of_a_file_is_not_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("one"), dir.path().join("other"));
        std::fs::write(&one, "x").unwrap();
        std::fs::hard_link(&one, &other).unwrap();
        assert!(
            matches!(FileSeen::look(&one).owner, Owner::Fixed { reason } if reason.contains("2 hard links"))
        );
        std::fs::remove_file(&other).unwrap();
        assert_eq!(FileSeen::look(&one).owner, Owner::User);
    }
}
