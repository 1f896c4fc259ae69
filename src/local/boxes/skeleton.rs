//! The root file system of a new box: folders that are its own, and places for what is mounted.

use super::refusal;
use crate::error::{IoContext, Result};
use crate::local::inside::SYSTEM;
use crate::local::wire::spec::{Refused, Step};
use rustix::fs::{Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Folders with their modes; parents come before what is in them.
const FOLDERS: [(&str, u32); 20] = [
    ("dev", 0o755),
    ("etc", 0o755),
    ("home", 0o755),
    ("home/agent", 0o755),
    ("home/agent/.local", 0o755),
    ("home/agent/.local/bin", 0o755),
    ("mnt", 0o755),
    ("opt", 0o755),
    ("proc", 0o555),
    ("run", 0o755),
    ("srv", 0o755),
    ("sys", 0o555),
    ("tmp", 0o1777),
    ("var", 0o755),
    ("var/cache", 0o755),
    ("var/lib", 0o755),
    ("var/log", 0o755),
    ("var/run", 0o755),
    ("var/tmp", 0o1777),
    ("workspace", 0o755),
];

/// Of the root itself.
pub(crate) const ROOT_MODE: u32 = 0o755;

/// Makes `root` and everything in it, owned by `uid` when we are root. The folder must not exist: what
/// a box has once written into is never walked by path again.
///
/// # Errors
/// Anything that keeps it from being complete.
pub(crate) fn make(root: &Path, uid: Option<u32>) -> Result<()> {
    let owner = uid.map(|uid| (Uid::from_raw(uid), Gid::from_raw(uid)));
    let top = match folder(rustix::fs::CWD, root, ROOT_MODE, owner) {
        // Making the folder was allowed, giving it away was not: root in a user namespace of its own.
        Err(errno @ (Errno::INVAL | Errno::PERM)) if owner.is_some() => {
            let detail = format!("chown to uid {}", uid.unwrap_or_default());
            return Err(refusal::explain(&Refused {
                step: Step::DropRoot,
                detail,
                errno: errno.raw_os_error(),
            }));
        }
        made => made.at("create", root)?,
    };
    for (name, mode) in FOLDERS {
        folder(&top, Path::new(name), mode, owner).at("create", &root.join(name))?;
    }
    for name in SYSTEM {
        let host = Path::new("/").join(name);
        match std::fs::read_link(&host) {
            Ok(target) => {
                rustix::fs::symlinkat(&target, &top, name).at("create", &root.join(name))?;
            }
            // The two stores are only there for a host that has them.
            Err(_) if host.is_dir() => {
                drop(folder(&top, Path::new(name), 0o755, owner).at("create", &root.join(name))?);
            }
            Err(_) => {}
        }
    }
    Ok(())
}

fn folder(at: impl AsFd, name: &Path, mode: u32, owner: Option<(Uid, Gid)>) -> rustix::io::Result<OwnedFd> {
    rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o700))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(&at, name, flags, Mode::empty())?;
    if let Some((uid, gid)) = owner {
        rustix::fs::fchown(&made, Some(uid), Some(gid))?;
    }
    rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
    Ok(made)
}
