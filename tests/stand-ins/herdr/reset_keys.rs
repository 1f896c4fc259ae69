//! `config reset-keys`: removes every key setting line by line, the user's own too (docs/measured/herdr.md 2.3).

use crate::Herdr;
use crate::reply::Reply;
use std::time::{SystemTime, UNIX_EPOCH};

impl Herdr {
    pub(crate) fn reset_keys(&self) -> Reply {
        let path = &self.places.config_file;
        let shown = path.display();
        let Ok(text) = std::fs::read_to_string(path) else {
            return Reply::text(format!(
                "No config file found at {shown}. Built-in v2 keybindings already apply.\n"
            ));
        };
        if let Err(error) = text.parse::<toml_edit::ImDocument<String>>() {
            return Reply::failed(format!("config file at {shown} is invalid TOML: {error}\n"));
        }
        let has_keys =
            text.parse::<toml_edit::ImDocument<String>>().is_ok_and(|doc| doc.contains_key("keys"));
        if !has_keys {
            return Reply::text(format!(
                "No [keys] config found in {shown}. Built-in v2 keybindings already apply.\n"
            ));
        }
        let kept = without_keys(&text);
        if kept.lines().count() == text.lines().count() {
            return Reply::failed(format!(
                "could not safely remove keybinding config from {shown} without rewriting comments; edit it by hand\n"
            ));
        }
        if let Err(error) = kept.parse::<toml_edit::ImDocument<String>>() {
            return Reply::failed(format!(
                "removing keybinding config would make {shown} invalid TOML: {error}; leaving config unchanged\n"
            ));
        }
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let backup = format!("{shown}.bak-keybind-v2-{seconds}");
        if let Err(error) = std::fs::copy(path, &backup).and_then(|_bytes| std::fs::write(path, kept)) {
            return Reply::debug(&error.to_string());
        }
        Reply::text(format!(
            "Created backup: {backup}\n\
             Removed [keys], [keys.indexed], and [[keys.command]] from {shown}.\n\
             Built-in v2 keybindings will apply after Herdr restarts or reloads config.\n\
             If a Herdr server is running, run `herdr server reload-config` to apply this now.\n\
             To restore: cp {backup} {shown}\n"
        ))
    }
}

fn without_keys(text: &str) -> String {
    let mut kept = String::new();
    let mut in_keys = false;
    let mut before_tables = true;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(name) = header(trimmed) {
            before_tables = false;
            in_keys = name == "keys" || name.starts_with("keys.");
        }
        let is_key_line = before_tables
            && (line.starts_with("keys.") || line.starts_with("keys =") || line.starts_with("keys="));
        if !in_keys && !is_key_line {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The name in a header line that is nothing but a header; Herdr does not see one with a comment behind it.
fn header(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    inner.or_else(|| line.strip_prefix('[')?.strip_suffix(']')).map(str::trim)
}
