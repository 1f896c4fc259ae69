//! One difference between what is wanted and what is there, with everything to carry it out and to take
//! it back.

pub(super) mod apply;
mod ledger;
pub(super) mod leftovers;
mod registration;
mod write;

use crate::keys::{Added, Patch};
use crate::paths::Paths;
use crate::setup::receipt::{PluginState, What};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A change; a plan is an ordered list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The files of the bundled plugin's folder.
    Bundle(BundleChange),
    /// The plugin's registration in Herdr.
    Plugin(PluginChange),
    /// The build of a developer's checkout.
    Build(BuildChange),
    /// A program gets its old bytes back.
    Program(ProgramChange),
    /// A user's file.
    File(FileChange),
    /// Something that a killed run left: a file or a folder, which goes when nothing else is in it.
    Leftover(PathBuf),
}

/// Files of our own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BundleChange {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// Before.
    pub(crate) before: BTreeMap<&'static str, Vec<u8>>,
    /// After; empty when the folder goes.
    pub(crate) after: BTreeMap<&'static str, Vec<u8>>,
}

/// How the plugin is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginChange {
    /// Before.
    pub(crate) from: PluginState,
    /// After.
    pub(crate) to: PluginState,
    /// The commit of what is there before, of one from GitHub.
    pub(crate) commit: Option<String>,
}

/// A checkout's build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildChange {
    /// The checkout.
    pub(crate) root: PathBuf,
    /// The official CLI, which such a build may replace.
    pub(crate) createos: Option<PathBuf>,
}

/// A program that gets old bytes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramChange {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Before.
    pub(crate) before: Option<Vec<u8>>,
    /// After.
    pub(crate) after: Vec<u8>,
}

/// A user's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// Which one.
    pub(crate) what: What,
    /// As its program reads it; links are followed when it is written.
    pub(crate) path: PathBuf,
    /// Before; none when it does not exist.
    pub(crate) before: Option<Vec<u8>>,
    /// After; none when it goes.
    pub(crate) after: Option<Vec<u8>>,
    /// Where a copy of the old bytes is put, unless there is one already.
    pub(crate) backup: Option<PathBuf>,
    /// What happens, in a few words.
    pub(crate) summary: String,
    /// Bindings that this adds, for the receipt.
    pub(crate) added: Option<Added>,
    /// The edit that turns Herdr's notices on, for the receipt.
    pub(crate) notices: Option<Patch>,
    /// Commands whose older binding of ours this takes out.
    pub(crate) rebound: Vec<String>,
}

/// A change in words: a verb, the thing, and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// `link`, `write`, `edit` and the like.
    pub(crate) verb: &'static str,
    /// The file or the plugin.
    pub(crate) thing: String,
    /// The rest.
    pub(crate) rest: String,
}

impl Change {
    /// Whether it may have been made in part when it failed. The others take themselves back.
    pub(crate) fn may_be_half(&self) -> bool {
        matches!(self, Self::Bundle(_) | Self::Program(_))
    }

    /// The change in words.
    pub(crate) fn line(&self, paths: &Paths) -> Line {
        let line = |verb, thing: String, rest: String| Line { verb, thing, rest };
        let id = crate::paths::PLUGIN_ID.to_owned();
        match self {
            Self::Bundle(change) => {
                let verb = if change.after.is_empty() { "remove" } else { "write" };
                line(verb, "the bundled plugin".into(), paths.show(&change.folder))
            }
            Self::Plugin(PluginChange { from, to, .. }) => match (from, to) {
                (PluginState::Absent, PluginState::Linked { root, .. }) => line("link", id, paths.show(root)),
                (PluginState::Absent, PluginState::Github { source, .. }) => {
                    line("install", id, format!("{source}, from GitHub"))
                }
                (from, PluginState::Absent) => line("unlink", id, shown(from, paths)),
                (
                    PluginState::Linked { root, enabled: false },
                    PluginState::Linked { root: to, enabled: true },
                ) if root == to => line("enable", id, "it was disabled".into()),
                (from, to) => {
                    let enabled = match (from.enabled(), to.enabled()) {
                        (false, true) => "; it was disabled and gets enabled",
                        _ => "",
                    };
                    line("replace", id, format!("{}, now {}{enabled}", shown(from, paths), shown(to, paths)))
                }
            },
            Self::Build(change) => {
                let warning = match &change.createos {
                    Some(path) => format!("; it may replace {}, a copy is kept for undo", paths.show(path)),
                    None => String::new(),
                };
                line(
                    "build",
                    paths.show(&change.root.join("build.sh")),
                    format!("its output is shown{warning}"),
                )
            }
            Self::Leftover(path) => {
                line("remove", paths.show(path), "left by a setup that did not come to its end".into())
            }
            Self::Program(change) => line("restore", paths.show(&change.path), "as before the build".into()),
            Self::File(change) => {
                let verb = match (&change.before, &change.after) {
                    (None, _) => "write",
                    (Some(_), None) => "remove",
                    (Some(_), Some(_)) => "edit",
                };
                let backup = match &change.backup {
                    Some(backup) => {
                        let name = backup.file_name().unwrap_or(backup.as_os_str());
                        format!(", backup {}", name.to_string_lossy())
                    }
                    None => String::new(),
                };
                match change.what {
                    // Its path is long and known: herdr plugin config-dir prints it.
                    What::Config => line(verb, "config.json".into(), format!("{}{backup}", change.summary)),
                    What::Keys => line(verb, paths.show(&change.path), format!("{}{backup}", change.summary)),
                }
            }
        }
    }

    /// The change of a text file as a unified diff; none for what is not one.
    pub(crate) fn diff(&self) -> Option<String> {
        let Self::File(change) = self else { return None };
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8(bytes.clone().unwrap_or_default()).ok();
        let (before, after) = (text(&change.before)?, text(&change.after)?);
        let diff = similar::TextDiff::from_lines(&before, &after);
        Some(diff.unified_diff().context_radius(2).to_string())
    }
}

/// As a person reads it, with `~` for the home folder.
fn shown(state: &PluginState, paths: &Paths) -> String {
    match state {
        PluginState::Linked { root, .. } => format!("linked from {}", paths.show(root)),
        PluginState::Github { source, .. } => format!("installed from {source}"),
        PluginState::Absent => "not installed".into(),
    }
}
