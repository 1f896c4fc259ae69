//! `templates/herdr.toml`: the desired state as data.

use crate::keys::Chord;
use crate::version::Version;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::sync::LazyLock;

/// What Herdr has to look like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Template {
    pub(crate) title: String,
    /// Read by `keys`.
    #[serde(rename = "spare")]
    _spare: IgnoredAny,
    pub(crate) plugin: PluginTemplate,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) keys: Vec<KeyTemplate>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginTemplate {
    pub(crate) id: String,
    /// The default of `--source github`: `OWNER/REPO/PATH`.
    pub(crate) github: String,
    pub(crate) github_actions: Vec<String>,
}

/// A program that has to be there, with a minimum version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requirement {
    /// The id of its check, which is the program's name, too.
    pub(crate) id: String,
    /// A variable that names another copy of it.
    pub(crate) variable: Option<String>,
    /// The arguments that make it print its version.
    pub(crate) version: Vec<String>,
    /// The oldest version that will do.
    pub(crate) minimum: Option<Version>,
    /// Words that count as newer than any number.
    #[serde(default)]
    pub(crate) newest: Vec<String>,
    /// Who needs it.
    pub(crate) needed: Need,
    pub(crate) purpose: String,
    /// What to do when it is missing.
    pub(crate) missing: Fix,
    /// What to do when it is too old.
    pub(crate) outdated: Fix,
}

/// Who needs a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Need {
    Always,
    /// The provider `createos`.
    Createos,
    /// A plugin that runs on Bun.
    Bun,
}

/// A remedy, the same everywhere or one for each system.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Fix {
    Same(String),
    PerSystem { linux: String, macos: String },
}

impl Fix {
    pub(crate) fn here(&self) -> &str {
        match self {
            Self::Same(text) => text,
            Self::PerSystem { macos, .. } if cfg!(target_os = "macos") => macos,
            Self::PerSystem { linux, .. } => linux,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyTemplate {
    /// The action, without the plugin's id.
    pub(crate) action: String,
    /// The chord that it gets when that is free.
    pub(crate) chord: Chord,
    /// What Herdr's help shows.
    pub(crate) description: String,
}

pub(crate) static HERDR: LazyLock<Template> =
    LazyLock::new(|| crate::templates::read(include_str!("../../templates/herdr.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid_and_complete() {
        let template = &*HERDR;
        assert_eq!(template.plugin.id, crate::paths::PLUGIN_ID);
        let ids: Vec<_> = template.requirements.iter().map(|r| r.id.as_str()).collect();
        assert_eq!(ids, ["createos", "herdr", "git", "bun"]);
        let keys: Vec<_> = template.keys.iter().map(|key| format!("{} {}", key.chord, key.action)).collect();
        assert_eq!(
            keys,
            [
                "prefix+shift+s start",
                "prefix+shift+c attach",
                "prefix+shift+y sync",
                "prefix+shift+a apply",
                "prefix+shift+i info",
                "prefix+shift+x delete"
            ]
        );
    }
}
