//! Where a box may connect to: everything, or the hosts that are named, alone or by a preset. Those of package registries
//! are what the user's own tools use.

use super::variable::variable;
use crate::cli::BoxArgs;
use crate::config::{EgressRule, nearest};
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::fs::read_regular;
use crate::templates;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

#[derive(Deserialize)]
struct Data {
    presets: BTreeMap<String, Vec<String>>,
    registry: Vec<Registry>,
}

/// Where the hosts of a preset stand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    preset: String,
    variables: Vec<String>,
    files: Vec<Place>,
    ask: Vec<Vec<String>>,
}

/// Lines of a file with this word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    path: String,
    word: String,
}

static DATA: LazyLock<Data> = LazyLock::new(|| templates::read(include_str!("../../templates/cos.toml")));

/// How long a tool may take to say what it uses.
const ASK: Duration = Duration::from_secs(20);
/// Longer files are not looked at, in bytes: nobody's lock file is.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The rules for a box: empty for everything.
///
/// # Errors
/// A rule or a preset is none, or the hosts of a preset cannot be found.
pub(super) fn rules(args: &BoxArgs, home: &Path, dir: &Path) -> Result<Vec<String>> {
    let mut rules = BTreeSet::new();
    for text in &args.egress {
        rules.insert(text.parse::<EgressRule>()?.as_str().to_owned());
    }
    for name in &args.egress_preset {
        rules.extend(preset(name, home, dir)?);
    }
    Ok(rules.into_iter().collect())
}

fn preset(name: &str, home: &Path, dir: &Path) -> Result<Vec<String>> {
    if let Some(hosts) = DATA.presets.get(name) {
        return Ok(hosts.clone());
    }
    let Some(registry) = DATA.registry.iter().find(|registry| registry.preset == name) else {
        let known: Vec<&str> = DATA
            .presets
            .keys()
            .chain(DATA.registry.iter().map(|known| &known.preset))
            .map(String::as_str)
            .collect();
        let near = nearest(name, &known).map_or_else(String::new, |near| format!("did you mean {near}?"));
        return Err(Error::usage(format!(
            "unknown egress preset '{name}'; pick one of: {}",
            known.join(", ")
        ))
        .help(near));
    };
    let found = registry.hosts(home, dir);
    if found.is_empty() {
        return Err(Error::usage(format!("no host was found for the preset {name}"))
            .fact("looked at", registry.places())
            .help("name the hosts of your registry: -e HOST, once for each"));
    }
    Ok(found.into_iter().collect())
}

impl Registry {
    fn hosts(&self, home: &Path, dir: &Path) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for value in self.variables.iter().filter_map(|name| variable(name)) {
            hosts_in(&value, &mut found);
        }
        for Place { path, word } in &self.files {
            let path = match path.strip_prefix("~/") {
                Some(below) => home.join(below),
                None => dir.join(path),
            };
            for line in text(&path).lines().filter(|line| line.contains(word.as_str())) {
                hosts_in(line, &mut found);
            }
        }
        if found.is_empty() {
            for ask in &self.ask {
                let run = Run::new(&ask[0]).args(&ask[1..]).cwd(dir).env("NO_COLOR", "1").limit(ASK);
                if let Ok(said) = run.run().map(|ended| ended.stdout_text()) {
                    // Help texts are wrapped: an address may begin a line.
                    hosts_in(&said, &mut found);
                }
            }
        }
        found
    }

    fn places(&self) -> String {
        let files = self.files.iter().map(|place| place.path.clone());
        let asked = self.ask.iter().map(|ask| ask.join(" "));
        self.variables.iter().cloned().chain(files).chain(asked).collect::<Vec<_>>().join(", ")
    }
}

fn text(path: &Path) -> String {
    let small = path.metadata().is_ok_and(|found| found.len() <= LARGEST);
    let bytes = if small { read_regular(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The hosts of the addresses in a text, with a port that is named.
fn hosts_in(text: &str, found: &mut BTreeSet<String>) {
    for start in ["https://", "http://"] {
        for (at, _) in text.match_indices(start) {
            let rest = &text[at + start.len()..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-_:@[]%".contains(c)));
            let authority = &rest[..end.unwrap_or(rest.len())];
            let host =
                authority.rsplit_once('@').map_or(authority, |(_, host)| host).trim_end_matches(['.', ':']);
            if let Ok(rule) = host.to_ascii_lowercase().parse::<EgressRule>() {
                found.insert(rule.as_str().to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_of_the_users_own_files() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let npm = &DATA.registry[0];
        assert_eq!(npm.preset, "npm");
        std::fs::write(
            home.join(".npmrc"),
            "# https://no.example.com\nregistry=https://user:pw@npm.example.com:8443/x/\n",
        )
        .unwrap();
        let lock = "{\n  \"funding\": \"https://fund.example.com\",\n  \"resolved\": \"https://tarballs.example.com/a.tgz\"\n}";
        std::fs::write(project.join("package-lock.json"), lock).unwrap();
        let found: Vec<String> = npm.hosts(&home, &project).into_iter().collect();
        assert_eq!(found, ["npm.example.com:8443", "tarballs.example.com"]);
    }

    #[test]
    fn a_preset_that_finds_nothing_asks_for_the_hosts() {
        let dir = tempfile::tempdir().unwrap();
        let error = preset("rust-cargo", dir.path(), dir.path()).unwrap_err();
        assert!(error.hints()[0].contains("-e HOST"), "{error:?}");
        assert!(preset("githup", dir.path(), dir.path()).unwrap_err().hints()[0].contains("github"));
        assert_eq!(preset("github", dir.path(), dir.path()).unwrap().len(), 4);
    }
}
