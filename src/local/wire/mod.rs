//! What the processes of this program say to each other: starter, inside, supervisor and client.

pub(super) mod channel;
pub(super) mod frames;
pub(super) mod hello;
pub(super) mod spec;
