//! The settings. A new one is an entry here, and what the compiler then asks for.

use super::agent_args as by_agent;
use super::allow_files as by_worktree;
use super::define::settings;
use super::environment as variables;
use super::names::nearest;
use super::value::{flag, many, one, paths};
use super::{
    Agent, AgentArgs, AllowFiles, AutoPause, DetachKey, EgressRule, Environment, HomePath, Network,
    ProviderKind, RemoteRoot, Rootfs, Shape, SyncExclude,
};
use crate::error::Error;
use crate::worktree::{Exclude, RelPath};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

settings! {
    /// Which agent runs in the box.
    Agent agent "agent": one Agent = Agent::default();
    /// What the agent is given behind its own arguments.
    AgentArgs agent_args "agentArgs": by_agent AgentArgs = AgentArgs::default();
    /// The agent asks nothing before it acts: the box is the wall.
    Unattended unattended "unattended": flag bool = false;
    /// Variables of the agent in its box.
    Environment environment "environment": variables Environment = Environment::default();
    /// What of the user's home a box's home gets, too.
    HomeFiles home_files "homeFiles": many Vec<HomePath> = Vec::new();
    /// And the agent's own instructions, skills and settings.
    AgentSettings agent_settings "agentSettings": flag bool = false;
    /// The machine's size.
    Shape shape "shape": one Shape = built_in("s-2vcpu-4gb");
    /// The image; the provider's own default when unset.
    Rootfs rootfs "rootfs": one Rootfs;
    /// After how much idle time the box pauses.
    AutoPause auto_pause "autoPause": one AutoPause = built_in("30m");
    /// Where the worktree lands in the box.
    RemoteRoot remote_root "remoteRoot": one RemoteRoot = RemoteRoot::default();
    /// The allow-list for connections; empty means that everything may be reached.
    Egress egress "egress": many Vec<EgressRule> = Vec::new();
    /// The network of a box on this machine.
    Network network "network": one Network = Network::default();
    /// What stays home when the worktree is uploaded.
    Excludes excludes "excludes": many Vec<Exclude> = Vec::new();
    /// What file sync leaves alone.
    SyncExcludes sync_excludes "syncExcludes": many Vec<SyncExclude> = vec![built_in(".git"), built_in("node_modules")];
    /// Files that leave although the secret scan found something in them.
    AllowSecrets allow_secrets "allowSecrets": paths Vec<RelPath> = Vec::new();
    /// Files that leave although a filter of names would keep them.
    AllowFiles allow_files "allowFiles": by_worktree AllowFiles = AllowFiles::default();
    /// Who makes the boxes.
    Provider provider "provider": one ProviderKind = ProviderKind::default();
    /// Whether an agent's pane comes back by itself when Herdr was started again.
    RestorePanes restore_panes "restorePanes": flag bool = true;
    /// The key that leaves the terminal of a box on this machine.
    DetachKey detach_key "detachKey": one DetachKey = DetachKey::default();
}

/// A default, which is valid by the test below.
fn built_in<T: FromStr<Err = Error>>(text: &str) -> T {
    text.parse().expect("the defaults are valid, which is tested")
}

impl Key {
    /// The setting of this name.
    ///
    /// # Errors
    /// There is none; the words say which one may be meant.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|key| key.name() == name).ok_or_else(|| {
            let near = nearest(name, &Self::ALL.map(Self::name));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
            format!("unknown key \"{name}\"{hint}")
        })
    }
}

