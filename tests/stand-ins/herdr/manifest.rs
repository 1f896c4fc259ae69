//! `herdr-plugin.toml` and its rules (docs/measured/herdr.md 5).

use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A manifest that follows the rules.
pub(crate) struct Manifest {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    pub(crate) root: PathBuf,
    table: Map<String, Value>,
}

/// Why it does not: the API's code and the text.
pub(crate) struct Bad {
    pub(crate) code: &'static str,
    pub(crate) text: String,
}

const EVENTS: [&str; 22] = [
    "workspace.created",
    "workspace.updated",
    "workspace.closed",
    "workspace.renamed",
    "workspace.moved",
    "workspace.reordered",
    "workspace.focused",
    "worktree.created",
    "worktree.opened",
    "worktree.removed",
    "tab.created",
    "tab.closed",
    "tab.renamed",
    "tab.moved",
    "tab.focused",
    "pane.created",
    "pane.closed",
    "pane.focused",
    "pane.moved",
    "pane.exited",
    "pane.agent_detected",
    "pane.agent_status_changed",
];

fn bad<T>(code: &'static str, text: impl Into<String>) -> Result<T, Bad> {
    Err(Bad { code, text: text.into() })
}

impl Manifest {
    /// Reads the manifest at `path`: a folder that holds one, or the file itself.
    pub(crate) fn load(path: &Path, herdr: &str) -> Result<Self, Bad> {
        let missing =
            |error: std::io::Error| Bad { code: "plugin_manifest_not_found", text: error.to_string() };
        let real = path.canonicalize().map_err(missing)?;
        let path = if real.is_dir() { real.join("herdr-plugin.toml") } else { real };
        let text = std::fs::read_to_string(&path).map_err(missing)?;
        let table: Map<String, Value> = match toml_edit::de::from_str(&text) {
            Ok(table) => table,
            Err(error) => return bad("plugin_manifest_parse_failed", error.to_string()),
        };
        let manifest = Self {
            id: table.get("id").and_then(Value::as_str).unwrap_or_default().trim().into(),
            root: path.parent().expect("a file has a folder").into(),
            path,
            table,
        };
        manifest.check(herdr)?;
        Ok(manifest)
    }

    fn check(&self, herdr: &str) -> Result<(), Bad> {
        let plugin_id = |c: char| c.is_ascii_alphanumeric() || ":._-".contains(c);
        if !(1..=120).contains(&self.id.len()) || !self.id.chars().all(plugin_id) {
            return bad("invalid_plugin_id", "invalid plugin id");
        }
        for key in ["name", "version"] {
            if self.text(&self.table, key).is_none_or(|text| text.trim().is_empty()) {
                return bad("plugin_manifest_parse_failed", format!("plugin {key} is required"));
            }
        }
        let Some(min) = self.text(&self.table, "min_herdr_version") else {
            return bad("invalid_plugin_min_herdr_version", "plugin min_herdr_version is required");
        };
        let Some(needed) = triple(min.trim().trim_start_matches('v')) else {
            let text = "plugin min_herdr_version must be a semantic version like 0.8.2";
            return bad("invalid_plugin_min_herdr_version", text);
        };
        if triple(herdr.split('-').next().unwrap_or_default()).is_some_and(|running| running < needed) {
            let text = format!("plugin requires Herdr {min} or newer; current Herdr is {herdr}");
            return bad("plugin_requires_newer_herdr", text);
        }
        check_platforms(self.table.get("platforms"))?;
        for kind in ["build", "startup", "actions", "events", "panes", "link_handlers"] {
            self.check_items(kind)?;
        }
        Ok(())
    }

