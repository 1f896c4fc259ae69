//! Whole or not at all: temporary file beside the real one, fsync, rename, fsync of the folder.

use super::{IfThere, attributes, irregular, kill_point, resolve};
use crate::error::{Error, IoContext, Result};
use std::fs::{File, Metadata, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// How the names of staged files begin.
pub(super) const STAGED: &str = ".createos-sandbox-";

/// The mode that a new file gets. An existing file keeps its own mode and owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// 0600: the owner only.
    Private,
    /// 0644: readable by everybody.
    Shared,
}

impl Mode {
    fn bits(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Shared => 0o644,
        }
    }
}

/// Replaces the contents of `path`. Links are followed, so that a linked dotfile stays a link;
/// owner, mode and extended attributes of an existing file are kept, `new` is the mode of one that did not exist.
///
/// # Errors
/// Anything that keeps the write from being complete; the old contents are then still there. What is there
/// is a device, a FIFO, a socket or a folder, which is never replaced.
pub(crate) fn write_atomic(path: &Path, contents: &[u8], new: Mode) -> Result<()> {
    let real = resolve(path)?;
    let folder = real.parent().ok_or_else(|| Error::failed(format!("{} has no folder", real.display())))?;
    if let Some(kind) = irregular(&real) {
        return Err(Error::failed(format!(
            "{} is {kind}, not a regular file; it is left alone",
            real.display()
        )));
    }
    let existing = std::fs::metadata(&real).if_there().at("read", &real)?;
    let mut staged =
        tempfile::Builder::new().prefix(STAGED).tempfile_in(folder).at("create a file in", folder)?;
    kill_point();
    staged.write_all(contents).at("write", staged.path())?;
    take_over(staged.as_file(), &real, existing.as_ref(), new).at("set owner and mode of", staged.path())?;
    staged.as_file().sync_all().at("sync", staged.path())?;
    kill_point();
    staged.persist(&real).map_err(|refused| Error::io("replace", &real, &refused.error))?;
    kill_point();
    File::open(folder).and_then(|folder| folder.sync_all()).at("sync", folder)
}

fn take_over(file: &File, real: &Path, existing: Option<&Metadata>, new: Mode) -> std::io::Result<()> {
    let Some(old) = existing else {
        return file.set_permissions(Permissions::from_mode(new.bits()));
    };
    let mine = file.metadata()?;
    if (mine.uid(), mine.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    attributes::take_over(real, file)?;
    // Last: an access list changes the mode along with it.
    file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
}

/// Whether a file that we make in `folder` can be given the owner and the group of `old`, so that it can take
/// its place.
pub(crate) fn can_replace(old: &Metadata, folder: &Metadata) -> bool {
    let groups = rustix::process::getgroups().unwrap_or_default();
    let groups = groups.into_iter().chain([rustix::process::getegid()]).map(|group| group.as_raw());
    // A new file has the group of its folder where that says so; on macOS always.
    let inherited = (cfg!(target_os = "macos") || folder.mode() & 0o2000 != 0).then(|| folder.gid());
    let groups: Vec<u32> = groups.chain(inherited).collect();
    may_give((old.uid(), old.gid()), rustix::process::geteuid().as_raw(), &groups)
}

/// Only root gives files away; a user may choose among the groups that he is in.
fn may_give((owner, group): (u32, u32), me: u32, groups: &[u32]) -> bool {
    me == 0 || (owner == me && groups.contains(&group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays_too() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o664)).unwrap();
        symlink("real", &link).unwrap();
        write_atomic(&link, b"new", Mode::Private).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o777, 0o664);
    }

    #[test]
    fn only_what_can_be_given_its_owner_and_group_is_replaced() {
        assert!(may_give((7, 9), 7, &[7, 9]) && may_give((7, 9), 0, &[0]));
        assert!(!may_give((8, 9), 7, &[7, 9]), "somebody else's, though we may write it");
        assert!(!may_give((7, 8), 7, &[7, 9]), "of a group that we are not in");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine");
        std::fs::write(&path, "").unwrap();
        let seen = |path: &Path| std::fs::metadata(path).unwrap();
        assert!(can_replace(&seen(&path), &seen(dir.path())));
    }

    #[cfg(target_os = "linux")]
    /// An access list for uid 7, as the kernel keeps it: version 2, then tag, permissions and id of each entry.
    fn access_list() -> Vec<u8> {
        let entries = [
            (0x01, 6, u32::MAX),
            (0x02, 4, 7),
            (0x04, 4, u32::MAX),
            (0x10, 4, u32::MAX),
            (0x20, 0, u32::MAX),
        ];
        let entries = entries.iter().flat_map(|(tag, mode, id): &(u16, u16, u32)| {
            [&tag.to_le_bytes()[..], &mode.to_le_bytes(), &id.to_le_bytes()].concat()
        });
        2_u32.to_le_bytes().into_iter().chain(entries).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn attributes_and_access_lists_stay_and_none_is_gained() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        const LIST: &str = "system.posix_acl_access";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config");
        std::fs::write(&path, "old").unwrap();
        let set = |path: &Path, name: &str, value: &[u8]| setxattr(path, name, value, XattrFlags::empty());
        let get = |path: &Path, name: &str| {
            let mut room = vec![0; 1024];
            getxattr(path, name, &mut room).map(|length| room[..length].to_vec()).ok()
        };
        // Some file systems have none of either.
        let is_marked = set(&path, "user.mark", b"mine").is_ok();
        let is_listed = set(&path, LIST, &access_list()).is_ok();
        let mode = std::fs::metadata(&path).unwrap().mode();
        write_atomic(&path, b"new", Mode::Shared).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(get(&path, "user.mark"), is_marked.then(|| b"mine".to_vec()));
        assert_eq!(get(&path, LIST), is_listed.then(access_list));
        assert_eq!(std::fs::metadata(&path).unwrap().mode(), mode);
        // A folder may give a list to each new file; the old one was not made there, and has none.
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "old").unwrap();
        if set(dir.path(), "system.posix_acl_default", &access_list()).is_ok() {
            std::fs::write(dir.path().join("probe"), "").unwrap();
            assert!(get(&dir.path().join("probe"), LIST).is_some(), "it is given to new files");
            let mode = std::fs::metadata(&plain).unwrap().mode();
            write_atomic(&plain, b"new", Mode::Shared).unwrap();
            assert_eq!((get(&plain, LIST), std::fs::metadata(&plain).unwrap().mode()), (None, mode));
        }
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, link) = (dir.path().join("fifo"), dir.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        symlink("fifo", &link).unwrap();
        let refused = write_atomic(&link, b"x", Mode::Private).unwrap_err();
        assert!(refused.message().contains("fifo is a FIFO"), "{}", refused.message());
        assert_eq!(irregular(&fifo), Some("a FIFO"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing staged is left");
    }

    #[test]
    fn a_new_file_gets_the_mode_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        write_atomic(&path, b"{}", Mode::Private).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing staged is left");
    }
}
