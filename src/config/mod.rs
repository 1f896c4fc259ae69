//! The plugin's settings (`config.json`): types that are parsed once at the edge, defaults, strict reading,
//! merging, and writing of exactly what was set.

mod agent;
mod allow_files;
mod auto_pause;
mod egress;
mod image;
mod provider;
mod remote_root;
mod repair;
mod settings;
mod sync_exclude;

pub(crate) use agent::Agent;
pub(crate) use allow_files::AllowFiles;
pub(crate) use auto_pause::AutoPause;
pub(crate) use egress::EgressRule;
pub(crate) use image::{Rootfs, Shape};
pub(crate) use provider::Provider;
pub(crate) use remote_root::RemoteRoot;
pub(crate) use repair::Dropped;
pub(crate) use settings::{Key, Settings};
pub(crate) use sync_exclude::SyncExclude;

use crate::command;
use crate::error::{Error, Result};
use crate::worktree::{Exclude, RelPath, Rules};
use std::path::Path;

/// Every setting with its value: what the file says over the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Which agent runs in the box.
    pub(crate) agent: Agent,
    /// The machine's size.
    pub(crate) shape: Shape,
    /// The image; the provider's own default when unset.
    pub(crate) rootfs: Option<Rootfs>,
    /// After how much idle time the box pauses.
    pub(crate) auto_pause: AutoPause,
    /// Where the worktree lands in the box.
    pub(crate) remote_root: RemoteRoot,
    /// The allow-list for connections; empty means that everything may be reached.
    pub(crate) egress: Vec<EgressRule>,
    /// What stays home when the worktree is uploaded.
    pub(crate) excludes: Vec<Exclude>,
    /// What file sync leaves alone.
    pub(crate) sync_excludes: Vec<SyncExclude>,
    /// Files that leave although the secret scan found something in them.
    pub(crate) allow_secrets: Vec<RelPath>,
    /// Files that leave although a filter of names would keep them, by worktree.
    pub(crate) allow_files: AllowFiles,
    /// Who makes the boxes.
    pub(crate) provider: Provider,
}

/// Words that the official CLI takes for a question about itself, wherever they stand in its argv (quirk Q1).
fn asks_for_help(text: &str) -> bool {
    matches!(text, "help" | "-h" | "--help")
}

impl Config {
    /// Reads `config.json`; every key is optional, and so is the file.
    ///
    /// # Errors
    /// It cannot be read, or holds something that is not a setting; the message has file, line and column.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        match crate::fs::read_regular(path) {
            Ok(bytes) => Ok(Settings::parse(&bytes)
                .map_err(|error| error.in_file(path, &command::setup().flag("--force")))?
                .resolve()),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(Settings::default().resolve()),
            Err(source) => Err(Error::io("read", path, &source)),
        }
    }
}

impl Config {
    /// What decides which files leave of the worktree with this top folder.
    pub(crate) fn rules(&self, root: &Path) -> Rules {
        Rules {
            excludes: self.excludes.clone(),
            allow_secrets: self.allow_secrets.clone(),
            allow_files: self.allow_files.of(root),
            trusted: None,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Settings::default().resolve()
    }
}

/// The name that `text` was probably meant to be: the only one that begins so, or at most a third of it differs.
pub(crate) fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let mut longer = names.iter().filter(|name| text.len() > 2 && name.starts_with(&text.to_lowercase()));
    if let (Some(only), None) = (longer.next(), longer.next()) {
        return Some(only);
    }
    let distance = |name: &&&str| strsim::damerau_levenshtein(&text.to_lowercase(), &name.to_lowercase());
    let near = names.iter().min_by_key(distance)?;
    (distance(&near) <= (near.len() / 3).max(1)).then_some(*near)
}
