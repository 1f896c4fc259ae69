//! Settings as a file or a command line gives them: each may be absent.

use super::{
    Agent, AllowFiles, AutoPause, Config, EgressRule, Provider, RemoteRoot, Rootfs, Shape, SyncExclude,
    nearest,
};
use crate::command::Command;
use crate::error::Error;
use crate::worktree::{Exclude, RelPath};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A setting's name in `config.json`. The order is the documentation's, and that of a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the settings' own")]
pub(crate) enum Key {
    Agent,
    Shape,
    Rootfs,
    AutoPause,
    RemoteRoot,
    Egress,
    Excludes,
    SyncExcludes,
    AllowSecrets,
    AllowFiles,
    Provider,
}

impl Key {
    /// Every setting.
    pub(crate) const ALL: [Self; 11] = [
        Self::Agent,
        Self::Shape,
        Self::Rootfs,
        Self::AutoPause,
        Self::RemoteRoot,
        Self::Egress,
        Self::Excludes,
        Self::SyncExcludes,
        Self::AllowSecrets,
        Self::AllowFiles,
        Self::Provider,
    ];

    /// The name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Shape => "shape",
            Self::Rootfs => "rootfs",
            Self::AutoPause => "autoPause",
            Self::RemoteRoot => "remoteRoot",
            Self::Egress => "egress",
            Self::Excludes => "excludes",
            Self::SyncExcludes => "syncExcludes",
            Self::AllowSecrets => "allowSecrets",
            Self::AllowFiles => "allowFiles",
            Self::Provider => "provider",
        }
    }

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

/// What a file or the flags set; `None` is "not mentioned".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of Config")]
pub(crate) struct Settings {
    pub(crate) agent: Option<Agent>,
    pub(crate) shape: Option<Shape>,
    pub(crate) rootfs: Option<Rootfs>,
    pub(crate) auto_pause: Option<AutoPause>,
    pub(crate) remote_root: Option<RemoteRoot>,
    pub(crate) egress: Option<Vec<EgressRule>>,
    pub(crate) excludes: Option<Vec<Exclude>>,
    pub(crate) sync_excludes: Option<Vec<SyncExclude>>,
    pub(crate) allow_secrets: Option<Vec<RelPath>>,
    pub(crate) allow_files: Option<AllowFiles>,
    pub(crate) provider: Option<Provider>,
}

/// Why a text is not a valid `config.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadConfig {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column, from 1.
    pub(crate) column: usize,
    /// What is wrong.
    pub(crate) reason: String,
    /// A repair would lose a protection, so that only a person can do it.
    pub(crate) protects: bool,
}

impl BadConfig {
    /// The error for a person; `rewrite` is the setup that keeps what is valid.
    pub(crate) fn in_file(&self, path: &Path, rewrite: &Command) -> Error {
        let error =
            Error::usage(format!("{}:{}:{}: {}", path.display(), self.line, self.column, self.reason));
        if self.protects {
            let reset = rewrite.clone().without("--force").flag("--reset");
            return error
                .help("correct the file")
                .help(format!("or start from the defaults, without what it protects: {reset}"));
        }
        error.help(format!("correct the file, or rewrite it with its valid settings: {rewrite}"))
    }
}

