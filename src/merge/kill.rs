//! Points between two steps of an apply where a test can end the process, in debug builds only.

/// The variable that says at which point, counted from one, a debug build ends itself.
#[cfg(debug_assertions)]
pub(super) const VARIABLE: &str = "CREATEOS_SANDBOX_KILL_AT";

/// A point between two steps. In a release build it is nothing.
#[cfg(debug_assertions)]
pub(super) fn point(_name: &str) {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static AT: LazyLock<Option<u64>> = LazyLock::new(|| std::env::var(VARIABLE).ok()?.parse().ok());
    static PASSED: AtomicU64 = AtomicU64::new(0);
    if let Some(at) = *AT
        && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == at
    {
        // The real thing: no destructor runs, no buffer is written.
        let _no_return =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// A point between two steps. In a release build it is nothing.
#[cfg(not(debug_assertions))]
pub(super) fn point(_name: &str) {}
