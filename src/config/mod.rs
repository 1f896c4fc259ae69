//! The plugin's settings: types that are parsed once, at the edge.

mod remote_root;

pub(crate) use remote_root::RemoteRoot;
