//! The settings of the program `cos` (`cos.json`): four of those that config.json has, read as strictly.

use super::names::nearest;
use super::settings::{Key, Settings};
use super::{AllowFiles, ProviderKind};
use crate::error::{Error, Result};
use crate::fs;
use crate::worktree::{Exclude, RelPath, Rules};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::path::Path;

/// The settings that there are.
const KEYS: [Key; 4] = [Key::Provider, Key::Excludes, Key::AllowFiles, Key::AllowSecrets];

/// What `cos.json` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CosConfig {
    /// Who makes boxes where nothing else says it.
    pub(crate) provider: Option<ProviderKind>,
    excludes: Vec<Exclude>,
    allow_files: AllowFiles,
    allow_secrets: Vec<RelPath>,
}

impl CosConfig {
    /// Reads the file; it need not be there.
    ///
    /// # Errors
    /// It cannot be read, or holds something that is not a setting; the message has file, line and column.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let Some(bytes) = fs::read_if_there(path)? else { return Ok(Self::default()) };
        let Four(read) = serde_json::from_slice(&bytes).map_err(|error| {
            let full = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let reason = match bytes.trim_ascii() {
                b"" => "the file is empty; {} stands for no settings",
                _ => full.strip_suffix(&place).unwrap_or(&full),
            };
            let (line, column) = (error.line().max(1), error.column().max(1));
            let names = KEYS.map(Key::name).join(", ");
            Error::usage(format!("{}:{line}:{column}: {reason}", path.display()))
                .help(format!("correct the file; it can have {names}"))
        })?;
        Ok(Self {
            provider: read.provider,
            excludes: read.excludes.unwrap_or_default(),
            allow_files: read.allow_files.unwrap_or_default(),
            allow_secrets: read.allow_secrets.unwrap_or_default(),
        })
    }

    /// What decides which files leave of the folder with this path, which has no links on its way.
    pub(crate) fn rules(&self, root: &Path) -> Rules {
        Rules {
            excludes: self.excludes.clone(),
            allow_secrets: self.allow_secrets.clone(),
            allow_files: self.allow_files.for_worktree(root),
            trusted: None,
        }
    }
}

struct Four(Settings);

impl<'de> Deserialize<'de> for Four {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Four;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Four, A::Error> {
                let mut settings = Settings::default();
                while let Some(name) = map.next_key::<String>()? {
                    let Some(key) = KEYS.into_iter().find(|key| key.name() == name) else {
                        let near = nearest(&name, &KEYS.map(Key::name));
                        let hint =
                            near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
                        return Err(A::Error::custom(format!("unknown key \"{name}\"{hint}")));
                    };
                    if settings.get(key).is_some() {
                        return Err(A::Error::custom(format!("\"{name}\" is there twice")));
                    }
                    let value = map.next_value::<Value>()?;
                    settings.set(key, &value).map_err(A::Error::custom)?;
                }
                Ok(Four(settings))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_settings_are_read_and_others_are_wrong_with_their_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cos.json");
        assert_eq!(CosConfig::load(&path).unwrap(), CosConfig::default());
        let load = |text: &str| {
            std::fs::write(&path, text).unwrap();
            CosConfig::load(&path)
        };
        let read =
            load(r#"{"provider":"local","excludes":["a/"],"allowSecrets":["x"],"allowFiles":{"*":["y/z"]}}"#);
        let read = read.unwrap();
        assert_eq!(read.provider, Some(ProviderKind::Local));
        let rules = read.rules(Path::new("/w"));
        assert_eq!((rules.excludes.len(), rules.allow_secrets.len(), rules.allow_files.len()), (1, 1, 1));
        for (text, told) in [
            ("{\n  \"shape\": \"s-1vcpu-1gb\"\n}", ":2:9: unknown key \"shape\""),
            ("{\"providr\":\"local\"}", "did you mean \"provider\"?"),
            ("{\"provider\":\"x\"}", "unknown provider \"x\""),
            ("{\"provider\":\"local\",\"provider\":\"local\"}", "is there twice"),
            ("", "the file is empty"),
        ] {
            let error = load(text).unwrap_err();
            assert!(error.message().contains(told), "{error}");
            assert_eq!(error.exit().code(), 2);
        }
    }
}
