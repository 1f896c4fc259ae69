//! What an engine is given.

use crate::config::EgressRule;
use crate::network::refused::Refusals;
use crate::network::resolver::Lookup;
use crate::network::stack::wire::Wire;
use crate::network::way::Way;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What a listener in the box is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Programs say where they want to.
    Proxy,
    /// This port of the host's own loopback.
    Localhost(u16),
}

/// What an engine works with.
pub(crate) struct Setup {
    pub(crate) rules: Vec<EgressRule>,
    pub(crate) way: Way,
    /// How names are looked up.
    pub(crate) lookup: Arc<Lookup>,
    /// Listeners in the box, which never wait.
    pub(crate) doors: Vec<(Door, OwnedFd)>,
    /// Where the box's packets come out.
    pub(crate) wire: Option<Wire>,
    /// Is told what has been refused so far when that has changed.
    pub(crate) told: Box<dyn FnMut(&Refusals) + Send>,
    /// When this can be read, or is closed at its other end, the engine ends.
    pub(crate) stop: OwnedFd,
}
