//! `config check` (docs/measured/herdr.md 2.2): a real TOML 1.0 parse, and the diagnostics that the test scripts.

use crate::Herdr;
use crate::reply::{Reply, usage};

impl Herdr {
    pub(crate) fn config(&self, words: &[&str]) -> Option<Reply> {
        match words {
            ["check"] => Some(self.config_check()),
            ["check", ..] => Some(usage("usage: herdr config check")),
            ["reset-keys"] => Some(self.reset_keys()),
            _ => None,
        }
    }

    fn config_check(&self) -> Reply {
        let diagnostics = self.diagnostics();
        if diagnostics.is_empty() {
            return Reply::text("config: ok\n");
        }
        Reply {
            out: format!("config: issues found\n{}\n", diagnostics.join("\n")),
            err: String::new(),
            code: 1,
        }
    }

    /// What Herdr has to say about the file.
    pub(crate) fn diagnostics(&self) -> Vec<String> {
        let bytes = match std::fs::read(&self.places.config_file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => return vec![format!("config read error: {error}; using defaults")],
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return vec!["config read error: stream did not contain valid UTF-8; using defaults".into()];
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if let Err(error) = text.parse::<toml_edit::ImDocument<String>>() {
            return vec![format!("config parse error: {error}\n; using defaults")];
        }
        let applies = |when: &Option<String>| when.as_ref().is_none_or(|needle| text.contains(needle));
        let scripted = self.control.diagnostics.iter().filter(|diagnostic| applies(&diagnostic.when));
        scripted.map(|diagnostic| diagnostic.text.clone()).collect()
    }
}