impl Settings {
    /// Reads a whole file strictly: an unknown key, a repeated key or a bad value is an error.
    ///
    /// # Errors
    /// Line, column and reason of the first thing that is wrong.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, BadConfig> {
        serde_json::from_slice(text).map_err(|error| {
            let full = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = match text.trim_ascii() {
                b"" => "the file is empty; {} stands for no settings",
                _ => full.strip_suffix(&place).unwrap_or(&full),
            };
            let protects = Self::salvage(text).1.iter().any(|dropped| !dropped.loosens.is_empty());
            // The parser counts columns from 0 at the beginning of a line.
            let (line, column) = (error.line().max(1), error.column().max(1));
            BadConfig { line, column, reason: reason.into(), protects }
        })
    }

    /// These settings, and `below` where they do not say.
    #[must_use]
    pub(crate) fn over(self, below: Self) -> Self {
        Self {
            agent: self.agent.or(below.agent),
            shape: self.shape.or(below.shape),
            rootfs: self.rootfs.or(below.rootfs),
            auto_pause: self.auto_pause.or(below.auto_pause),
            remote_root: self.remote_root.or(below.remote_root),
            egress: self.egress.or(below.egress),
            excludes: self.excludes.or(below.excludes),
            sync_excludes: self.sync_excludes.or(below.sync_excludes),
            allow_secrets: self.allow_secrets.or(below.allow_secrets),
            allow_files: self.allow_files.or(below.allow_files),
            provider: self.provider.or(below.provider),
        }
    }

    /// Every setting, the defaults where nothing is set.
    pub(crate) fn resolve(self) -> Config {
        Config {
            agent: self.agent.unwrap_or(Agent::ClaudeCode),
            shape: self.shape.unwrap_or_else(|| built_in("s-2vcpu-4gb")),
            rootfs: self.rootfs,
            auto_pause: self.auto_pause.unwrap_or_else(|| built_in("30m")),
            remote_root: self.remote_root.unwrap_or_default(),
            egress: self.egress.unwrap_or_default(),
            excludes: self.excludes.unwrap_or_default(),
            sync_excludes: self
                .sync_excludes
                .unwrap_or_else(|| vec![built_in(".git"), built_in("node_modules")]),
            allow_secrets: self.allow_secrets.unwrap_or_default(),
            allow_files: self.allow_files.unwrap_or_default(),
            provider: self.provider.unwrap_or_default(),
        }
    }

    /// The settings as a JSON object, in the documentation's order, only those that are set.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        Key::ALL.into_iter().filter_map(|key| Some((key.name().to_owned(), self.get(key)?))).collect()
    }

    /// The file's text.
    pub(crate) fn to_json(&self) -> String {
        format!("{:#}\n", Value::Object(self.to_map()))
    }

    /// The value of one setting, when it is set.
    pub(crate) fn get(&self, key: Key) -> Option<Value> {
        match key {
            Key::Agent => one(self.agent.as_ref()),
            Key::Shape => one(self.shape.as_ref()),
            Key::Rootfs => one(self.rootfs.as_ref()),
            Key::AutoPause => one(self.auto_pause.as_ref()),
            Key::RemoteRoot => one(self.remote_root.as_ref()),
            Key::Egress => many(self.egress.as_deref()),
            Key::Excludes => many(self.excludes.as_deref()),
            Key::SyncExcludes => many(self.sync_excludes.as_deref()),
            Key::AllowSecrets => many(self.allow_secrets.as_deref()),
            Key::AllowFiles => self.allow_files.as_ref().map(AllowFiles::value),
            Key::Provider => one(self.provider.as_ref()),
        }
    }

    /// Sets one from its value in a file.
    ///
    /// # Errors
    /// Why the value is not valid.
    pub(super) fn set(&mut self, key: Key, value: &Value) -> Result<(), String> {
        let at = |reason: String| format!("\"{}\": {reason}", key.name());
        match key {
            Key::Agent => self.agent = Some(parse_one(value).map_err(at)?),
            Key::Shape => self.shape = Some(parse_one(value).map_err(at)?),
            Key::Rootfs => self.rootfs = Some(parse_one(value).map_err(at)?),
            Key::AutoPause => self.auto_pause = Some(parse_one(value).map_err(at)?),
            Key::RemoteRoot => self.remote_root = Some(parse_one(value).map_err(at)?),
            Key::Egress => self.egress = Some(parse_many(value).map_err(at)?),
            Key::Excludes => self.excludes = Some(parse_many(value).map_err(at)?),
            Key::SyncExcludes => self.sync_excludes = Some(parse_many(value).map_err(at)?),
            Key::AllowSecrets => {
                let paths: Vec<String> = texts(value).map_err(at)?;
                let path = |text: &String| {
                    RelPath::new(text.as_bytes()).map_err(|bad| format!("\"{text}\" is {bad}"))
                };
                self.allow_secrets = Some(paths.iter().map(path).collect::<Result<_, _>>().map_err(at)?);
            }
            Key::AllowFiles => self.allow_files = Some(AllowFiles::parse(value).map_err(at)?),
            Key::Provider => self.provider = Some(parse_one(value).map_err(at)?),
        }
        Ok(())
    }
}

