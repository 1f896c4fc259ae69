//! What can be kept of a `config.json` that is not valid, and which protection would be lost without the rest.

use super::names::nearest;
use super::settings::{Key, Settings};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Settings that keep something from leaving, in the order in which they are named. A repair never loosens them.
const PROTECTING: [Key; 5] = [Key::Egress, Key::Network, Key::Excludes, Key::SyncExcludes, Key::Provider];

/// Something in a file that cannot be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// The key as it was written; empty for a file that is not a JSON object.
    pub(crate) key: String,
    pub(crate) reason: String,
    /// The protecting settings that would be weaker without it.
    pub(crate) loosens: Vec<Key>,
}

impl Dropped {
    /// What happens to it, as a sentence.
    pub(crate) fn sentence(&self) -> String {
        match self.key.as_str() {
            "" => format!("config.json was not readable and is replaced: {}", self.reason),
            key if self.reason.starts_with(&format!("\"{key}\": ")) => {
                format!("config.json: dropped: {}", self.reason)
            }
            key => format!("config.json: \"{key}\" is dropped: {}", self.reason),
        }
    }
}

impl Settings {
    /// Takes over every valid setting, a list element by element, and says what else there was.
    pub(crate) fn salvage(text: &[u8]) -> (Self, Vec<Dropped>) {
        let mut settings = Self::default();
        let whole = |reason: String, loosens| vec![Dropped { key: String::new(), reason, loosens }];
        if text.trim_ascii().is_empty() {
            return (settings, whole("it is empty".into(), Vec::new()));
        }
        let pairs = match serde_json::from_slice::<Pairs>(text) {
            Ok(Pairs(pairs)) => pairs,
            Err(error) => return (settings, whole(error.to_string(), PROTECTING.into())),
        };
        let mut dropped = Vec::new();
        for (index, (name, value)) in pairs.iter().enumerate() {
            let mut drop = |reason: String, loosens: Vec<Key>| {
                dropped.push(Dropped { key: name.clone(), reason, loosens });
            };
            let key = match Key::find(name) {
                Ok(key) => key,
                Err(reason) => {
                    drop(reason, meant(name, value));
                    continue;
                }
            };
            let earlier = pairs[..index].iter().rev().find(|(other, _)| other == name);
            if earlier.is_some_and(|(_, other)| other != value) {
                drop("it is there twice, and the two differ".into(), protecting(key));
            }
            let Value::Array(items) = value else {
                if let Err(reason) = settings.set(key, value) {
                    drop(reason, if value.is_null() { Vec::new() } else { protecting(key) });
                }
                continue;
            };
            let is_valid =
                |item: &&Value| Self::default().set(key, &Value::Array(vec![(*item).clone()])).is_ok();
            let valid: Vec<Value> = items.iter().filter(is_valid).cloned().collect();
            // A shorter allow-list lets less pass, unless nothing is left of it: then everything passes.
            let is_tighter = key == Key::Egress && !valid.is_empty();
            for item in items.iter().filter(|item| !is_valid(item)) {
                let reason = Self::default().set(key, &Value::Array(vec![item.clone()])).err();
                drop(reason.unwrap_or_default(), if is_tighter { Vec::new() } else { protecting(key) });
            }
            if valid.len() == items.len() || !valid.is_empty() {
                let _valid_each = settings.set(key, &Value::Array(valid));
            }
        }
        (settings, dropped)
    }
}

fn protecting(key: Key) -> Vec<Key> {
    PROTECTING.into_iter().filter(|known| *known == key).collect()
}

/// What an unknown key may have been meant to protect, by its name. Where the name tells nothing and the value is a
/// list, it may be any of the lists.
fn meant(name: &str, value: &Value) -> Vec<Key> {
    if value.is_null() {
        return Vec::new();
    }
    if let Some(near) = nearest(name, &Key::ALL.map(Key::name)) {
        return PROTECTING.into_iter().filter(|key| key.name() == near).collect();
    }
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["egress", "host", "network", "domain"]) {
        return vec![Key::Egress];
    }
    if has(&["exclud", "ignor", "deny", "skip"]) {
        return vec![Key::Excludes, Key::SyncExcludes];
    }
    match value {
        Value::Array(_) | Value::Object(_) => vec![Key::Egress, Key::Excludes, Key::SyncExcludes],
        _ => Vec::new(),
    }
}