impl Settings {
    /// The settings as a JSON object, in the documentation's order, only those that are set.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        Key::ALL.into_iter().filter_map(|key| Some((key.name().to_owned(), self.get(key)?))).collect()
    }

    /// The file's text.
    pub(crate) fn to_json(&self) -> String {
        format!("{:#}\n", Value::Object(self.to_map()))
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Settings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
                let mut settings = Settings::default();
                while let Some(name) = map.next_key::<String>()? {
                    let key = Key::find(&name).map_err(A::Error::custom)?;
                    if settings.get(key).is_some() {
                        return Err(A::Error::custom(format!("\"{name}\" is there twice")));
                    }
                    let value = map.next_value::<Value>()?;
                    settings.set(key, &value).map_err(A::Error::custom)?;
                }
                Ok(settings)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{
  "agent": "codex",
  "agentArgs": {
    "codex": [
      "--search"
    ]
  },
  "unattended": true,
  "environment": {
    "API_KEY": {
      "from": "API_KEY"
    }
  },
  "homeFiles": [
    "~/.gitconfig"
  ],
  "agentSettings": true,
  "shape": "s-4vcpu-8gb",
  "rootfs": "devbox:1",
  "autoPause": "1h",
  "remoteRoot": "/work",
  "egress": [
    "npm.example.com",
    "github.com"
  ],
  "network": "own",
  "excludes": [
    "fixtures/",
    "*.mp4"
  ],
  "syncExcludes": [
    ".git"
  ],
  "allowSecrets": [
    "src/fixture.pem"
  ],
  "allowFiles": {
    "~/shop": [
      "t/*.pem"
    ]
  },
  "provider": "local",
  "restorePanes": false,
  "detachKey": "ctrl+q"
}
"#;

    fn bad(text: &str) -> String {
        let error = Settings::parse(text.as_bytes()).unwrap_err();
        format!("{}:{}: {}", error.line, error.column, error.reason)
    }

    #[test]
    fn a_file_is_written_as_it_is_read() {
        assert_eq!(Settings::parse(FULL.as_bytes()).unwrap().to_json(), FULL);
        assert_eq!(Settings::parse(b"{}").unwrap().to_json(), "{}\n");
    }

    #[test]
    fn the_defaults_are_those_of_the_documentation() {
        let config = Settings::default().resolve();
        assert_eq!(
            (config.agent, config.shape.as_str(), config.rootfs, config.auto_pause.as_str()),
            (Agent::default(), "s-2vcpu-4gb", None, "30m")
        );
        assert_eq!(config.remote_root.as_str(), "/workspace");
        assert!(config.egress.is_empty() && config.excludes.is_empty() && config.allow_secrets.is_empty());
        assert_eq!(
            config.sync_excludes.iter().map(SyncExclude::as_str).collect::<Vec<_>>(),
            [".git", "node_modules"]
        );
        assert_eq!((config.provider, config.network), (ProviderKind::Createos, Network::Own));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        insta::assert_snapshot!(bad("{\n  \"agnet\": \"codex\"\n}"), @r#"2:9: unknown key "agnet"; did you mean "agent"?"#);
        insta::assert_snapshot!(bad("{\n  \"token\": \"x\"\n}"), @r#"2:9: unknown key "token""#);
        insta::assert_snapshot!(bad("{ \"agent\": \"bash\" }"), @r#"1:19: "agent": unknown agent "bash"; pick one of: claude-code, codex, opencode, pi, cursor, gemini, copilot, qwen, amp, shell"#);
        insta::assert_snapshot!(bad("{ \"egress\": \"github.com\" }"), @r#"1:26: "egress": expected a list of texts, found a text"#);
        insta::assert_snapshot!(bad("{ \"rootfs\": null }"), @r#"1:18: "rootfs": expected a text, found null"#);
        insta::assert_snapshot!(bad("{ \"allowSecrets\": [\"../x\"] }"), @r#"1:28: "allowSecrets": "../x" is a path that leaves the worktree"#);
        insta::assert_snapshot!(bad("{ \"agent\": \"pi\", \"agent\": \"pi\" }"), @r#"1:24: "agent" is there twice"#);
        insta::assert_snapshot!(bad("{ \"agent\": \"pi\", }"), @"1:18: trailing comma");
        for (name, value) in [
            ("shape", "\"help\""),
            ("rootfs", "\"help\""),
            ("egress", "[\"help\"]"),
            ("syncExcludes", "[\"help\"]"),
        ] {
            let told = bad(&format!("{{\n  \"{name}\": {value},\n  \"agent\": \"pi\"\n}}"));
            assert!(told.starts_with("2:") && told.contains(&format!("\"{name}\": ")), "{told}");
            assert!(told.contains("\"help\""), "{told}");
        }
        let told = bad("{ \"unattended\": \"yes\" }");
        assert!(told.ends_with("\"unattended\": expected true or false, found a text"), "{told}");
        insta::assert_snapshot!(bad("[]"), @"1:1: invalid type: sequence, expected an object of settings");
        insta::assert_snapshot!(bad(""), @"1:1: the file is empty; {} stands for no settings");
    }

    #[test]
    fn what_is_above_wins_and_what_is_below_stays() {
        let pi: Agent = "pi".parse().unwrap();
        let above = Settings { agent: Some(pi), egress: Some(Vec::new()), ..Settings::default() };
        let merged = above.over(Settings::parse(FULL.as_bytes()).unwrap());
        assert_eq!((merged.agent, merged.egress.map(|rules| rules.len())), (Some(pi), Some(0)));
        assert_eq!(merged.provider, Some(ProviderKind::Local));
    }
}
