//! Actions, hooks and plugin panes, with the environment of docs/measured/herdr.md 6.

use super::Server;
use super::panes::{Spec, option, options};
use super::world::Log;
use crate::manifest::Manifest;
use crate::reply::Reply;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// Output that is kept of each stream.
const KEPT: usize = 65_536;
/// Commands at once.
const SLOTS: usize = 32;

/// An enabled plugin with its manifest as it is now.
struct Plugin {
    id: String,
    root: PathBuf,
    record: Value,
}

impl Server {
    fn plugins(&self) -> Vec<Plugin> {
        let records = self.herdr.registry().unwrap_or_default();
        records
            .iter()
            .filter(|record| record["enabled"] == true)
            .filter_map(|record| {
                // The manifest is read again each time (docs/measured/herdr.md 4.1).
                let path = PathBuf::from(record["manifest_path"].as_str()?);
                let manifest = Manifest::load(&path, &self.herdr.control.version).ok()?;
                let root = manifest.root.clone();
                let record = manifest.record(true, json!({}));
                Some(Plugin { id: manifest.id, root, record })
            })
            .collect()
    }

    /// The context: what has the focus, and who asks (docs/measured/herdr.md 6.2).
    fn context(&self, source: &str, correlation: &str) -> Value {
        let world = self.world();
        let mut context = json!({ "invocation_source": source, "correlation_id": correlation });
        if let Some(pane) = world.focused.as_deref().and_then(|id| world.pane(id)) {
            context["workspace_id"] = pane.workspace.clone().into();
            context["workspace_cwd"] = json!(pane.cwd);
            context["tab_id"] = format!("{}:t1", pane.workspace).into();
            context["focused_pane_id"] = pane.id.clone().into();
            context["focused_pane_cwd"] = json!(pane.cwd);
            context["focused_pane_status"] = "unknown".into();
        }
        context
    }

    fn environment(&self, plugin: &Plugin, context: &Value) -> Vec<(String, String)> {
        let places = &self.herdr.places;
        let text = |path: PathBuf| path.display().to_string();
        vec![
            ("HERDR_ENV".into(), "1".into()),
            ("HERDR_SOCKET_PATH".into(), text(self.socket.clone())),
            ("HERDR_BIN_PATH".into(), text(std::env::current_exe().expect("our path"))),
            ("HERDR_PLUGIN_ID".into(), plugin.id.clone()),
            ("HERDR_PLUGIN_ROOT".into(), text(plugin.root.clone())),
            ("HERDR_PLUGIN_CONFIG_DIR".into(), text(places.plugin_config(&plugin.id))),
            ("HERDR_PLUGIN_STATE_DIR".into(), text(places.plugin_state(&plugin.id))),
            ("HERDR_PLUGIN_CONTEXT_JSON".into(), context.to_string()),
        ]
    }

    pub(super) fn action_list(&self) -> Reply {
        let mut actions = Vec::new();
        for plugin in self.plugins() {
            for action in plugin.record["actions"].as_array().into_iter().flatten() {
                let mut action = action.clone();
                action["action_id"] = action["id"].take();
                action["plugin_id"] = plugin.id.clone().into();
                actions.push(action);
            }
        }
        Reply::result("cli:plugin", json!({ "type": "plugin_action_list", "actions": actions }))
    }

    pub(super) fn action_invoke(&self, words: &[&str], source: &str, correlation: &str) -> Option<Reply> {
        let [action, rest @ ..] = words else { return None };
        let options = options(rest, &["--plugin"], &[])?;
        let found = self.plugins().into_iter().find_map(|plugin| {
            let local = match option(&options, "--plugin") {
                Some(id) => (id == plugin.id).then_some(*action)?,
                None => action.strip_prefix(&format!("{}.", plugin.id)).unwrap_or(action),
            };
            let actions = plugin.record["actions"].as_array()?.clone();
            let entry = actions.into_iter().find(|entry| entry["id"] == local)?;
            Some((plugin, entry))
        });
        let Some((plugin, entry)) = found else {
            return Some(Reply::refused("cli:plugin", "plugin_action_not_found", "plugin action not found"));
        };
        let context = self.context(source, correlation);
        let mut env = self.environment(&plugin, &context);
        let id = entry["id"].as_str().unwrap_or_default().to_owned();
        env.push(("HERDR_PLUGIN_ACTION_ID".into(), id.clone()));
        for (name, key) in [
            ("HERDR_PANE_ID", "focused_pane_id"),
            ("HERDR_WORKSPACE_ID", "workspace_id"),
            ("HERDR_TAB_ID", "tab_id"),
        ] {
            if let Some(value) = context[key].as_str() {
                env.push((name.into(), value.into()));
            }
        }
        let log = match self.command(&plugin, &entry["command"], env, ("action_id", &id)) {
            Ok(log) => log,
            Err(refused) => return Some(refused),
        };
        Some(Reply::result(
            "cli:plugin",
            json!({ "type": "plugin_action_invoked", "action": entry, "context": context, "log": log }),
        ))
    }

