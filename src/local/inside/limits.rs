//! How much of what the kernel counts for a user one entry into a box may take, so that the host's own
//! programs of this user keep the rest. The kernel counts for each user namespace and for all above it.

/// Files in `/proc/sys/user`; kernels differ.
const COUNTED: [&str; 4] =
    ["max_inotify_instances", "max_inotify_watches", "max_fanotify_groups", "max_fanotify_marks"];
/// An entry gets one part of so many.
const PARTS: u64 = 4;

/// What a box has of its own and needs no second one of. From a namespace of another cgroup tree a program could
/// mount the host's and freeze or kill what runs there, where the tree belongs to this user.
const SINGLE: [&str; 1] = ["max_cgroup_namespaces"];

/// The limits for one entry.
pub(super) struct Limits(Vec<(String, u64)>);

/// Reads the host's. Call it before there is a user namespace, which starts without limits of its own.
pub(super) fn of_the_host() -> Limits {
    let limit = |name: &&str| {
        let path = format!("/proc/sys/user/{name}");
        let host: u64 = std::fs::read_to_string(&path).ok()?.trim().parse().ok()?;
        Some((path, (host / PARTS).max(1)))
    };
    let single = SINGLE.iter().map(|name| (format!("/proc/sys/user/{name}"), 1));
    Limits(COUNTED.iter().filter_map(limit).chain(single).collect())
}

impl Limits {
    /// Sets them for the user namespace that this process is in, while it has every capability there.
    pub(super) fn set(&self) {
        for (path, limit) in &self.0 {
            // In a container /proc/sys may be read-only; what is left then is the host's own limit.
            let _best_effort = std::fs::write(path, limit.to_string());
        }
    }
}
