//! What tests need of a debug build: points between two steps of an apply where the process ends itself,
//! and a file system that cannot exchange two names. A release build has neither.

/// A point between two steps, one of those that [`crate::fs::kill_point`] counts.
pub(super) fn point(name: &str) {
    disturb(name);
    crate::fs::kill_point();
}

/// In a debug build, `CREATEOS_SANDBOX_DISTURB=POINT=PATH=TARGET` moves PATH away at the first such point
/// and puts a link to TARGET there, as somebody who races with an apply might.
fn disturb(point: &str) {
    #[cfg(debug_assertions)]
    if let Ok(wish) = std::env::var("CREATEOS_SANDBOX_DISTURB")
        && let [at, path, target] = wish.split('=').collect::<Vec<_>>()[..]
        && at == point
        && !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
    {
        let _nothing_was_there = std::fs::rename(path, format!("{path}.away"));
        std::os::unix::fs::symlink(target, path).expect("the test's link can be made");
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
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
