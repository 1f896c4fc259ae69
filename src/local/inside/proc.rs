//! A new `/proc` that shows the box's processes and none of the host's switches.

use super::super::wire::spec::Step;
use super::mounts::{SHUT, Tree};
use super::outcome::Isolated;
use rustix::fs::{Mode, OFlags, openat};
use std::os::fd::{AsFd, OwnedFd};

/// Can be read, not written.
const READ_ONLY: [&str; 4] = ["sys", "irq", "bus", "fs"];
/// A file that opens as `/dev/null`.
const HIDDEN_FILES: [&str; 10] = [
    "sysrq-trigger",
    "kcore",
    "kallsyms",
    "kmsg",
    "keys",
    "key-users",
    "timer_list",
    "sched_debug",
    "latency_stats",
    "timer_stats",
];
/// An empty folder.
const HIDDEN_FOLDERS: [&str; 3] = ["scsi", "acpi", "firmware"];

/// Mounts `/proc` and everything that lies over parts of it. `null` is the box's `/dev/null`.
pub(super) fn build(target: &OwnedFd, null: &OwnedFd) -> Isolated<()> {
    let attributes = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC;
    let proc = Tree::new("proc", &[], attributes, Step::Proc)?.mount(target, "/proc")?;
    for name in READ_ONLY {
        if let Some(place) = place(&proc, name) {
            Tree::at(&proc, name, attributes | SHUT, false)?.mount(&place, name)?;
        }
    }
    for name in HIDDEN_FOLDERS {
        if let Some(place) = place(&proc, name) {
            Tree::new("tmpfs", &[("size", "4k"), ("mode", "0555")], SHUT, Step::Mount)?
                .mount(&place, name)?;
        }
    }
    for name in HIDDEN_FILES {
        if let Some(place) = place(&proc, name) {
            Tree::at(null, "", super::mounts::DEVICE, false)?.mount(&place, name)?;
        }
    }
    Ok(())
}

/// What is there to be covered; kernels differ.
fn place(proc: impl AsFd, name: &str) -> Option<OwnedFd> {
    openat(proc, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
}
