//! How much of what the kernel counts for a user one box may take, so that the host's own
//! programs of this user keep the rest. The kernel counts for each user namespace and for all above it.

/// Files in `/proc/sys/user`; kernels differ.
const COUNTED: [&str; 4] =
    ["max_inotify_instances", "max_inotify_watches", "max_fanotify_groups", "max_fanotify_marks"];
/// A box gets one part of so many; where it has no namespace of its own, each entry does.
const PARTS: u64 = 4;

/// What a box has of its own and needs no second one of. From a namespace of another cgroup tree a program could
/// mount the host's and freeze or kill what runs there, where the tree belongs to this user.
const SINGLE: [&str; 1] = ["max_cgroup_namespaces"];

/// Limits for a user namespace.
pub(super) struct Limits(Vec<(String, u64)>);

impl Limits {
    /// Those of one entry. In a box with a namespace of its own, that counts for all entries together.
    pub(super) fn of_an_entry(in_a_box: bool) -> Self {
        let single = SINGLE.iter().map(|name| (path(name), 1));
        let Self(counted) = if in_a_box { Self(Vec::new()) } else { Self::of_a_box() };
        Self(counted.into_iter().chain(single).collect())
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
            // In a container /proc/sys may be read-only; what is left then is the host's own limit.
            let _best_effort = std::fs::write(path, limit.to_string());
        }
    }
}

fn path(name: &str) -> String {
    format!("/proc/sys/user/{name}")
}
