//! `plugins.json`: link, unlink, uninstall, enable, list, config-dir (docs/measured/herdr.md 4.1 to 4.3).

use crate::Herdr;
use crate::manifest::{Bad, Manifest};
use crate::reply::{Reply, usage};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const ID: &str = "cli:plugin";

impl Herdr {
    /// Every record; a missing file holds none, a corrupt one is an error.
    pub(crate) fn registry(&self) -> Result<Vec<Value>, String> {
        match std::fs::read(self.places.registry()) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Changes the registry under its lock, which stays behind as an empty file.
    pub(crate) fn change_registry(&self, change: impl FnOnce(&mut Vec<Value>)) -> Result<(), String> {
        let told = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&self.places.config_dir).map_err(told)?;
        let lock = std::fs::File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.places.registry_lock())
            .map_err(told)?;
        lock.lock().map_err(told)?;
        let mut records = self.registry()?;
        change(&mut records);
        let text = serde_json::to_string_pretty(&records).map_err(|error| error.to_string())?;
        let staged = self.places.config_dir.join(".plugins.json.tmp");
        std::fs::write(&staged, text).map_err(told)?;
        std::fs::rename(&staged, self.places.registry()).map_err(told)
    }

    /// Puts `record` in the place of the one with the same id, or at the end.
    pub(crate) fn register(&self, id: &str, record: Value) -> Result<(), String> {
        self.change_registry(|records| match records.iter_mut().find(|old| old["plugin_id"] == id) {
            Some(old) => *old = record,
            None => records.push(record),
        })?;
        self.places.make_plugin_folders(id).map_err(|error| error.to_string())
    }

    /// An error as a server reports it when one runs, else as it leaves `main`.
    pub(crate) fn refuse(&self, bad: &Bad) -> Reply {
        if self.server_runs() { Reply::refused(ID, bad.code, &bad.text) } else { Reply::debug(&bad.text) }
    }

    pub(crate) fn link(&self, words: &[&str]) -> Reply {
        // The path comes first; what follows is an option.
        let Some((path, options)) = words.split_first() else {
            return usage("usage: herdr plugin link <path> [--disabled]");
        };
        let mut enabled = true;
        for option in options {
            match *option {
                "--disabled" => enabled = false,
                "--enabled" => enabled = true,
                other => return usage(&format!("unknown option: {other}")),
            }
        }
        let path =
            path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |rest| self.places.home.join(rest));
        let manifest = match Manifest::load(&path, &self.control.version) {
            Ok(manifest) => manifest,
            Err(bad) => return self.refuse(&bad),
        };
        let record = manifest.record(enabled, json!({ "kind": "local" }));
        match self.register(&manifest.id, record.clone()) {
            Ok(()) => Reply::result(ID, json!({ "type": "plugin_linked", "plugin": record })),
            Err(text) => self.refuse(&Bad { code: "plugin_registry_save_failed", text }),
        }
    }

    pub(crate) fn uninstall(&self, name: &str) -> Reply {
        let records = match self.registry() {
            Ok(records) => records,
            Err(text) => return Reply::debug(&text),
        };
        let Some(record) =
            records.iter().find(|record| record["plugin_id"] == name || installed_from(record) == name)
        else {
            return Reply::failed(format!("plugin not installed: {name}\n"));
        };
        let id = record["plugin_id"].as_str().expect("a record has an id").to_owned();
        if let Some(checkout) = record["source"]["managed_path"].as_str()
            && let Err(error) = std::fs::remove_dir_all(Path::new(checkout))
        {
            return Reply::debug(&error.to_string());
        }
        match self.change_registry(|records| records.retain(|record| record["plugin_id"] != id.as_str())) {
            Ok(()) => Reply::text(format!("Uninstalled {id}.\n")),
            Err(text) => Reply::debug(&text),
        }
    }

    pub(crate) fn unlink(&self, id: &str) -> Reply {
        if !self.server_runs() {
            return self.no_server(ID);
        }
        let mut removed = false;
        let changed = self.change_registry(|records| {
            let before = records.len();
            records.retain(|record| record["plugin_id"] != id);
            removed = records.len() < before;
        });
        match changed {
            Ok(()) => {
                Reply::result(ID, json!({ "type": "plugin_unlinked", "plugin_id": id, "removed": removed }))
            }
            Err(text) => Reply::refused(ID, "plugin_registry_save_failed", &text),
        }
    }

    pub(crate) fn enable(&self, id: &str, enabled: bool) -> Reply {
        if !self.server_runs() {
            return self.no_server(ID);
        }
        let mut changed = None;
        let saved = self.change_registry(|records| {
            if let Some(record) = records.iter_mut().find(|record| record["plugin_id"] == id) {
                record["enabled"] = enabled.into();
                changed = Some(record.clone());
            }
        });
        let kind = if enabled { "plugin_enabled" } else { "plugin_disabled" };
        match (saved, changed) {
            (Ok(()), Some(record)) => Reply::result(ID, json!({ "type": kind, "plugin": record })),
            (Ok(()), None) => Reply::refused(ID, "plugin_not_found", &format!("plugin {id} not found")),
            (Err(text), _) => Reply::refused(ID, "plugin_registry_save_failed", &text),
        }
    }

    pub(crate) fn list(&self, words: &[&str]) -> Reply {
        let mut json = false;
        let mut only = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match (*word, words.as_slice()) {
                ("--json", _) => json = true,
                ("--plugin", [id, ..]) => {
                    only = Some(*id);
                    words.next();
                }
                (word, _) => return usage(&format!("unknown option: {word}")),
            }
        }
        // Listing takes the lock too, which makes the folder and the lock file.
        let lock = self.places.registry_lock();
        let listed = std::fs::create_dir_all(&self.places.config_dir)
            .and_then(|()| std::fs::File::options().append(true).create(true).open(lock))
            .map_err(|error| error.to_string())
            .and_then(|_lock| self.registry());
        let mut records = match listed {
            Err(text) if self.server_runs() => {
                return Reply::refused(ID, "plugin_registry_load_failed", &text);
            }
            listed => listed.unwrap_or_default(),
        };
        records.retain(|record| only.is_none_or(|id| record["plugin_id"] == id));
        if json {
            return Reply::result(ID, json!({ "type": "plugin_list", "plugins": records }));
        }
        if records.is_empty() {
            return Reply::text("No plugins installed.\n");
        }
        let plural = if records.len() == 1 { "" } else { "s" };
        let mut text = format!("{} plugin{plural} installed:\n", records.len());
        for record in &records {
            let id = record["plugin_id"].as_str().unwrap_or_default();
            let state = if record["enabled"] == true { "enabled" } else { "disabled" };
            let source = match record["source"]["kind"].as_str() {
                Some("github") => {
                    let at =
                        record["source"].get("requested_ref").or(record["source"].get("resolved_commit"));
                    format!(
                        "github:{}@{}",
                        installed_from(record),
                        at.and_then(Value::as_str).unwrap_or_default()
                    )
                }
                _ => format!("local:{}", record["plugin_root"].as_str().unwrap_or_default()),
            };
            let name = record["name"].as_str().unwrap_or_default();
            text.push_str(&format!("- {id} ({name}) {state} [{source}]\n"));
            text.push_str(&format!("  config: {}\n", self.places.plugin_config(id).display()));
        }
        Reply::text(text)
    }

    pub(crate) fn config_dir(&self, id: &str) -> Reply {
        match self.places.make_plugin_folders(id) {
            Ok(()) => Reply::text(format!("{}\n", self.places.plugin_config(id).display())),
            Err(error) => Reply::debug(&error.to_string()),
        }
    }
}

/// `owner/repo[/subdir]` of an installed plugin; empty for a linked one.
fn installed_from(record: &Value) -> String {
    let part = |key: &str| record["source"][key].as_str();
    [part("owner"), part("repo"), part("subdir")].into_iter().flatten().collect::<Vec<_>>().join("/")
}
