//! Files of users and of ours: resolve links, write atomically, lock, hash.

mod atomic;
mod hash;
mod kill;
mod lock;
mod regular;
mod resolve;
mod sweep;

pub(crate) use atomic::{Mode, write_atomic};
pub(crate) use hash::{Digest, NotADigest, digest};
pub(crate) use kill::kill_point;
pub(crate) use lock::Lock;
pub(crate) use regular::{irregular, read_regular};
pub(crate) use resolve::resolve;
pub(crate) use sweep::sweep_staged;
