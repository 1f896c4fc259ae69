//! The agents that a box can run; what each needs is data in `templates/agents.toml`.

use super::names::unknown;
use crate::error::Error;
use crate::templates;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// An agent by its place in the registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Agent(usize);

/// What is known about an agent inside a box (docs/measured/createos-cli.md 6.2).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSpec {
    /// The name in `config.json`, which is that of its table.
    #[serde(skip)]
    name: String,
    pub(crate) title: String,
    /// The `HERDR_AGENT` value by which Herdr classifies the pane; none for a shell.
    pub(crate) label: Option<String>,
    /// The program that is run in the box.
    pub(crate) program: String,
    /// What the program is always given.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// The official installer, as text for a shell in the box; none when nothing is installed.
    pub(crate) install: Option<String>,
    /// Programs that the installer needs in the box.
    #[serde(default = "curl")]
    pub(crate) needs: Vec<String>,
    /// Variables that the installer needs to ask nothing.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// What makes it ask nothing; none where it never asks, or cannot be told.
    pub(crate) unattended: Option<Unattended>,
    /// Its instructions, skills and settings in the user's home, as `~/…`; never what signs it in.
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    /// Files of the box's home that answer its first-run pages.
    #[serde(default)]
    pub(crate) seeds: Vec<Seed>,
    /// Paths of a worktree that make it run what the repository says, a folder with `/` at its end: it is not told to
    /// trust one that has them.
    #[serde(default)]
    pub(crate) hooks: Vec<String>,
    /// How it goes on with its last conversation.
    #[serde(rename = "continue")]
    pub(crate) resume: Option<Resume>,
    /// Hosts of the installer and of the agent.
    #[serde(default)]
    hosts: Vec<AgentHost>,
    /// The package manager whose registry it uses; its host is asked of that tool.
    pub(crate) registry: Option<String>,
    /// Whether it runs what it is told to in a sandbox of its own, for which it makes namespaces.
    #[serde(default)]
    pub(crate) nested: bool,
    /// Whether it talks to a model provider of the user's choice.
    #[serde(default)]
    pub(crate) provider: bool,
}

/// How an agent is told to ask nothing, with all that it needs for that.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unattended {
    /// Its switch.
    pub(crate) args: Vec<String>,
    /// Variables without which it refuses the switch.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
}

/// Keys of a settings file, JSON or TOML by its name; `@WORKSPACE@` in it is the workspace.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seed {
    /// Below the home, as `~/…`.
    pub(crate) file: String,
    pub(crate) text: String,
    /// It says that the workspace is trusted.
    #[serde(default)]
    pub(crate) trust: bool,
    /// Only for an agent that asks nothing.
    #[serde(default)]
    pub(crate) unattended: bool,
}

/// The words that continue a conversation, and where conversations are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resume {
    /// In front of every other argument.
    pub(crate) args: Vec<String>,
    /// A folder below the home, as `~/…`; `@FOLDER@` in it is the folder of the agent with a hyphen for each character
    /// that is no letter or digit.
    pub(crate) conversations: String,
    /// What their files are called, as a pattern of `find -name`.
    pub(crate) name: String,
}

/// What most installers are fetched with.
fn curl() -> Vec<String> {
    vec!["curl".into()]
}

/// A host that an agent has to do with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentHost {
    host: String,
    #[serde(rename = "for")]
    used_for: HostUse,
    /// Where that is known from; read by people and tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for who reads the file"))]
    source: HostSource,
}

/// What a host is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HostUse {
    Installer,
    Agent,
    Extra,
}

/// How it is known that a host is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HostSource {
    Command,
    Proxy,
    Strings,
    Documentation,
    Redirect,
}

impl AgentSpec {
    /// Hosts that the installer is downloaded from, redirects included.
    pub(crate) fn installer_hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts_for(|used_for| used_for == HostUse::Installer)
    }

    /// Hosts without which the agent is not installed, or is of no use; a `*.` stands for all names below.
    pub(crate) fn needed_hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts_for(|used_for| used_for != HostUse::Extra)
    }

    fn hosts_for(&self, is: impl Fn(HostUse) -> bool) -> impl Iterator<Item = &str> {
        self.hosts.iter().filter(move |known| is(known.used_for)).map(|known| known.host.as_str())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    search: Vec<String>,
    provider_variables: Vec<String>,
    #[serde(deserialize_with = "in_the_order_of_the_file")]
    agents: Vec<AgentSpec>,
}