    /// Runs a command of a plugin and logs its end. Gives the running entry.
    fn command(
        &self,
        plugin: &Plugin,
        command: &Value,
        env: Vec<(String, String)>,
        what: (&str, &str),
    ) -> Result<Value, Reply> {
        let argv: Vec<String> = serde_json::from_value(command.clone()).expect("the manifest was checked");
        let mut world = self.world();
        let running = world.logs.iter().filter(|log| log.members["status"] == "running").count();
        if running >= SLOTS {
            let text = "maximum concurrent plugin commands reached (32)";
            return Err(Reply::refused("cli:plugin", "plugin_command_limit_reached", text));
        }
        let log_id = format!("plugin-log-{}", world.logs.len() + 1);
        let mut members = Map::new();
        members.insert("log_id".into(), log_id.clone().into());
        members.insert("plugin_id".into(), plugin.id.clone().into());
        members.insert(what.0.into(), what.1.into());
        members.insert("command".into(), command.clone());
        members.insert("status".into(), "running".into());
        members.insert("started_unix_ms".into(), now());
        let shown = Value::Object(members.clone());
        world.logs.push(Log { members });
        drop(world);
        // Anything with a slash is below the plugin's root, a bare name is on PATH (docs/measured/herdr.md 6.3).
        let program =
            if argv[0].contains('/') { plugin.root.join(&argv[0]) } else { PathBuf::from(&argv[0]) };
        let mut child = Command::new(program);
        child.args(&argv[1..]).current_dir(&plugin.root).envs(env);
        child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let server = self.clone();
        std::thread::spawn(move || {
            let ended = child.output();
            let mut world = server.world();
            let log = world.logs.iter_mut().find(|log| log.members["log_id"] == log_id.as_str());
            let members = &mut log.expect("logs stay").members;
            match ended {
                Ok(output) => {
                    let status = if output.status.success() { "succeeded" } else { "failed" };
                    members.insert("status".into(), status.into());
                    if let Some(code) = output.status.code() {
                        members.insert("exit_code".into(), code.into());
                    }
                    for (name, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
                        let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT)]).into_owned();
                        if bytes.len() > KEPT {
                            text.push_str("\n[herdr truncated plugin output after 65536 bytes]");
                        }
                        members.insert(name.into(), text.into());
                    }
                }
                Err(error) => {
                    members.insert("status".into(), "failed".into());
                    members.insert("error".into(), error.to_string().into());
                }
            }
            members.insert("finished_unix_ms".into(), now());
        });
        Ok(shown)
    }

    /// Runs every hook of an event, all at once.
    pub(super) fn fire(&self, event: &str, data: &Value) {
        let snake = event.replace('.', "_");
        let mut data = data.clone();
        data["type"] = snake.clone().into();
        let document = json!({ "event": snake, "data": data });
        for plugin in self.plugins() {
            let mut context = self.context("api", event);
            if let Some(pane) = data["pane_id"].as_str() {
                context["focused_pane_id"] = pane.into();
            }
            for hook in plugin.record["events"].as_array().into_iter().flatten() {
                if hook["on"] == event {
                    let mut env = self.environment(&plugin, &context);
                    env.push(("HERDR_PLUGIN_EVENT".into(), event.into()));
                    env.push(("HERDR_PLUGIN_EVENT_JSON".into(), document.to_string()));
                    let _dropped_over_the_limit =
                        self.command(&plugin, &hook["command"], env, ("event", event));
                }
            }
        }
    }

    /// Once per server start, after restore; without event data.
    pub(super) fn startup_hooks(&self) {
        for plugin in self.plugins() {
            let context = self.context("startup", "plugin.startup");
            for hook in plugin.record["startup"].as_array().into_iter().flatten() {
                let mut env = self.environment(&plugin, &context);
                env.push(("HERDR_PLUGIN_EVENT".into(), "startup".into()));
                let _dropped = self.command(&plugin, &hook["command"], env, ("event", "startup"));
            }
        }
    }

    pub(super) fn log_list(&self, words: &[&str]) -> Option<Reply> {
        let words = match words {
            ["list", rest @ ..] => rest,
            rest => rest,
        };
        let options = options(words, &["--plugin", "--limit"], &[])?;
        let limit = option(&options, "--limit").map_or(Some(50), |text| text.parse().ok())?.clamp(1, 200);
        let world = self.world();
        let rows: Vec<Value> = world
            .logs
            .iter()
            .filter(|log| option(&options, "--plugin").is_none_or(|id| log.members["plugin_id"] == id))
            .map(|log| Value::Object(log.members.clone()))
            .collect();
        let rows = rows[rows.len().saturating_sub(limit)..].to_vec();
        Some(Reply::result("cli:plugin", json!({ "type": "plugin_log_list", "logs": rows })))
    }

    /// Gives a plugin pane the focus; one from before a restart is none any more.
    pub(super) fn plugin_pane_focus(&self, id: &str) -> Reply {
        let mut world = self.world();
        let Some(shown) = world.pane(id).filter(|pane| pane.plugin).map(|pane| world.show(pane)) else {
            return Reply::refused("cli:plugin", "plugin_pane_not_found", "plugin pane not found");
        };
        world.focused = shown["pane_id"].as_str().map(str::to_owned);
        let focused = json!({ "plugin_id": "createos.sandbox", "pane": shown });
        Reply::result("cli:plugin", json!({ "type": "plugin_pane_focused", "plugin_pane": focused }))
    }

    pub(super) fn plugin_pane_open(&self, words: &[&str]) -> Option<Reply> {
        const VALUES: [&str; 9] = [
            "--plugin",
            "--entrypoint",
            "--placement",
            "--width",
            "--height",
            "--workspace",
            "--target-pane",
            "--direction",
            "--cwd",
        ];
        let with_value: Vec<&str> = VALUES.into_iter().chain(["--env"]).collect();
        let options = options(words, &with_value, &["--focus", "--no-focus"])?;
        let refused = |code: &str, text: &str| Some(Reply::refused("cli:plugin", code, text));
        let id = option(&options, "--plugin")?;
        let entrypoint = option(&options, "--entrypoint")?;
        let Some(plugin) = self.plugins().into_iter().find(|plugin| plugin.id == id) else {
            return refused("plugin_not_found", "plugin not found");
        };
        let panes = plugin.record["panes"].as_array().cloned().unwrap_or_default();
        let Some(entry) = panes.into_iter().find(|entry| entry["id"] == entrypoint) else {
            return refused("plugin_pane_not_found", "plugin pane not found");
        };
        let placement = option(&options, "--placement")
            .or_else(|| entry["placement"].as_str())
            .unwrap_or("overlay")
            .to_owned();
        let popup = placement == "popup";
        let placed = ["--target-pane", "--direction"].iter().any(|name| option(&options, name).is_some());
        if placed && !matches!(placement.as_str(), "split" | "zoomed") {
            return refused("invalid_params", "target-pane and direction are for split and zoomed");
        }
        let mut world = self.world();
        if popup && world.panes.iter().any(|pane| pane.popup) {
            return refused("plugin_pane_open_failed", "popup already open");
        }
        let target = option(&options, "--target-pane").map(str::to_owned).or_else(|| world.focused.clone());
        let Some(target) = target else { return refused("no_active_pane", "no active pane") };
        let Some(workspace) = world.pane(&target).map(|pane| pane.workspace.clone()) else {
            return refused("pane_not_found", "pane not found");
        };
        let pane_id = if popup { "popup".to_owned() } else { world.new_pane(&workspace) };
        drop(world);
        let context = self.context("api", "plugin-pane");
        let mut env: Vec<(String, String)> = options
            .iter()
            .filter(|(name, _)| *name == "--env")
            .map(|(_, pair)| pair.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned())))
            .collect::<Option<_>>()?;
        env.extend(self.environment(&plugin, &context));
        env.push(("HERDR_PLUGIN_ENTRYPOINT_ID".into(), entrypoint.into()));
        let spec = Spec {
            id: pane_id.clone(),
            workspace,
            cwd: option(&options, "--cwd").map_or_else(|| plugin.root.clone(), PathBuf::from),
            label: entry["title"].as_str().map(str::to_owned),
            argv: serde_json::from_value(entry["command"].clone()).expect("the manifest was checked"),
            env,
            popup,
            plugin: true,
        };
        let shown = match self.open(spec) {
            Ok(shown) => shown,
            Err(error) => return refused("plugin_pane_open_failed", &format!("Unable to spawn: {error}")),
        };
        if popup {
            return Some(Reply::result("cli:plugin", json!({ "type": "ok" })));
        }
        if option(&options, "--no-focus").is_none() || placement == "overlay" {
            self.world().focused = Some(pane_id);
        }
        let opened = json!({ "plugin_id": id, "entrypoint": entrypoint, "pane": shown });
        Some(Reply::result("cli:plugin", json!({ "type": "plugin_pane_opened", "plugin_pane": opened })))
    }
}

fn now() -> Value {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(time.as_millis()).expect("not for long").into()
}
