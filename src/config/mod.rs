//! The plugin's settings (`config.json`): types that are parsed once at the edge, defaults, strict reading,
//! merging, and writing of exactly what was set.

mod agent;
mod agent_args;
mod allow_files;
mod conflict;
mod cos;
mod define;
mod detach_key;
mod egress;
mod environment;
mod home_path;
mod load;
mod names;
mod network;
mod project;
mod provider;
mod repair;
mod settings;
mod texts;
mod value;

pub(crate) use agent::{Agent, AgentSpec, Resume, Seed};
pub(crate) use agent_args::{AgentArgs, judged as judged_arg};
pub(crate) use allow_files::AllowFiles;
pub(crate) use cos::CosConfig;
pub(crate) use detach_key::DetachKey;
pub(crate) use egress::EgressRule;
pub(crate) use environment::{Environment, LONGEST as LONGEST_VALUE, Source};
pub(crate) use home_path::HomePath;
pub(crate) use names::nearest;
pub(crate) use network::Network;
pub(crate) use project::{PROJECT, Project};
pub(crate) use provider::ProviderKind;
pub(crate) use repair::Dropped;
pub(crate) use settings::{Config, Key, Settings};
pub(crate) use texts::{AutoPause, RemoteRoot, Rootfs, Shape, SyncExclude};
