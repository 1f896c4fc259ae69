//! What tests need of a debug build: points between two steps of an apply where the process ends itself,
//! and a file system that cannot exchange two names. A release build has neither.

/// A point between two steps, one of those that [`crate::fs::kill_point`] counts.
pub(super) fn point(_name: &str) {
    crate::fs::kill_point();
}

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
