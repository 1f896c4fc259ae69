//! The namespaces of an entry into a box, and those of a box's network, which its entries join.

use super::super::wire::spec::{AGENT, Network, Order, Refused, Step};
use super::limits::{self, Limits};
use super::outcome::{During, Isolated};
use rustix::thread::UnshareFlags;

/// Those of one entry. Its network namespace may be the box's, which it has joined before it began; then what the kernel
/// counts is counted for the whole box, there.
pub(super) fn of_an_entry(order: &Order) -> Isolated<()> {
    let in_a_box = order.network == Network::Own;
    // The kernel counts processes for the user of a user namespace, and takes the limit of its making for what it is made in:
    // here for the whole box. Without a namespace of the box's own that would be the host's, with all else of the user's.
    if in_a_box {
        limits::processes(order.limits.processes)?;
    }
    user(&Limits::of_an_entry(in_a_box, order.nested))?;
    if !in_a_box {
        limits::processes(order.limits.processes)?;
    }
    let mut rest = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if order.network == Network::None {
        rest |= UnshareFlags::NEWNET;
    }
    unshare(rest).during(Step::Namespaces, "unshare")
}

/// Those of a box's network: a user namespace, in which every entry makes one of its own, so that no program in the box
/// has a say about the network.
pub(super) fn of_a_network() -> Isolated<()> {
    user(&Limits::of_a_box())?;
    unshare(UnshareFlags::NEWNET).during(Step::Namespaces, "unshare(CLONE_NEWNET)")
}

fn user(limits: &Limits) -> Isolated<()> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if uid.is_root() {
        return Err(Refused { step: Step::DropRoot, detail: "still root".into(), errno: libc::EPERM });
    }
    unshare(UnshareFlags::NEWUSER).during(Step::UserNamespace, "unshare(CLONE_NEWUSER)")?;
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{AGENT} {} 1", uid.as_raw())),
        ("/proc/self/gid_map", format!("{AGENT} {} 1", gid.as_raw())),
    ] {
        std::fs::write(file, text).during(Step::IdMap, file)?;
    }
    limits.set();
    Ok(())
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: descriptors are not unshared (no CLONE_FILES), and there is one thread only.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}
