//! The plugin's settings (`config.json`): types that are parsed once at the edge, defaults, strict reading,
//! merging, and writing of exactly what was set.

mod agent;
mod allow_files;
mod auto_pause;
mod define;
mod egress;
mod image;
mod load;
mod names;
mod provider;
mod remote_root;
mod repair;
mod settings;
mod strict;
mod sync_exclude;
mod value;

pub(crate) use agent::Agent;
pub(crate) use allow_files::AllowFiles;
pub(crate) use auto_pause::AutoPause;
pub(crate) use egress::EgressRule;
pub(crate) use image::{Rootfs, Shape};
pub(crate) use names::nearest;
pub(crate) use provider::ProviderKind;
pub(crate) use remote_root::RemoteRoot;
pub(crate) use repair::Dropped;
pub(crate) use settings::{Config, Key, Settings};
pub(crate) use sync_exclude::SyncExclude;
