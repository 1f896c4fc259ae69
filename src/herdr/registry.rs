//! Herdr's plugin registry, read by ourselves: `herdr plugin list` creates files (docs/measured/herdr.md 4.1, 13).

use crate::fs::{IfThere, read_regular};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// A plugin as Herdr has registered it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Plugin {
    #[serde(rename = "plugin_id")]
    pub(crate) id: String,
    /// Its version at the time of registration.
    #[serde(default)]
    pub(crate) version: String,
    /// The folder with its manifest; a real path.
    #[serde(rename = "plugin_root", default)]
    pub(crate) root: PathBuf,
    #[serde(default = "yes")]
    pub(crate) enabled: bool,
    #[serde(default)]
    source: RawSource,
}

/// A plugin's place among those that Herdr installed from GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GithubSource {
    /// `OWNER/REPO[/PATH]`.
    pub(crate) repository: String,
    /// The tag, branch or commit that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
}

impl fmt::Display for GithubSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repository)?;
        self.reference.iter().try_for_each(|reference| write!(f, "@{reference}"))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct RawSource {
    kind: String,
    owner: String,
    repo: String,
    subdir: Option<String>,
    requested_ref: Option<String>,
    resolved_commit: Option<String>,
}

fn yes() -> bool {
    true
}

impl Plugin {
    /// Where Herdr has it from, of a checkout that Herdr made and owns. Any other counts as linked, also of a kind that
    /// this version does not know: its folder is its own.
    pub(crate) fn github(&self) -> Option<GithubSource> {
        if self.source.kind != "github" {
            return None;
        }
        let subdir = self.source.subdir.iter().filter(|subdir| !subdir.is_empty()).map(|s| format!("/{s}"));
        Some(GithubSource {
            repository: format!("{}/{}{}", self.source.owner, self.source.repo, subdir.collect::<String>()),
            reference: self.source.requested_ref.clone(),
        })
    }

    /// The commit that Herdr checked out, of one from GitHub.
    pub(crate) fn commit(&self) -> Option<&str> {
        let commit = self.source.resolved_commit.as_deref()?;
        (commit.len() >= 40 && commit.bytes().all(|b| b.is_ascii_hexdigit())).then_some(commit)
    }
}

/// The registered plugins; none without a registry.
///
/// # Errors
/// The file cannot be read, or is not a list of plugins: Herdr refuses every plugin call then. With its path.
pub(crate) fn read_registry(path: &Path) -> Result<Vec<Plugin>, String> {
    let bad = |reason: String| format!("{}: {reason}", path.display());
    match read_regular(path).if_there().map_err(|error| bad(error.to_string()))? {
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string())),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(source: &str) -> Plugin {
        serde_json::from_str(&format!(
            r#"{{"plugin_id":"a.b","version":"1","manifest_path":"/p/herdr-plugin.toml","plugin_root":"/p",
               "enabled":false,"later":[1],"source":{source}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn a_record_is_read_and_what_is_new_in_it_does_not_matter() {
        let linked = plugin(r#"{"kind":"local"}"#);
        assert_eq!((linked.enabled, linked.github(), linked.root.to_str()), (false, None, Some("/p")));
    }

    #[test]
    fn an_installed_one_can_be_installed_again_from_its_record() {
        let source = r#"{"kind":"github","owner":"o","repo":"r","subdir":"a/b","requested_ref":"v1","x":2}"#;
        let source = plugin(source).github().expect("from GitHub");
        assert_eq!(source.to_string(), "o/r/a/b@v1");
        let source = plugin(r#"{"kind":"github","owner":"o","repo":"r"}"#).github().expect("from GitHub");
        assert_eq!(source.to_string(), "o/r");
    }

    #[test]
    fn no_registry_is_no_plugins_and_a_broken_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plugins.json");
        assert_eq!(read_registry(&path).unwrap(), []);
        std::fs::write(&path, "{").unwrap();
        assert!(read_registry(&path).unwrap_err().contains("plugins.json"));
    }
}
