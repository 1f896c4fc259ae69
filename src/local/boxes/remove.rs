//! Deletes a tree that a box has written: no link is followed, no depth and no mode stops it.

use crate::error::{IoContext, Result};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

/// Deletes `name` in the folder `parent`, and everything in it. Nothing there is fine.
///
/// Every folder that is found is first moved up beside the topmost one, so that a chain of folders of
/// any length needs neither a deep stack nor many descriptors. No process of the box may live.
///
/// # Errors
/// Something could not be deleted; a later call goes on from there.
pub(crate) fn remove_tree(parent: &Path, name: &str) -> Result<()> {
    let doing = "delete from";
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = rustix::fs::open(parent, flags, Mode::empty()).at(doing, parent)?;
    let name = CString::new(name).expect("names of ours hold no NUL");
    clear(&top, &name).at(doing, parent)
}

fn clear(top: &OwnedFd, name: &CStr) -> rustix::io::Result<()> {
    match unlinkat(top, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let mut waiting = vec![name.to_owned()];
    let mut number = 0_u64;
    while let Some(name) = waiting.pop() {
        let folder = open_folder(top, &name)?;
        loop {
            // Deleting while reading may skip entries: read until a pass finds nothing.
            let mut found = false;
            for entry in Dir::read_from(&folder)? {
                let entry = entry?;
                let child = entry.file_name();
                if child == c"." || child == c".." {
                    continue;
                }
                found = true;
                let is_folder = match entry.file_type() {
                    FileType::Unknown => {
                        let stat = statat(&folder, child, AtFlags::SYMLINK_NOFOLLOW)?;
                        FileType::from_raw_mode(stat.st_mode).is_dir()
                    }
                    kind => kind.is_dir(),
                };
                if !is_folder {
                    unlinkat(&folder, child, AtFlags::empty())?;
                    continue;
                }
                if unlinkat(&folder, child, AtFlags::REMOVEDIR).is_ok() {
                    continue;
                }
                // To move a folder one must be able to write to it.
                drop(open_folder(&folder, child)?);
                waiting.push(move_up(&folder, child, top, &mut number)?);
            }
            if !found {
                break;
            }
        }
        unlinkat(top, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

fn move_up(from: &OwnedFd, name: &CStr, top: &OwnedFd, number: &mut u64) -> rustix::io::Result<CString> {
    loop {
        *number += 1;
        let free = CString::new(format!(".trash-{number}")).expect("digits hold no NUL");
        match rustix::fs::renameat_with(from, name, top, &free, rustix::fs::RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(free),
            // Left by a deletion that was cut off.
            Err(Errno::EXIST) => {}
            // A file system without this flag: the names are ours alone.
            Err(Errno::INVAL) => return renameat(from, name, top, &free).map(|()| free),
            Err(errno) => return Err(errno),
        }
    }
}

/// Opens a folder, giving its owner all rights first if they are missing.
fn open_folder(at: impl AsFd, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let look = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(&at, name, look, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // An O_PATH descriptor takes no fchmod; its link in /proc leads to exactly this folder.
        let link = format!("/proc/self/fd/{}", place.as_raw_fd());
        rustix::fs::chmod(&link, Mode::RWXU)?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(&at, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn links_are_deleted_and_not_what_they_lead_to() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, tree) = (dir.path().join("outside"), dir.path().join("tree"));
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), "").unwrap();
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        symlink(&outside, tree.join("a/link")).unwrap();
        symlink("/", tree.join("a/b/root")).unwrap();
        remove_tree(dir.path(), "tree").unwrap();
        assert!(!tree.exists());
        assert!(outside.join("kept").exists());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        symlink(&outside, &tree).unwrap();
        remove_tree(dir.path(), "tree").unwrap();
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn neither_depth_nor_modes_stop_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut at = std::fs::File::open(dir.path()).unwrap();
        for depth in 0..3000 {
            let name = if depth == 0 { "tree" } else { "deeper-and-deeper" };
            rustix::fs::mkdirat(&at, name, Mode::RWXU).unwrap();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            at = openat(&at, name, flags, Mode::empty()).unwrap().into();
            rustix::fs::mkdirat(&at, "shut", Mode::RWXU).unwrap();
            std::fs::write(format!("/proc/self/fd/{}/shut/file", at.as_raw_fd()), "").unwrap();
            rustix::fs::chmodat(&at, "shut", Mode::empty(), AtFlags::empty()).unwrap();
        }
        at.set_permissions(std::fs::Permissions::from_mode(0o000)).unwrap();
        remove_tree(dir.path(), "tree").unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_there_is_fine() {
        let dir = tempfile::tempdir().unwrap();
        remove_tree(dir.path(), "never").unwrap();
    }
}
