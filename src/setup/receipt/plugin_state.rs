//! How the plugin is registered in Herdr, and what a person types to bring it there.

use crate::command;
use crate::herdr::{GithubSource, Plugin};
use crate::paths::{PLUGIN_ID, Paths};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// How a plugin is registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub(crate) enum PluginState {
    Absent,
    Linked {
        root: PathBuf,
        /// Whether it runs.
        enabled: bool,
    },
    Github {
        #[serde(flatten)]
        source: GithubSource,
        /// Whether it runs.
        enabled: bool,
    },
}

/// As Herdr's registry has it.
impl From<Option<&Plugin>> for PluginState {
    fn from(plugin: Option<&Plugin>) -> Self {
        match plugin {
            None => Self::Absent,
            Some(plugin) => match plugin.github() {
                None => Self::Linked { root: plugin.root.clone(), enabled: plugin.enabled },
                Some(source) => Self::Github { source, enabled: plugin.enabled },
            },
        }
    }
}

impl PluginState {
    /// Whether two registrations are of the same place, enabled or not. The registry has real paths.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Linked { root: one, .. }, Self::Linked { root: other, .. }) => {
                let real = |path: &Path| path.canonicalize().unwrap_or_else(|_is_gone| path.to_path_buf());
                one == other || real(one) == real(other)
            }
            (Self::Github { source: one, .. }, Self::Github { source: other, .. }) => one == other,
            _ => self == other,
        }
    }

    /// The bundled plugin, linked from our folder.
    pub(crate) fn bundled(paths: &Paths) -> Self {
        Self::Linked { root: paths.bundled_plugin(), enabled: true }
    }

    /// Whether the registration leads to the folder of the bundled plugin.
    pub(crate) fn is_bundled(&self, paths: &Paths) -> bool {
        self.is_at(&Self::bundled(paths))
    }

    /// Whether Herdr runs it; what is not there counts as enabled, since it was never switched off.
    pub(crate) fn enabled(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Linked { enabled, .. } | Self::Github { enabled, .. } => *enabled,
        }
    }

    /// What a person types to bring the registration there.
    pub(crate) fn command(&self) -> String {
        match self {
            Self::Absent => command::herdr(["plugin", "uninstall", PLUGIN_ID]).into(),
            Self::Linked { root, enabled } => {
                let link = command::herdr(["plugin", "link"]).path(root);
                if *enabled { link.into() } else { link.flag("--disabled").into() }
            }
            Self::Github { source, enabled } => {
                let install = command::herdr(["plugin", "install", &source.repository]);
                let reference = source.reference.iter();
                let install = reference.fold(install, |install, name| install.with("--ref", name));
                match enabled {
                    true => install.into(),
                    false => format!("{install} && {}", command::herdr(["plugin", "disable", PLUGIN_ID])),
                }
            }
        }
    }
}

impl fmt::Display for PluginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disabled = |enabled: &bool| if *enabled { "" } else { ", disabled" };
        match self {
            Self::Absent => f.write_str("not installed"),
            Self::Linked { root, enabled } => {
                write!(f, "linked from {}{}", root.display(), disabled(enabled))
            }
            Self::Github { source, enabled } => write!(f, "installed from {source}{}", disabled(enabled)),
        }
    }
}
