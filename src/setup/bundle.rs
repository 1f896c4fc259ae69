//! The bundled plugin's folder: the manifest with the absolute path of this binary in every command, and
//! beside it the absolute paths of the programs that were checked.

use crate::config::Agent;
use crate::error::{Error, Result};
use crate::herdr::Manifest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The manifest's name, which Herdr fixes.
pub(crate) const MANIFEST: &str = "herdr-plugin.toml";
/// The record of programs.
pub(crate) const PROGRAMS: &str = "programs.json";

const TEMPLATE: &str = include_str!("../../templates/herdr-plugin.toml");

/// The content of `programs.json`: the plugin's processes get the PATH of a server that was started days
/// ago, so what was checked is written down.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramPaths {
    /// The version of this format.
    #[serde(rename = "schemaVersion")]
    pub(crate) schema_version: u32,
    /// The official CLI; absent with the local provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) createos: Option<PathBuf>,
    /// git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) git: Option<PathBuf>,
    /// Herdr, where its server does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) herdr: Option<PathBuf>,
}

impl ProgramPaths {
    /// The programs that were found.
    pub(crate) fn new(createos: Option<&Path>, git: Option<&Path>, herdr: Option<&Path>) -> Self {
        let [createos, git, herdr] = [createos, git, herdr].map(|path| path.map(Into::into));
        Self { schema_version: 1, createos, git, herdr }
    }

    /// Reads the record in the plugin's folder; none without one.
    ///
    /// # Errors
    /// It cannot be read, or is not one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(PROGRAMS);
        let Some(bytes) = crate::fs::read_if_there(&path)? else { return Ok(None) };
        let broken = |error: serde_json::Error| {
            Error::failed(format!("{}: {error}", path.display()))
                .help(format!("write it again with: {}", crate::command::setup()))
        };
        serde_json::from_slice(&bytes).map(Some).map_err(broken)
    }

    /// Each recorded program with its name.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let named = [("createos", &self.createos), ("git", &self.git), ("herdr", &self.herdr)];
        named.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }
}

/// The folder's files: name and contents.
///
/// # Errors
/// The binary's path is not UTF-8, so that it cannot stand in a manifest.
pub(crate) fn files(program: &Path, programs: &ProgramPaths) -> Result<BTreeMap<&'static str, Vec<u8>>> {
    let path = program.to_str().ok_or_else(|| {
        Error::cannot_run(format!("the path of this program is not UTF-8: {}", program.display()))
    })?;
    if path.chars().any(char::is_control) {
        return Err(Error::cannot_run("the path of this program holds a control character"));
    }
    let manifest = manifest(path);
    let programs = serde_json::to_string_pretty(programs).expect("paths and numbers are JSON");
    Ok(BTreeMap::from([(MANIFEST, manifest.into_bytes()), (PROGRAMS, format!("{programs}\n").into_bytes())]))
}

/// The manifest, whose commands start this program. In a TOML basic string quotes and backslashes are escaped.
fn manifest(program: &str) -> String {
    let quoted = format!("\"{}\"", program.replace('\\', "\\\\").replace('"', "\\\""));
    format!("{TEMPLATE}{}", Agent::all().map(start_of).collect::<String>())
        .replace("@PROGRAM@, ", &format!("{quoted}, "))
        .replace("= @VERSION@", &format!("= \"{}\"", env!("CARGO_PKG_VERSION")))
}

/// The action that starts this agent, whatever the settings say.
fn start_of(agent: Agent) -> String {
    let (name, title) = (agent.name(), &agent.spec().title);
    format!(
        "\n[[actions]]\nid = \"start-{name}\"\ntitle = \"CreateOS: start {title} in a new box\"\n\
         description = \"As start, with this agent\"\ncontexts = [\"pane\"]\n\
         command = [@PROGRAM@, \"herdr\", \"start\", \"--agent\", \"{name}\"]\n"
    )
}

/// The actions that the manifest has, in its order.
pub(crate) fn actions() -> Vec<String> {
    let manifest = Manifest::parse(manifest("createos-sandbox").as_bytes());
    let manifest = manifest.expect("the template is valid, which is tested");
    manifest.actions().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_is_valid_and_runs_nothing_but_this_program() {
        let dir = tempfile::tempdir().unwrap();
        let odd = Path::new("/opt/a \"b\" \\ ü/createos-sandbox");
        for (name, contents) in files(odd, &ProgramPaths::new(Some(Path::new("/c")), None, None)).unwrap() {
            std::fs::write(dir.path().join(name), contents).unwrap();
        }
        let manifest = Manifest::read(dir.path()).unwrap();
        assert_eq!(manifest.id, crate::paths::PLUGIN_ID);
        assert_eq!(manifest.version, env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest.programs(), [odd.to_str().unwrap()]);
        let programs = ProgramPaths::read(dir.path()).unwrap().unwrap();
        assert_eq!(programs.entries().collect::<Vec<_>>(), [("createos", Path::new("/c"))]);
    }

    #[test]
    fn the_actions_are_those_of_the_documentation() {
        let actions = actions();
        let of_agents = Agent::all().map(|agent| format!("start-{agent}"));
        assert_eq!(actions[12..], of_agents.collect::<Vec<_>>());
        assert_eq!(
            actions[..12],
            [
                "start",
                "start-menu",
                "attach",
                "sync",
                "apply",
                "review",
                "undo",
                "pause",
                "resume",
                "info",
                "delete",
                "boxes"
            ]
        );
    }

    #[test]
    fn a_path_that_cannot_stand_in_a_manifest_is_refused() {
        assert!(files(Path::new("/a\nb"), &ProgramPaths::default()).is_err());
    }
}
