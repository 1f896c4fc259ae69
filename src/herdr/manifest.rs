//! `herdr-plugin.toml`, read by ourselves (docs/measured/herdr.md 5): what a plugin is and which programs it starts.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What we want to know of a manifest; what Herdr checks beyond that is its affair.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Manifest {
    /// The plugin's id.
    pub(crate) id: String,
    /// Its version, as free text.
    #[serde(default)]
    pub(crate) version: String,
    #[serde(default)]
    startup: Vec<Item>,
    #[serde(default)]
    actions: Vec<Item>,
    #[serde(default)]
    events: Vec<Item>,
    #[serde(default)]
    panes: Vec<Item>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Item {
    id: String,
    on: String,
    command: Vec<String>,
}

impl Item {
    /// The files that it starts, or has an interpreter start.
    fn files(&self) -> impl Iterator<Item = &str> {
        const INTERPRETERS: [&str; 9] =
            ["sh", "bash", "dash", "zsh", "bun", "node", "deno", "python3", "python"];
        let program = self.command.first().map(String::as_str);
        let name = program.and_then(|program| Path::new(program).file_name()?.to_str());
        let script = self.command.iter().skip(1).map(String::as_str).find(|word| *word != "run");
        let is_file = |word: &&str| !word.starts_with('-') && word.contains(['/', '.']);
        let script = script.filter(|_| name.is_some_and(|name| INTERPRETERS.contains(&name)));
        program.filter(|program| program.contains('/')).into_iter().chain(script.filter(is_file))
    }
}

impl Manifest {
    /// Reads the manifest of the plugin in `root`.
    ///
    /// # Errors
    /// There is none, or it is no manifest; with its path.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let path = root.join("herdr-plugin.toml");
        let on_one_line = |error: toml_edit::de::Error| error.to_string().trim().replace('\n', " ");
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        text.and_then(|text| toml_edit::de::from_str(&text).map_err(on_one_line))
            .map_err(|reason| format!("{}: {reason}", path.display()))
    }

    /// Its actions, without the plugin's id.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().map(|action| action.id.as_str())
    }

    /// The manifest that this text is; none when it is none.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        toml_edit::de::from_slice(text).ok()
    }

    /// The first thing that `wanted` starts and this one does not, in words.
    pub(crate) fn lacks(&self, wanted: &Self) -> Option<String> {
        let kinds = [
            ("action", &self.actions, &wanted.actions),
            ("pane", &self.panes, &wanted.panes),
            ("event", &self.events, &wanted.events),
            ("startup", &self.startup, &wanted.startup),
        ];
        kinds.into_iter().find_map(|(kind, has, wanted)| {
            let missing = wanted.iter().find(|item| !has.contains(item))?;
            Some(format!("{kind} {}{}", missing.id, missing.on).trim_end().to_owned())
        })
    }

    /// The program of an argv, as Herdr finds it from the plugin's folder; none when it is not there.
    pub(crate) fn resolve(root: &Path, program: &str) -> Option<PathBuf> {
        which::which_in(program, std::env::var_os("PATH"), root).ok()
    }

    fn items(&self) -> impl Iterator<Item = &Item> {
        [&self.startup, &self.actions, &self.events, &self.panes].into_iter().flatten()
    }

    /// The programs that it starts, each once, as the manifest has them.
    pub(crate) fn programs(&self) -> Vec<&str> {
        once(self.items().filter_map(|item| item.command.first()).map(String::as_str))
    }

    /// The files that it starts, or has an interpreter start, each once, as the manifest has them: a program with a
    /// slash is meant from the plugin's root on, a bare name comes from PATH (docs/measured/herdr.md 5).
    pub(crate) fn files(&self) -> Vec<&str> {
        once(self.items().flat_map(Item::files))
    }

    /// Whether the plugin in `root` runs on Bun: a command says so, a lock file of Bun's lies there, or the
    /// script that its build writes starts it.
    pub(crate) fn runs_on_bun(&self, root: &Path) -> bool {
        let named = |program: &&str| Path::new(program).file_name().is_some_and(|name| name == "bun");
        let locked = ["bun.lock", "bun.lockb"].iter().any(|name| root.join(name).exists());
        let scripted = ["run.sh", "build.sh"].iter().any(|name| {
            std::fs::read_to_string(root.join(name)).is_ok_and(|text| {
                text.split_whitespace().any(|word| {
                    word.trim_matches(['"', '\'', ';', '(', ')']).rsplit('/').next() == Some("bun")
                })
            })
        });
        self.programs().iter().any(named) || locked || scripted
    }
}

fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    const TEXT: &str = "id = \"a.b\"\nversion = \"1\"\nlater = 1\n\
        [[actions]]\nid = \"x\"\ncommand = [\"./run.sh\", \"x\"]\n[[panes]]\nid = \"y\"\ncommand = [\"./run.sh\"]\n";

    #[test]
    fn programs_are_listed_once() {
        let dir = folder(&[("herdr-plugin.toml", TEXT)]);
        let manifest = Manifest::read(dir.path()).unwrap();
        assert_eq!((manifest.id.as_str(), manifest.programs()), ("a.b", vec!["./run.sh"]));
        assert!(!manifest.runs_on_bun(dir.path()));
    }

    #[test]
    fn the_files_that_it_starts_are_told_from_programs_on_path() {
        let text = "id = \"a.b\"\n[[actions]]\nid = \"x\"\ncommand = [\"./run.sh\", \"x\"]\n\
            [[actions]]\nid = \"y\"\ncommand = [\"sh\", \"other.sh\", \"y.txt\"]\n\
            [[actions]]\nid = \"z\"\ncommand = [\"bun\", \"run\", \"src/main.ts\"]\n\
            [[actions]]\nid = \"c\"\ncommand = [\"sh\", \"-c\", \"./inline.sh\"]\n\
            [[panes]]\nid = \"p\"\ncommand = [\"git\", \"log.txt\"]\n";
        let dir = folder(&[("herdr-plugin.toml", text)]);
        let manifest = Manifest::read(dir.path()).unwrap();
        assert_eq!(manifest.files(), ["./run.sh", "other.sh", "src/main.ts"]);
    }

    #[test]
    fn a_plugin_on_bun_is_known_by_its_script() {
        let dir = folder(&[("herdr-plugin.toml", TEXT), ("run.sh", "exec \"/opt/bun/bin/bun\" main.ts\n")]);
        assert!(Manifest::read(dir.path()).unwrap().runs_on_bun(dir.path()));
        let dir = folder(&[("herdr-plugin.toml", TEXT), ("run.sh", "# no bundle here\nexec sh\n")]);
        assert!(!Manifest::read(dir.path()).unwrap().runs_on_bun(dir.path()));
    }

    #[test]
    fn a_missing_or_broken_manifest_is_named() {
        let dir = folder(&[("herdr-plugin.toml", "id = ")]);
        assert!(Manifest::read(dir.path()).unwrap_err().contains("herdr-plugin.toml"));
        assert!(Manifest::read(&dir.path().join("absent")).is_err());
    }
}