    fn check_items(&self, kind: &str) -> Result<(), Bad> {
        let Some(items) = self.table.get(kind) else { return Ok(()) };
        let Some(items) = items.as_array() else {
            return bad(
                "plugin_manifest_parse_failed",
                format!("invalid type: map, expected a sequence in `{kind}`"),
            );
        };
        let mut ids = Vec::new();
        for item in items {
            let Some(item) = item.as_object() else {
                return bad("plugin_manifest_parse_failed", format!("expected a table in `{kind}`"));
            };
            check_platforms(item.get("platforms"))?;
            if kind != "link_handlers" && !is_argv(item.get("command")) {
                return bad(
                    "invalid_plugin_command",
                    format!("{kind}: command must be a non-empty array of strings"),
                );
            }
            if kind == "events" && !self.text(item, "on").is_some_and(|on| EVENTS.contains(&on)) {
                return bad("plugin_manifest_parse_failed", "unknown event");
            }
            if kind == "panes" {
                let placement = self.text(item, "placement").unwrap_or("overlay");
                if !["overlay", "popup", "split", "tab", "zoomed"].contains(&placement) {
                    return bad("plugin_manifest_parse_failed", format!("unknown placement `{placement}`"));
                }
                let sized = item.contains_key("width") || item.contains_key("height");
                if sized && placement != "popup" {
                    return bad("invalid_plugin_pane", "width and height are for popups only");
                }
            }
            if ["actions", "panes", "link_handlers"].contains(&kind) {
                let id = self.text(item, "id").unwrap_or_default();
                let local = |c: char| c.is_ascii_alphanumeric() || ":_-".contains(c);
                if id.is_empty() || !id.chars().all(local) || ids.contains(&id) {
                    return bad("invalid_plugin_action_id", format!("invalid id \"{id}\" in {kind}"));
                }
                if self.text(item, "title").is_none_or(str::is_empty) {
                    return bad("plugin_manifest_parse_failed", format!("{kind}: missing field `title`"));
                }
                ids.push(id);
            }
        }
        Ok(())
    }

    fn text<'a>(&self, table: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
        table.get(key).and_then(Value::as_str)
    }

    /// The build commands.
    pub(crate) fn builds(&self) -> Vec<Vec<String>> {
        let items = self.table.get("build").and_then(Value::as_array).cloned().unwrap_or_default();
        items
            .iter()
            .filter_map(|item| item.get("command")?.as_array())
            .map(|argv| argv.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect())
            .collect()
    }

    /// The record for the registry.
    pub(crate) fn record(&self, enabled: bool, source: Value) -> Value {
        let mut record = Map::new();
        record.insert("plugin_id".into(), self.id.clone().into());
        for key in ["name", "version", "min_herdr_version", "description"] {
            if let Some(value) = self.table.get(key) {
                record.insert(key.into(), value.clone());
            }
        }
        record.insert("manifest_path".into(), self.path.display().to_string().into());
        record.insert("plugin_root".into(), self.root.display().to_string().into());
        record.insert("enabled".into(), enabled.into());
        for key in ["platforms", "build", "startup", "actions", "events", "panes", "link_handlers"] {
            if let Some(value) = self.table.get(key) {
                record.insert(key.into(), value.clone());
            }
        }
        if !self.table.contains_key("platforms") {
            let warning = "manifest does not declare platforms; platform support unknown";
            record.insert("warnings".into(), json!([warning]));
        }
        record.insert("source".into(), source);
        Value::Object(record)
    }
}

fn check_platforms(value: Option<&Value>) -> Result<(), Bad> {
    let Some(value) = value else { return Ok(()) };
    let known = |item: &Value| ["linux", "macos", "windows"].iter().any(|name| item == name);
    match value.as_array() {
        Some(items) if !items.is_empty() && items.iter().all(known) => Ok(()),
        _ => bad("plugin_manifest_parse_failed", "invalid platforms"),
    }
}

fn is_argv(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(|words| {
        !words.is_empty() && words.iter().all(|word| word.as_str().is_some_and(|word| !word.is_empty()))
    })
}

fn triple(text: &str) -> Option<[u64; 3]> {
    let numbers: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
    numbers?.try_into().ok()
}
