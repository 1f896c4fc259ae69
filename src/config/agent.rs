//! The agents that a box can run; what each needs is data in `templates/agents.toml`.

use super::names::nearest;
use crate::error::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// An agent by the name that `config.json` and `--agent` use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Agent {
    /// `claude-code`
    ClaudeCode,
    /// `codex`
    Codex,
    /// `opencode`
    Opencode,
    /// `pi`
    Pi,
    /// `cursor`
    Cursor,
    /// `shell`: a plain login shell, nothing to install
    Shell,
}

/// What is known about an agent inside a box (contract `createos-cli.md` 9).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSpec {
    /// Its name for people.
    pub(crate) title: String,
    /// The `HERDR_AGENT` value by which Herdr classifies the pane; none for a shell.
    #[serde(default)]
    pub(crate) label: Option<String>,
    /// Its program.
    pub(crate) program: String,
    /// The official installer, as text for a shell in the box; none when nothing is installed.
    #[serde(default)]
    pub(crate) install: Option<String>,
    /// Variables that the installer needs to ask nothing.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Hosts of the installer and of the agent.
    #[serde(default)]
    hosts: Vec<AgentHost>,
    /// The package manager whose registry it uses; its host is asked of that tool.
    #[serde(default)]
    pub(crate) registry: Option<String>,
    /// Whether it talks to a model provider of the user's choice.
    #[serde(default)]
    pub(crate) provider: bool,
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
    agents: BTreeMap<String, AgentSpec>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    toml_edit::de::from_str(include_str!("../../templates/agents.toml"))
        .expect("the built-in registry is tested")
});

impl Agent {
    /// Every agent, in the order of the documentation.
    pub(crate) const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Opencode, Self::Pi, Self::Cursor, Self::Shell];

    /// The name in `config.json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
            Self::Cursor => "cursor",
            Self::Shell => "shell",
        }
    }

    /// What is known about it.
    pub(crate) fn spec(self) -> &'static AgentSpec {
        REGISTRY.agents.get(self.name()).expect("every agent is in the built-in registry, which is tested")
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
        Self::ALL.into_iter().find(|agent| agent.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let error = Error::usage(format!("unknown agent \"{text}\"; pick one of: {}", names.join(", ")));
            match nearest(text, &names) {
                Some(near) => error.help(format!("did you mean {near}?")),
                None => error,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_its_entry_and_there_is_no_other() {
        assert_eq!(REGISTRY.agents.len(), Agent::ALL.len());
        for agent in Agent::ALL {
            assert_eq!(agent.name().parse::<Agent>().unwrap(), agent);
            assert_eq!(agent.spec().install.is_none(), agent == Agent::Shell);
            assert_eq!(agent.spec().label.is_none(), agent == Agent::Shell);
        }
    }

    #[test]
    fn the_installers_host_is_among_the_hosts() {
        for spec in Agent::ALL.map(Agent::spec) {
            let Some(install) = &spec.install else { continue };
            let host = install.split("https://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
            let known = spec.hosts.iter().find(|known| known.host == host).unwrap();
            assert_eq!((known.used_for, known.source), (HostUse::Installer, HostSource::Command), "{host}");
        }
    }

    #[test]
    fn an_agent_is_of_no_use_without_its_own_host_or_a_providers() {
        for spec in Agent::ALL.map(Agent::spec).into_iter().filter(|spec| spec.install.is_some()) {
            let own = spec.hosts.iter().any(|known| known.used_for == HostUse::Agent);
            assert!(own || spec.provider, "{}", spec.title);
            assert!(spec.installer_hosts().count() <= spec.needed_hosts().count());
        }
    }

    #[test]
    fn an_unknown_agent_is_told_the_six_and_the_nearest() {
        let error = "claude".parse::<Agent>().unwrap_err();
        assert!(error.message().contains("claude-code, codex, opencode, pi, cursor, shell"), "{error}");
        assert_eq!("codx".parse::<Agent>().unwrap_err().hints(), ["did you mean codex?"]);
    }
}