static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| templates::read(include_str!("../../templates/agents.toml")));

fn in_the_order_of_the_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<AgentSpec>, D::Error> {
    let tables = Map::<String, Value>::deserialize(deserializer)?.into_iter();
    let named = |(name, table)| AgentSpec::deserialize(table).map(|spec| AgentSpec { name, ..spec });
    tables.map(|table| named(table).map_err(D::Error::custom)).collect()
}

impl Agent {
    /// Every agent, in the order of the documentation.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..REGISTRY.agents.len()).map(Self)
    }

    /// The name in `config.json`.
    pub(crate) fn name(self) -> &'static str {
        &self.spec().name
    }

    /// What is known about it.
    pub(crate) fn spec(self) -> &'static AgentSpec {
        &REGISTRY.agents[self.0]
    }

    /// Variables that hold keys of the agents' providers.
    pub(crate) fn provider_variables() -> &'static [String] {
        &REGISTRY.provider_variables
    }

    /// Folders of a box in which installers put programs, `~` for the box's home.
    pub(crate) fn search_folders() -> &'static [String] {
        &REGISTRY.search
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Agent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::all().find(|agent| agent.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            unknown("agent", text, &names)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_conversations_are_files_of_the_home() {
        for spec in Agent::all().map(Agent::spec) {
            for seed in &spec.seeds {
                assert!(seed.file.starts_with("~/."), "{}", seed.file);
                assert_eq!(seed.trust, seed.text.contains("@WORKSPACE@"), "{}", seed.text);
                assert!(!seed.unattended || spec.unattended.is_some(), "{}", seed.file);
            }
            let conversations = spec.resume.iter().map(|resume| &resume.conversations);
            assert!(conversations.clone().all(|folder| folder.starts_with("~/.")));
        }
    }

    #[test]
    fn the_first_agent_is_the_default_and_only_what_is_installed_has_a_label() {
        assert_eq!(Agent::default().name(), "claude-code");
        for agent in Agent::all() {
            assert_eq!(agent.name().parse::<Agent>().unwrap(), agent);
            assert_eq!(agent.spec().install.is_none(), agent.spec().label.is_none());
        }
        let shell = "shell".parse::<Agent>().unwrap().spec();
        assert_eq!(
            (shell.program.as_str(), &*shell.args, &shell.install),
            ("bash", &["-l".to_owned()][..], &None)
        );
    }

    #[test]
    fn the_installers_host_is_among_the_hosts_or_its_registrys() {
        for spec in Agent::all().map(Agent::spec) {
            let Some(install) = &spec.install else { continue };
            let host = install.split("https://").nth(1).and_then(|rest| rest.split('/').next());
            let Some(host) = host else {
                // A package manager: it is in the box, and its registry is asked of it.
                let tool = install.split(' ').next().unwrap();
                assert_eq!(spec.registry.as_deref(), Some(tool), "{install}");
                assert!(spec.needs.iter().any(|need| need == tool), "{install}");
                continue;
            };
            let known = spec.hosts.iter().find(|known| known.host == host).unwrap();
            assert_eq!((known.used_for, known.source), (HostUse::Installer, HostSource::Command), "{host}");
        }
    }

    #[test]
    fn an_agent_is_of_no_use_without_its_own_host_or_a_providers() {
        for spec in Agent::all().map(Agent::spec).filter(|spec| spec.install.is_some()) {
            let own = spec.hosts.iter().any(|known| known.used_for != HostUse::Extra);
            assert!(own || spec.provider, "{}", spec.title);
            assert!(spec.installer_hosts().count() <= spec.needed_hosts().count());
        }
    }

    #[test]
    fn an_unknown_agent_is_told_all_and_the_nearest() {
        let error = "claude".parse::<Agent>().unwrap_err();
        assert!(
            error
                .message()
                .contains("claude-code, codex, opencode, pi, cursor, gemini, copilot, qwen, amp, shell"),
            "{error}"
        );
        assert_eq!("codx".parse::<Agent>().unwrap_err().hints(), ["did you mean codex?"]);
    }
}
