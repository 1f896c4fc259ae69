//! What tests need of a debug build: points between two steps of an apply where the process ends itself,
//! and a file system that cannot exchange two names. A release build has neither.

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

/// Says that a debug build shall do without the exchange of two names.
#[cfg(debug_assertions)]
pub(super) const NO_EXCHANGE: &str = "CREATEOS_SANDBOX_NO_EXCHANGE";

/// Whether two names may be exchanged in one step, if the file system can.
#[cfg(debug_assertions)]
pub(super) fn exchanges() -> bool {
    std::env::var_os(NO_EXCHANGE).is_none()
}

/// Whether two names may be exchanged in one step, if the file system can.
#[cfg(not(debug_assertions))]
pub(super) fn exchanges() -> bool {
    true
}
