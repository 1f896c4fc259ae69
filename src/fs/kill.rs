//! Points at which a test kills the process, to prove that no file is ever half written and that the next
//! run finishes or undoes what was begun. They exist in debug builds only.

/// Kills this process without any clean-up when it is the point that `CREATEOS_SANDBOX_KILL_AT` counts to.
#[cfg(debug_assertions)]
pub(crate) fn kill_point() {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    static AT: LazyLock<Option<u32>> =
        LazyLock::new(|| std::env::var("CREATEOS_SANDBOX_KILL_AT").ok()?.parse().ok());
    static PASSED: AtomicU32 = AtomicU32::new(0);
    if Some(PASSED.fetch_add(1, Ordering::SeqCst) + 1) == *AT {
        let _we_are_gone =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Nothing in a release build.
#[cfg(not(debug_assertions))]
pub(crate) fn kill_point() {}
