//! Mounts through descriptors (Linux 5.12): nothing that a box can rename or link decides what is
//! mounted or where.

use super::super::wire::spec::Step;
use super::outcome::{During, Isolated};
use super::sys;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use std::os::fd::{AsFd, OwnedFd};

/// Read-only, no setuid, no devices.
pub(super) const SHUT: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// Writable, no setuid, no devices.
pub(super) const TAME: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// A device node that cannot be changed.
pub(super) const DEVICE: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// A tree that is not mounted anywhere yet.
#[derive(Debug)]
pub(super) struct Tree(OwnedFd);

impl Tree {
    /// A copy of the mount at `path`, with everything below it.
    pub(super) fn copy(path: &str, attributes: u64) -> Isolated<Self> {
        Self::at(CWD, path, attributes, true)
    }

    /// A copy of the one mount at `path`, seen from `folder`.
    pub(super) fn at(folder: impl AsFd, path: &str, attributes: u64, recursive: bool) -> Isolated<Self> {
        let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        if recursive {
            flags |= OpenTreeFlags::AT_RECURSIVE;
        }
        if path.is_empty() {
            flags |= OpenTreeFlags::AT_EMPTY_PATH;
        }
        let tree = open_tree(folder, path, flags).during(Step::Mount, path)?;
        sys::set_mount_attributes(&tree, attributes, recursive).during(Step::Mount, path)?;
        Ok(Self(tree))
    }

    /// As [`Tree::copy`], or nothing when the host has no such path.
    pub(super) fn of_existing(path: &str, attributes: u64) -> Isolated<Option<Self>> {
        match Self::copy(path, attributes) {
            Ok(tree) => Ok(Some(tree)),
            Err(refused) if is_missing(refused.errno) => Ok(None),
            Err(refused) => Err(refused),
        }
    }

    /// A new file system of this type.
    pub(super) fn new(kind: &str, options: &[(&str, &str)], attributes: u64, step: Step) -> Isolated<Self> {
        let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).during(step, kind)?;
        for (key, value) in options {
            fsconfig_set_string(&context, *key, *value).during(step, kind)?;
        }
        fsconfig_create(&context).during(step, kind)?;
        let attributes = MountAttrFlags::from_bits_retain(u32::try_from(attributes).unwrap_or(u32::MAX));
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).during(step, kind)?))
    }

    /// Mounts the tree on what `target` is open at, and gives back a descriptor of its root.
    pub(super) fn mount(self, target: impl AsFd, name: &str) -> Isolated<OwnedFd> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&self.0, "", target, "", flags).during(Step::Mount, name)?;
        Ok(self.0)
    }
}

/// Opens a folder inside `folder` for mounting on it; a link is refused.
pub(super) fn folder(folder: impl AsFd, name: &str) -> Isolated<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty()).during(Step::Mount, &format!("the box's /{name}"))
}

/// As [`folder`], and makes it when it is missing: the host may have got one since the box was made.
pub(super) fn folder_or_new(at: impl AsFd, name: &str) -> Isolated<OwnedFd> {
    match folder(&at, name) {
        Err(refused) if refused.errno == libc::ENOENT => new_folder(&at, name, 0o755),
        other => other,
    }
}

/// Makes an empty file in a folder of ours and opens it for mounting on it.
pub(super) fn file(folder: impl AsFd, name: &str) -> Isolated<OwnedFd> {
    let create = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::openat(&folder, name, create, Mode::from_raw_mode(0o444)).during(Step::Mount, name)?;
    rustix::fs::openat(&folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        .during(Step::Mount, name)
}

/// Makes a folder in a folder of ours and opens it.
pub(super) fn new_folder(at: impl AsFd, name: &str, mode: u32) -> Isolated<OwnedFd> {
    rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(mode)).during(Step::Mount, name)?;
    folder(at, name)
}

/// Whether `path` is there, as the box's user sees the host.
pub(super) fn is_folder(path: &str) -> bool {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}

fn is_missing(errno: i32) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::ACCESS].iter().any(|known| known.raw_os_error() == errno)
}
