//! How much of what the kernel counts for a user one box may take, so that the host's own
//! programs of this user keep the rest. The kernel counts for each user namespace and for all above it.

use super::outcome::{During, Isolated};
use crate::local::wire::spec::Step;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::Write;

/// Files in `/proc/sys/user`; kernels differ.
const COUNTED: [&str; 4] =
    ["max_inotify_instances", "max_inotify_watches", "max_fanotify_groups", "max_fanotify_marks"];
/// A box gets one part of so many; where it has no namespace of its own, each entry does.
const PARTS: u64 = 4;

/// What a box has of its own and needs no second one of. From a namespace of another cgroup tree a program could
/// mount the host's and freeze or kill what runs there, where the tree belongs to this user.
const SINGLE: [(&str, u64); 1] = [("max_cgroup_namespaces", 1)];
/// What else no program in it makes: with a user namespace of its own it would reach all that the kernel keeps for root.
const CLOSED: [(&str, u64); 6] = [
    ("max_user_namespaces", 0),
    ("max_pid_namespaces", 1),
    ("max_ipc_namespaces", 1),
    ("max_uts_namespaces", 1),
    ("max_net_namespaces", 1),
    ("max_time_namespaces", 0),
];

/// As those, once the box's mounts are made: a tree that is mounted nowhere yet has a namespace to itself.
const MOUNTS: &str = "max_mnt_namespaces";

/// Where the limit for mount namespaces is set, opened while it can be found.
pub(super) struct MountLimit(Option<File>);

impl MountLimit {
    pub(super) fn open() -> Self {
        Self(File::options().write(true).open(path(MOUNTS)).ok())
    }

    /// No more than the one that there is.
    pub(super) fn set(self) {
        let _best_effort = self.0.map(|mut file| file.write_all(b"1"));
    }
}

/// Limits for a user namespace.
pub(super) struct Limits(Vec<(String, u64)>);

impl Limits {
    /// Those of one entry. In a box with a namespace of its own, what is counted is counted there, for all entries
    /// together. Programs with a sandbox of their own need the other namespaces: `nested`.
    pub(super) fn of_an_entry(in_a_box: bool, nested: bool) -> Self {
        let closed: &[_] = if nested { &[] } else { &CLOSED };
        let own = SINGLE.iter().chain(closed).map(|(name, limit)| (path(name), *limit));
        let Self(counted) = if in_a_box { Self(Vec::new()) } else { Self::of_a_box() };
        Self(counted.into_iter().chain(own).collect())
    }

    /// Those of a whole box, a part of the host's. Call it before there is a user namespace, which starts without limits of
    /// its own.
    pub(super) fn of_a_box() -> Self {
        let limit = |name: &&str| {
            let host: u64 = std::fs::read_to_string(path(name)).ok()?.trim().parse().ok()?;
            Some((path(name), (host / PARTS).max(1)))
        };
        Self(COUNTED.iter().filter_map(limit).collect())
    }

    /// Sets them for the user namespace that this process is in, while it has every capability there.
    pub(super) fn set(&self) {
        for (path, limit) in &self.0 {
            // In a container /proc/sys may be read-only; what is left then is the filter of calls, and the host's own limit.
            let _best_effort = std::fs::write(path, limit.to_string());
        }
    }
}

/// So many processes and threads at most, or what there is already where that is less.
pub(super) fn processes(most: u64) -> Isolated<()> {
    if !counts_by_namespace() {
        return Ok(());
    }
    lower(Resource::Nproc, most).during(Step::Confine, "RLIMIT_NPROC")
}

/// So many MiB for each process, what it has mapped to write to and nobody shares.
pub(super) fn memory(most_mib: u64) -> Isolated<()> {
    lower(Resource::Data, most_mib * 1024 * 1024).during(Step::Confine, "RLIMIT_DATA")
}

fn lower(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let Rlimit { current, maximum } = getrlimit(resource);
    setrlimit(resource, Rlimit { current: least(current), maximum: least(maximum) })
}

/// From Linux 5.14 on. Before, it counts all that a user runs on the machine, and a box would be full from the start.
pub(crate) fn counts_by_namespace() -> bool {
    let system = rustix::system::uname();
    let mut numbers = system.release().to_str().unwrap_or_default().split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    number().zip(number()).is_some_and(|version| version >= (5, 14))
}

fn path(name: &str) -> String {
    format!("/proc/sys/user/{name}")
}
