//! How much of a box finds its way out.

/// Which programs of a box reach what its rules let pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has local boxes"))]
pub(crate) enum Reach {
    /// All of them.
    Everything,
    /// Those that ask the proxy.
    ProxyOnly,
    /// The box has no way out of its own.
    Nothing,
}
