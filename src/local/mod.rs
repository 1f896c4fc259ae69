//! The embedded provider: boxes on this machine, with the command line of `createos sandbox`.
//!
//! A box is a folder with a root file system of its own. Every program in it runs in new user, mount,
//! process, IPC, UTS and cgroup namespaces, as one unprivileged uid, with the host's `/usr` read-only.
//! Each `exec` and each `process` has namespaces of its own; the files of the box are what they share, and its network, with
//! a way out by its rules.
//! Linux only: what stands in its place on other systems is `elsewhere.rs`.

mod boxes;
mod entry;
mod failure;
mod inside;
mod keeper;
mod output;
mod process;
mod reach;
mod verbs;
mod wire;

pub(crate) use boxes::shape::knows_shape;
pub(crate) use entry::probe::probe;
pub(crate) use output::wrong_use;
pub(crate) use reach::Reach;
pub(crate) use verbs::run;

/// What is new about boxes of this machine since an earlier version made some here; said once, so show what comes.
///
/// # Errors
/// The boxes cannot be read.
pub(crate) fn news(paths: &crate::paths::Paths) -> crate::error::Result<Option<String>> {
    boxes::news::news(&boxes::store::BoxStore::open(paths)).map_err(failure::Failure::into_error)
}
