//! Settings that are valid each, and do not go together.

use super::load::BadConfig;
use super::{Config, DetachKey, EgressRule, Key, Network, Settings};
use crate::command;
use crate::error::{Error, Result};
use crate::fs;
use std::path::Path;

/// Two settings of which one undoes the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The one that is to be changed.
    key: Key,
    /// Its value, or the element of its list, as it is written.
    value: String,
    reason: String,
    hints: Vec<String>,
}

impl Config {
    /// What does not go together in these settings.
    pub(crate) fn conflict(&self) -> Option<Conflict> {
        let local = || command::setup().with("--provider", "local").flag("--force");
        let rule = |is: fn(&EgressRule) -> bool| self.egress.iter().find(|rule| is(rule));
        let abilities = self.provider.has();
        if !abilities.network && self.network != Network::Own {
            let reason =
                format!("\"{}\" is for boxes on this machine, and these are made on CreateOS", self.network);
            let hints =
                vec!["take \"network\" out".into(), format!("or make boxes on this machine: {}", local())];
            return Some(Conflict { key: Key::Network, value: self.network.to_string(), reason, hints });
        }
        if !abilities.network
            && let Some(rule) = rule(EgressRule::is_localhost)
        {
            let reason = format!("\"{rule}\" means this machine, which no box on CreateOS can reach");
            let hints = vec![
                format!("take \"{rule}\" out of egress"),
                format!("or make boxes on this machine: {}", local()),
            ];
            return Some(Conflict { key: Key::Egress, value: rule.to_string(), reason, hints });
        }
        if !abilities.screen && self.detach_key != DetachKey::default() {
            let reason = format!(
                "\"{}\" is for boxes on this machine; createos has Ctrl-] for those on CreateOS",
                self.detach_key
            );
            let hints =
                vec!["take \"detachKey\" out".into(), format!("or make boxes on this machine: {}", local())];
            return Some(Conflict { key: Key::DetachKey, value: self.detach_key.to_string(), reason, hints });
        }
        if let Some(rule) = rule(EgressRule::is_bare_localhost) {
            let reason = format!("\"{rule}\" opens nothing: a rule for this machine has a port");
            let hints =
                vec!["write localhost:5432 for port 5432, with \"*\" before it to keep the internet".into()];
            return Some(Conflict { key: Key::Egress, value: rule.to_string(), reason, hints });
        }
        if self.network != Network::Own && !self.egress.is_empty() {
            let reason = format!("with \"{}\" there is nothing that could keep to egress", self.network);
            let hints = vec!["take \"network\" or the rules of egress out".into()];
            return Some(Conflict { key: Key::Network, value: self.network.to_string(), reason, hints });
        }
        None
    }

    /// These settings, for a box that is to be made; they are of this file, and maybe of the project's.
    ///
    /// # Errors
    /// Two of them do not go together; the message has file, line and column.
    pub(crate) fn fitting(self, path: &Path) -> Result<Self> {
        let Some(conflict) = self.conflict() else { return Ok(self) };
        let text = fs::read_if_there(path)?.unwrap_or_default();
        match String::from_utf8_lossy(&text).contains(&format!("\"{}\"", conflict.key.name())) {
            true => Err(conflict.in_file(path, &text)),
            false => Err(conflict.wanted()),
        }
    }
}

impl Settings {
    /// What does not go together, once the defaults stand where these do not say.
    pub(crate) fn conflict(&self) -> Option<Conflict> {
        self.clone().resolve().conflict()
    }
}

impl Conflict {
    /// Where it stands in the text of a file, and what is wrong.
    pub(crate) fn place(&self, text: &[u8]) -> BadConfig {
        let text = String::from_utf8_lossy(text);
        let quoted = |word: &str| serde_json::Value::from(word).to_string();
        let key = text.find(&quoted(self.key.name()));
        // What is written with escapes is found by its key.
        let value = key.and_then(|at| Some(at + text[at..].find(&quoted(&self.value))?));
        let before = &text[..value.or(key).unwrap_or_default()];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        BadConfig { line, column, reason: self.to_string(), protects: true }
    }

    /// The error of settings that stand in a file.
    pub(crate) fn in_file(&self, path: &Path, text: &[u8]) -> Error {
        let BadConfig { line, column, reason, .. } = self.place(text);
        self.hinted(Error::usage(format!("{}:{line}:{column}: {reason}", path.display())))
    }

    /// The error of settings that are not in a file yet.
    pub(crate) fn wanted(&self) -> Error {
        self.hinted(Error::usage(self.to_string()))
    }

    /// What to do about it.
    pub(crate) fn fix(&self) -> String {
        self.hints.join("\n")
    }

    fn hinted(&self, error: Error) -> Error {
        self.hints.iter().fold(error, |error, hint| error.help(hint.clone()))
    }
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\": {}", self.key.name(), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        let conflict = Settings::parse(text.as_bytes()).unwrap().conflict()?;
        let place = conflict.place(text.as_bytes());
        Some(format!("{}:{}: {}", place.line, place.column, place.reason))
    }

    #[test]
    fn what_undoes_another_setting_is_said_with_its_place() {
        insta::assert_snapshot!(said("{\n  \"egress\": [\"*\",\n    \"localhost:5432\"]\n}").unwrap(), @r#"3:5: "egress": "localhost:5432" means this machine, which no box on CreateOS can reach"#);
        insta::assert_snapshot!(said("{ \"egress\": [\"*.LOCALHOST\"] }").unwrap(), @r#"1:14: "egress": "*.LOCALHOST" means this machine, which no box on CreateOS can reach"#);
        insta::assert_snapshot!(said("{ \"egress\": [\"localhost\"], \"provider\": \"local\" }").unwrap(), @r#"1:14: "egress": "localhost" opens nothing: a rule for this machine has a port"#);
        assert!(
            said("{ \"detachKey\": \"ctrl+q\" }")
                .unwrap()
                .starts_with("1:16: \"detachKey\": \"ctrl+q\" is for")
        );
        insta::assert_snapshot!(said("{ \"network\": \"host\" }").unwrap(), @r#"1:14: "network": "host" is for boxes on this machine, and these are made on CreateOS"#);
        insta::assert_snapshot!(said("{ \"egress\": [\"a.com\"], \"network\": \"none\", \"provider\": \"local\" }").unwrap(), @r#"1:35: "network": with "none" there is nothing that could keep to egress"#);
    }

    #[test]
    fn what_goes_together_is_let_be() {
        for text in [
            "{}",
            "{ \"egress\": [\"*\", \"127.0.0.1:80\", \"notlocalhost\"] }",
            "{ \"egress\": [\"*\", \"localhost:5432\"], \"provider\": \"local\" }",
            "{ \"network\": \"host\", \"provider\": \"local\" }",
            "{ \"network\": \"own\" }",
            "{ \"detachKey\": \"ctrl+]\" }",
            "{ \"detachKey\": \"ctrl+q\", \"provider\": \"local\" }",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_with_escapes_is_found_by_its_key() {
        let text = "{ \"egress\": [\"local\\u0068ost:1\"] }";
        assert!(said(text).unwrap().starts_with("1:3: "), "{:?}", said(text));
    }
}
