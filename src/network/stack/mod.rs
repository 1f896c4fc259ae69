//! The second door: packets of the box, and a TCP of our own for each of its connections.

pub(crate) mod end;
pub(crate) mod packet;
pub(crate) mod wire;
