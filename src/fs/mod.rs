//! Files of users and of ours: resolve links, write atomically, lock, hash.

mod atomic;
mod attributes;
mod hash;
mod kill;
mod lock;
mod private;
mod regular;
mod resolve;
mod sweep;
mod versioned;

pub(crate) use atomic::{Mode, can_replace, write_atomic};
pub(crate) use hash::{Digest, NotADigest, digest};
pub(crate) use kill::kill_point;
pub(crate) use lock::Lock;
pub(crate) use private::{make_private, private_folder};
pub(crate) use regular::{IfThere, irregular, open_regular, read_if_there, read_regular};
pub(crate) use resolve::resolve;
pub(crate) use sweep::{all_of, is_staged, remove_pieces, remove_staged, stage, staged};
pub(crate) use versioned::refuse_newer;
