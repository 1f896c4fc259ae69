//! Files of users and of ours: resolve links, write atomically, lock, hash.

mod atomic;
mod hash;
mod lock;
mod resolve;

pub(crate) use atomic::{Mode, write_atomic};
pub(crate) use hash::{Digest, NotADigest, digest};
pub(crate) use lock::Lock;
pub(crate) use resolve::resolve;