impl From<Config> for Settings {
    /// Every setting as a mentioned one; an image only when there is one.
    fn from(config: Config) -> Self {
        Self {
            agent: Some(config.agent),
            shape: Some(config.shape),
            rootfs: config.rootfs,
            auto_pause: Some(config.auto_pause),
            remote_root: Some(config.remote_root),
            egress: Some(config.egress),
            excludes: Some(config.excludes),
            sync_excludes: Some(config.sync_excludes),
            allow_secrets: Some(config.allow_secrets),
            allow_files: Some(config.allow_files),
            provider: Some(config.provider),
        }
    }
}

/// A default, which is valid by the test below.
fn built_in<T: FromStr<Err = Error>>(text: &str) -> T {
    text.parse().expect("the defaults are valid, which is tested")
}

fn one<T: fmt::Display>(value: Option<&T>) -> Option<Value> {
    value.map(|value| value.to_string().into())
}

fn many<T: fmt::Display>(values: Option<&[T]>) -> Option<Value> {
    values.map(|values| values.iter().map(T::to_string).collect())
}

fn parse_one<T: FromStr<Err = Error>>(value: &Value) -> Result<T, String> {
    let text = value.as_str().ok_or_else(|| format!("expected a text, found {}", what(value)))?;
    text.parse().map_err(|error: Error| error.message().to_owned())
}

fn parse_many<T: FromStr<Err = Error>>(value: &Value) -> Result<Vec<T>, String> {
    let parse = |text: &String| text.parse().map_err(|error: Error| error.message().to_owned());
    texts(value)?.iter().map(parse).collect()
}

fn texts(value: &Value) -> Result<Vec<String>, String> {
    let wrong = |found: &Value| format!("expected a list of texts, found {}", what(found));
    let list = value.as_array().ok_or_else(|| wrong(value))?;
    list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(item))).collect()
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
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
  "shape": "s-4vcpu-8gb",
  "rootfs": "devbox:1",
  "autoPause": "1h",
  "remoteRoot": "/work",
  "egress": [
    "npm.example.com",
    "github.com"
  ],
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
  "provider": "local"
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
            (Agent::ClaudeCode, "s-2vcpu-4gb", None, "30m")
        );
        assert_eq!(config.remote_root.as_str(), "/workspace");
        assert!(config.egress.is_empty() && config.excludes.is_empty() && config.allow_secrets.is_empty());
        assert_eq!(
            config.sync_excludes.iter().map(SyncExclude::as_str).collect::<Vec<_>>(),
            [".git", "node_modules"]
        );
        assert_eq!(config.provider, Provider::Createos);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        insta::assert_snapshot!(bad("{\n  \"agnet\": \"codex\"\n}"), @r#"2:9: unknown key "agnet"; did you mean "agent"?"#);
        insta::assert_snapshot!(bad("{\n  \"token\": \"x\"\n}"), @r#"2:9: unknown key "token""#);
        insta::assert_snapshot!(bad("{ \"agent\": \"bash\" }"), @r#"1:19: "agent": unknown agent "bash"; pick one of: claude-code, codex, opencode, pi, cursor, shell"#);
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
        insta::assert_snapshot!(bad("[]"), @"1:1: invalid type: sequence, expected an object of settings");
        insta::assert_snapshot!(bad(""), @"1:1: the file is empty; {} stands for no settings");
    }

    #[test]
    fn what_is_above_wins_and_what_is_below_stays() {
        let above = Settings { agent: Some(Agent::Pi), egress: Some(Vec::new()), ..Settings::default() };
        let merged = above.over(Settings::parse(FULL.as_bytes()).unwrap());
        assert_eq!((merged.agent, merged.egress.map(|rules| rules.len())), (Some(Agent::Pi), Some(0)));
        assert_eq!(merged.provider, Some(Provider::Local));
    }
}
