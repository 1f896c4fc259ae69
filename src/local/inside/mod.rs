//! What runs on the way into a box and in it: a fresh, single-threaded process with an empty
//! environment, whose executable the box cannot change.

mod child;
mod confine;
mod devices;
mod dial;
mod etc;
mod fence;
mod files;
mod filter;
mod freezer;
mod init;
mod limits;
mod mounts;
mod namespaces;
mod netlink;
mod network;
mod outcome;
pub(super) mod privileges;
mod proc;
mod root;
mod stage;
mod sys;
mod tun;

pub(super) use files::LARGEST_CHUNK;
pub(super) use limits::counts_by_namespace;
pub(super) use root::SYSTEM;
pub(super) use stage::main;
pub(super) use sys::close_inherited;
