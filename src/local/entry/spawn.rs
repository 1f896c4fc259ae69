//! Starts the first process on the way into a box.

use super::program;
use crate::error::{Error, IoContext};
use crate::local::failure::Result;
use crate::local::wire::channel::Channel;
use rustix::fs::{Mode, OFlags};
use rustix::thread::{Gid, LinkNameSpaceType, Uid, move_into_link_name_space};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The namespaces of a box that its entries join.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) user: OwnedFd,
    pub(crate) net: OwnedFd,
}

impl Shared {
    /// Joins them. The first is ours by its owner, who we are; in it we may join the second.
    fn join(&self) -> io::Result<()> {
        move_into_link_name_space(self.user.as_fd(), Some(LinkNameSpaceType::User))?;
        move_into_link_name_space(self.net.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(())
    }
}

/// Starts it in the folder of the box's root, as this uid, in these namespaces; it reads what to do from the channel.
pub(crate) fn spawn(
    root: &Path,
    uid: Option<u32>,
    shared: Option<Shared>,
    channel: Channel,
    out: Stdio,
    err: Stdio,
) -> Result<Child> {
    let program = program::for_a_box(uid)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(root, flags, Mode::empty()).at("enter", root)?;
    reopen(&folder).at("enter", root)?;
    let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    command.arg0("createos-sandbox").args(["local", "enter"]).env_clear();
    command.stdin(channel.into_fd()).stdout(out).stderr(err);
    let enter = move || -> io::Result<()> {
        // Ctrl-C at our terminal is for us: what the program gets of it, we say.
        rustix::process::setsid()?;
        rustix::process::fchdir(&folder)?;
        if let Some(uid) = uid {
            // Before any namespace exists: the host's uid 0 never enters a box.
            let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
            rustix::thread::set_thread_groups(&[])?;
            rustix::thread::set_thread_res_gid(group, group, group)?;
            rustix::thread::set_thread_res_uid(user, user, user)?;
        }
        shared.as_ref().map_or(Ok(()), Shared::join)
    };
    // SAFETY: only system calls between fork and exec, no allocation and no lock.
    unsafe { command.pre_exec(enter) };
    let started = command.spawn();
    Ok(started.map_err(|source| {
        Error::cannot_run(format!("could not start a box process: {source}"))
            .help("/proc must be mounted, and root must be allowed to change its uid")
    })?)
}

/// The box owns its root and may have shut it, by accident too; then it could not be entered any more.
fn reopen(folder: &OwnedFd) -> io::Result<()> {
    let all = Mode::RWXU.bits();
    if rustix::fs::fstat(folder)?.st_mode & all == all {
        return Ok(());
    }
    // What was opened only as a place is changed through its name in /proc, which is that same folder.
    let name = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(rustix::fs::chmod(name, Mode::from_raw_mode(crate::local::boxes::skeleton::ROOT_MODE))?)
}
