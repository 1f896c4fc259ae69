//! Who waits for a name.

use super::connection::Id;
use crate::network::dns::Question;
use crate::network::stack::packet::Flow;

/// Somebody who waits for a name.
pub(super) enum Asker {
    Connection(Id),
    Question(Asked),
}

impl Asker {
    /// Whether it is this connection.
    pub(super) fn is(&self, id: Id) -> bool {
        matches!(self, Self::Connection(known) if *known == id)
    }
}

/// A question to the name server, and how it came.
pub(super) struct Asked {
    pub(super) question: Question,
    pub(super) by: By,
}

pub(super) enum By {
    Udp(Flow),
    Tcp(Id),
}
