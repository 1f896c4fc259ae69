//! The box's file system: its own root, the host's programs read-only, everything else new.

use super::super::wire::spec::{Order, Step};
use super::mounts::{self, SHUT, TAME, Tree};
use super::outcome::{During, Isolated};
use super::{devices, etc, proc};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags};
use std::os::fd::OwnedFd;

/// The host's folders with programs and libraries. A link among them is a link in the box too.
pub(crate) const SYSTEM: [&str; 9] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "gnu"];

/// Builds the tree from the current folder, which is the box's root, and makes it this process's `/`.
pub(super) fn build(order: &Order) -> Isolated<()> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).during(Step::Mount, "/")?;

    let mut system = Vec::new();
    for name in SYSTEM {
        // The stores hold programs, what stands beside them is the host's own business.
        let path = match name {
            "nix" | "gnu" => format!("/{name}/store"),
            _ => format!("/{name}"),
        };
        if mounts::is_folder(&path)
            && let Some(tree) = Tree::of_existing(&path, SHUT)?
        {
            system.push((path, tree));
        }
    }
    let etc = etc::Pieces::collect(&order.hostname, order.name_server)?;
    let devices = devices::collect()?;
    let root = Tree::at(CWD, ".", TAME, false)?;

    // Any folder of the host serves as the place where the new root is mounted first.
    let place = mounts::folder(CWD, "/usr")?;
    let root = root.mount(&place, "the box's root")?;
    rustix::process::fchdir(&root).during(Step::Mount, "the box's root")?;
    rustix::process::pivot_root(".", ".").during(Step::Mount, "pivot_root")?;

    for (path, tree) in system {
        let mut at = root.try_clone().during(Step::Mount, &path)?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = mounts::folder_or_new(&at, name)?;
        }
        tree.mount(&at, &path)?;
    }
    for path in &order.covered {
        cover(&root, path)?;
    }
    etc.build(&mounts::folder(&root, "etc")?)?;
    let null = devices.build(&mounts::folder(&root, "dev")?, order.limits.shared_mib)?;
    // A new /proc is allowed only while the host's is still in sight.
    proc::build(&mounts::folder(&root, "proc")?, &null)?;
    rustix::mount::unmount(".", UnmountFlags::DETACH).during(Step::Mount, "the host's root")?;
    rustix::process::chdir("/").during(Step::Mount, "/")
}

/// Puts an empty folder over one of the host's that is in sight.
fn cover(root: &OwnedFd, path: &[u8]) -> Isolated<()> {
    let shown = String::from_utf8_lossy(path);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = root.try_clone().during(Step::Mount, &shown)?;
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        match openat(&at, name, flags, Mode::empty()) {
            Ok(next) => at = next,
            // Shut to this user today, and covered where that begins: it may be opened tomorrow.
            Err(Errno::ACCESS) => break,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(errno).during(Step::Mount, &shown),
        }
    }
    Tree::new("tmpfs", &[("size", "4k"), ("mode", "0555")], SHUT, Step::Mount)?.mount(&at, &shown)?;
    Ok(())
}