/// The members of an object as they are written, repeated ones included.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept, and what would be loosened.
    fn repaired(text: &str) -> (String, Vec<&'static str>) {
        let (settings, dropped) = Settings::salvage(text.as_bytes());
        let mut loosens: Vec<Key> = dropped.into_iter().flat_map(|dropped| dropped.loosens).collect();
        loosens.sort();
        loosens.dedup();
        (Value::Object(settings.to_map()).to_string(), loosens.into_iter().map(Key::name).collect())
    }

    #[test]
    fn what_is_valid_is_kept_and_what_would_be_loosened_is_named() {
        let all = vec!["egress", "network", "excludes", "syncExcludes", "provider"];
        for (text, kept, loosens) in [
            (r#"{"agent":"codex","colour":"red","shape":7}"#, r#"{"agent":"codex"}"#, vec![]),
            ("not json", "{}", all.clone()),
            (r#"{"egress":["a.com"],}"#, "{}", all.clone()),
            ("[]", "{}", all),
            (" \n", "{}", vec![]),
            (r#"{"egresss":["a.com"]}"#, "{}", vec!["egress"]),
            (r#"{"network":"nun"}"#, "{}", vec!["network"]),
            (r#"{"networks":["a.com"]}"#, "{}", vec!["network"]),
            (r#"{"Egress":"a.com"}"#, "{}", vec!["egress"]),
            (r#"{"allowedHosts":["a.com"]}"#, "{}", vec!["egress"]),
            (r#"{"exclude":["a"]}"#, "{}", vec!["excludes"]),
            (r#"{"uploadIgnore":["a"]}"#, "{}", vec!["excludes", "syncExcludes"]),
            (r#"{"private":["a"]}"#, "{}", vec!["egress", "excludes", "syncExcludes"]),
            (r#"{"allowSecret":["a"]}"#, "{}", vec![]),
            (r#"{"agnet":["a"]}"#, "{}", vec![]),
            (r#"{"egress":["a.com","https://b.com"]}"#, r#"{"egress":["a.com"]}"#, vec![]),
            (r#"{"egress":["https://b.com"]}"#, "{}", vec!["egress"]),
            (r#"{"egress":"a.com"}"#, "{}", vec!["egress"]),
            (r#"{"egress":null,"excludes":null}"#, "{}", vec![]),
            (r#"{"egress":[]}"#, r#"{"egress":[]}"#, vec![]),
            (r#"{"egress":["a.com"],"egress":[]}"#, r#"{"egress":[]}"#, vec!["egress"]),
            (r#"{"agent":"pi","agent":"codex"}"#, r#"{"agent":"codex"}"#, vec![]),
            (r#"{"excludes":["private/","a?b",7]}"#, r#"{"excludes":["private/"]}"#, vec!["excludes"]),
            (r#"{"excludes":["private/","docs/**"]}"#, r#"{"excludes":["private/","docs/**"]}"#, vec![]),
            (r#"{"syncExcludes":[".git","!x"]}"#, r#"{"syncExcludes":[".git"]}"#, vec!["syncExcludes"]),
            (r#"{"allowSecrets":["a","../b"]}"#, r#"{"allowSecrets":["a"]}"#, vec![]),
            (r#"{"provider":"lokal"}"#, "{}", vec!["provider"]),
        ] {
            assert_eq!(repaired(text), (kept.into(), loosens), "{text}");
        }
    }

    #[test]
    fn what_is_dropped_is_said_once() {
        let said = |text: &str| Settings::salvage(text.as_bytes()).1[0].sentence();
        assert_eq!(
            said(r#"{"syncExcludes":["!x"]}"#),
            "config.json: dropped: \"syncExcludes\": sync exclude \"!x\" would take other excludes back"
        );
        assert_eq!(said(r#"{"colour":1}"#), "config.json: \"colour\" is dropped: unknown key \"colour\"");
    }
}
