//! `/dev`: the harmless devices, terminals of the box's own, shared memory.

use super::super::wire::spec::Step;
use super::mounts::{self, DEVICE, TAME, Tree};
use super::outcome::{During, Isolated};
use super::sys;
use rustix::fs::symlinkat;
use rustix::io::Errno;
use std::os::fd::OwnedFd;

const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The host's device nodes, taken while they can still be seen.
pub(super) struct Nodes(Vec<(&'static str, Tree)>);

/// Takes them.
pub(super) fn collect() -> Isolated<Nodes> {
    NODES
        .iter()
        .map(|name| Ok((*name, Tree::copy(&format!("/dev/{name}"), DEVICE)?)))
        .collect::<Isolated<_>>()
        .map(Nodes)
}

impl Nodes {
    /// Builds `/dev` on `target`, with so much shared memory at most; gives back the box's `/dev/null`.
    pub(super) fn build(self, target: &OwnedFd, shared_mib: u64) -> Isolated<OwnedFd> {
        let quiet = TAME | libc::MOUNT_ATTR_NOEXEC;
        let tmpfs = Tree::new("tmpfs", &[("mode", "0755"), ("size", "64k")], quiet, Step::Mount)?;
        let dev = tmpfs.mount(target, "/dev")?;
        let mut null = None;
        for (name, tree) in self.0 {
            let node = tree.mount(mounts::file(&dev, name)?, name)?;
            if name == "null" {
                null = Some(node);
            }
        }
        for (name, to) in LINKS {
            symlinkat(to, &dev, name).during(Step::Mount, name)?;
        }
        let pts = mounts::new_folder(&dev, "pts", 0o755)?;
        let options = [("mode", "0620"), ("ptmxmode", "0666")];
        let terminals = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
        Tree::new("devpts", &options, terminals, Step::Mount)?.mount(&pts, "/dev/pts")?;
        let shm = mounts::new_folder(&dev, "shm", 0o755)?;
        let size = format!("{shared_mib}m");
        Tree::new("tmpfs", &[("mode", "1777"), ("size", &size)], quiet, Step::Mount)?
            .mount(&shm, "/dev/shm")?;
        sys::set_mount_attributes(&dev, libc::MOUNT_ATTR_RDONLY, false).during(Step::Mount, "/dev")?;
        null.ok_or(Errno::NOENT).during(Step::Mount, "/dev/null")
    }
}
