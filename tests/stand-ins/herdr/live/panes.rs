//! Workspaces, panes, agents, messages (docs/measured/herdr.md 7, 8).

use super::Server;
use super::pty::Pty;
use super::world::{Pane, World};
use crate::reply::{Reply, usage};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// A pane to open; without a command it is a shell.
#[derive(Default)]
pub(super) struct Spec {
    pub(super) id: String,
    pub(super) workspace: String,
    pub(super) cwd: PathBuf,
    pub(super) label: Option<String>,
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) popup: bool,
    pub(super) plugin: bool,
}

/// `--name value` pairs and lone flags; `None` for anything else.
pub(super) fn options<'a>(
    words: &[&'a str],
    with_value: &[&str],
    alone: &[&str],
) -> Option<Vec<(&'a str, &'a str)>> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if with_value.contains(word) {
            found.push((*word, *words.next()?));
        } else if alone.contains(word) {
            found.push((*word, ""));
        } else {
            return None;
        }
    }
    Some(found)
}

pub(super) fn option<'a>(options: &[(&'a str, &'a str)], name: &str) -> Option<&'a str> {
    options.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
}

fn not_found(id: &str, pane: &str) -> Reply {
    Reply::refused(id, "pane_not_found", &format!("pane {pane} not found"))
}

impl Server {
    /// Opens a pane and watches its process.
    pub(super) fn open(&self, spec: Spec) -> std::io::Result<Value> {
        let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".into());
        let argv = if spec.argv.is_empty() { vec![shell] } else { spec.argv };
        // A relative program is resolved against the pane's folder, a bare one on PATH (docs/measured/herdr.md 4.7).
        let program = match argv[0].strip_prefix("./") {
            Some(rest) => spec.cwd.join(rest),
            None => PathBuf::from(&argv[0]),
        };
        let mut command = Command::new(program);
        command.args(&argv[1..]).current_dir(if spec.cwd.is_dir() {
            spec.cwd.clone()
        } else {
            self.herdr.places.home.clone()
        });
        command.envs(spec.env.iter().map(|(name, value)| (name, value)));
        command.env("HERDR_ENV", "1").env("HERDR_SOCKET_PATH", &self.socket).env("COLORTERM", "truecolor");
        command.env("HERDR_BIN_PATH", std::env::current_exe()?).env("TERM", "xterm-256color");
        if spec.popup {
            for name in ["HERDR_PANE_ID", "HERDR_WORKSPACE_ID", "HERDR_TAB_ID"] {
                command.env_remove(name);
            }
        } else {
            command.env("HERDR_PANE_ID", &spec.id).env("HERDR_WORKSPACE_ID", &spec.workspace);
            command.env("HERDR_TAB_ID", format!("{}:t1", spec.workspace));
        }
        // The world is locked before the process starts: its first question must find the pane.
        let mut world = self.world();
        let (pty, mut child) = Pty::spawn(command)?;
        let pane = Pane {
            id: spec.id,
            workspace: spec.workspace,
            terminal: World::new_terminal(),
            cwd: spec.cwd,
            label: spec.label,
            title: None,
            popup: spec.popup,
            plugin: spec.plugin,
            pty,
        };
        let shown = world.show(&pane);
        let terminal = pane.terminal.clone();
        world.panes.push(pane);
        drop(world);
        let server = self.clone();
        std::thread::spawn(move || {
            let _status = child.wait();
            server.exited(&terminal);
        });
        Ok(shown)
    }

    /// The process of a pane ended by itself: `pane.exited`, no `pane.closed` (docs/measured/herdr.md 5.3).
    fn exited(&self, terminal: &str) {
        let mut world = self.world();
        if world.stopping {
            return;
        }
        let Some(at) = world.panes.iter().position(|pane| pane.terminal == terminal) else { return };
        let pane = world.panes.remove(at);
        Self::move_focus(&mut world, &pane.id, &pane.workspace);
        drop(world);
        if !pane.popup {
            self.fire("pane.exited", &json!({ "pane_id": pane.id, "workspace_id": pane.workspace }));
        }
    }

    fn move_focus(world: &mut World, gone: &str, workspace: &str) {
        if world.focused.as_deref() == Some(gone) {
            let next = world.panes.iter().filter(|pane| !pane.popup);
            let near = next.clone().find(|pane| pane.workspace == workspace);
            world.focused = near.or_else(|| next.clone().next()).map(|pane| pane.id.clone());
        }
    }

    pub(super) fn workspace_create(&self, words: &[&str]) -> Option<Reply> {
        let options = options(words, &["--cwd", "--label"], &["--focus", "--no-focus"])?;
        let mut world = self.world();
        let workspace = world.new_workspace();
        let id = world.new_pane(&workspace);
        let first = world.panes.is_empty();
        drop(world);
        let cwd = option(&options, "--cwd").map_or_else(|| self.herdr.places.home.clone(), PathBuf::from);
        let spec = Spec { id: id.clone(), workspace: workspace.clone(), cwd, ..Spec::default() };
        let pane = self.open(spec).expect("a shell starts");
        if first || option(&options, "--no-focus").is_none() {
            self.world().focused = Some(id);
        }
        Some(Reply::result(
            "cli:workspace:create",
            json!({ "type": "workspace_created", "root_pane": pane, "workspace": { "workspace_id": workspace } }),
        ))
    }

    pub(super) fn workspace_list(&self) -> Reply {
        let names = self.world().workspaces();
        let rows: Vec<_> = names.iter().map(|name| json!({ "workspace_id": name })).collect();
        Reply::result("cli:workspace:list", json!({ "type": "workspace_list", "workspaces": rows }))
    }

    pub(super) fn pane_list(&self) -> Reply {
        let world = self.world();
        let panes: Vec<_> =
            world.panes.iter().filter(|pane| !pane.popup).map(|pane| world.show(pane)).collect();
        Reply::result("cli:pane:list", json!({ "type": "pane_list", "panes": panes }))
    }

    pub(super) fn pane_get(&self, id: &str) -> Reply {
        let world = self.world();
        match world.pane(id) {
            Some(pane) => {
                Reply::result("cli:pane:get", json!({ "type": "pane_info", "pane": world.show(pane) }))
            }
            None => not_found("cli:pane:get", id),
        }
    }

    pub(super) fn pane_current(&self, own: Option<&str>) -> Reply {
        let world = self.world();
        let id = own.map(str::to_owned).or_else(|| world.focused.clone()).unwrap_or_default();
        match world.pane(&id) {
            Some(pane) => {
                Reply::result("cli:pane:current", json!({ "type": "pane_current", "pane": world.show(pane) }))
            }
            None => not_found("cli:pane:current", &id),
        }
    }

    pub(super) fn focus(&self, id: &str) -> Reply {
        let mut world = self.world();
        match world.pane(id).map(|pane| pane.id.clone()) {
            Some(id) => {
                world.focused = Some(id);
                Reply::default()
            }
            None => not_found("stand-in", id),
        }
    }

    pub(super) fn pane_split(&self, words: &[&str]) -> Option<Reply> {
        let (target, rest) = match words {
            [target, rest @ ..] if !target.starts_with('-') => (Some(*target), rest),
            rest => (None, rest),
        };
        let options = options(
            rest,
            &["--pane", "--direction", "--cwd", "--env", "--ratio"],
            &["--focus", "--no-focus"],
        )?;
        let target = target.or_else(|| option(&options, "--pane"));
        let mut world = self.world();
        let target = target.map(str::to_owned).or_else(|| world.focused.clone()).unwrap_or_default();
        let Some(pane) = world.pane(&target) else { return Some(not_found("cli:pane:split", &target)) };
        if !matches!(option(&options, "--direction"), Some("right" | "down")) {
            return Some(usage("usage: herdr pane split … --direction right|down"));
        }
        let (workspace, old) = (pane.workspace.clone(), pane.cwd.clone());
        let id = world.new_pane(&workspace);
        drop(world);
        let cwd = option(&options, "--cwd").map_or(old, PathBuf::from);
        let shown =
            self.open(Spec { id: id.clone(), workspace, cwd, ..Spec::default() }).expect("a shell starts");
        if option(&options, "--focus").is_some() {
            self.world().focused = Some(id);
        }
        Some(Reply::result("cli:pane:split", json!({ "type": "pane_info", "pane": shown })))
    }

    pub(super) fn pane_close(&self, call: &str, id: &str) -> Reply {
        let mut world = self.world();
        let Some(id) = world.pane(id).map(|pane| pane.id.clone()) else { return not_found(call, id) };
        let at = world.panes.iter().position(|pane| pane.id == id).expect("it was just found");
        let pane = world.panes.remove(at);
        pane.pty.end();
        Self::move_focus(&mut world, &pane.id, &pane.workspace);
        drop(world);
        self.fire("pane.closed", &json!({ "pane_id": pane.id, "workspace_id": pane.workspace }));
        Reply::result(call, json!({ "type": "ok" }))
    }

    /// Closes every pane of a tab; a workspace has one here.
    pub(super) fn tab_close(&self, id: &str) -> Reply {
        let workspace = id.strip_suffix(":t1").unwrap_or(id);
        let inside = |pane: &&Pane| pane.workspace == workspace && !pane.popup;
        let panes: Vec<String> =
            self.world().panes.iter().filter(inside).map(|pane| pane.id.clone()).collect();
        if panes.is_empty() {
            return Reply::refused("cli:tab:close", "tab_not_found", &format!("tab {id} not found"));
        }
        for pane in panes {
            let _closed = self.pane_close("cli:tab:close", &pane);
        }
        Reply::result("cli:tab:close", json!({ "type": "ok" }))
    }

    pub(super) fn pane_rename(&self, id: &str, label: &str) -> Reply {
        let mut world = self.world();
        let Some(pane) = world.pane_mut(id) else { return not_found("cli:pane:rename", id) };
        pane.label = (!label.is_empty()).then(|| label.to_owned());
        let pane = world.pane(id).expect("it was just changed");
        Reply::result("cli:pane:rename", json!({ "type": "pane_info", "pane": world.show(pane) }))
    }

    pub(super) fn pane_read(&self, id: &str, words: &[&str]) -> Option<Reply> {
        options(words, &["--source", "--lines", "--format"], &["--ansi", "--raw"])?;
        Some(match self.world().pane(id) {
            Some(pane) => Reply::text(format!("{}\n", pane.pty.text())),
            None => not_found("cli:pane:read", id),
        })
    }

    pub(super) fn process_info(&self, id: &str) -> Reply {
        let world = self.world();
        let Some(pane) = world.pane(id) else { return not_found("cli:pane:process-info", id) };
        let (group, processes) = pane.pty.foreground();
        let rows: Vec<_> = processes
            .iter()
            .map(|(pid, name, argv)| json!({ "pid": pid, "name": name, "argv": argv, "cmdline": argv.join(" ") }))
            .collect();
        let info = json!({
            "pane_id": pane.id, "shell_pid": pane.pty.pid, "foreground_process_group_id": group,
            "foreground_processes": rows,
        });
        Reply::result("cli:pane:process-info", json!({ "type": "pane_process_info", "process_info": info }))
    }

    pub(super) fn report_metadata(&self, id: &str, words: &[&str]) -> Option<Reply> {
        let options =
            options(words, &["--source", "--title", "--ttl-ms", "--token", "--display-agent"], &[])?;
        option(&options, "--source")?;
        let mut world = self.world();
        let Some(pane) = world.pane_mut(id) else { return Some(not_found("cli:pane", id)) };
        let until = option(&options, "--ttl-ms")
            .map(|ttl| Instant::now() + Duration::from_millis(ttl.parse().expect("a number")));
        if let Some(title) = option(&options, "--title") {
            pane.title = Some((title.chars().take(80).collect(), until));
        }
        Some(Reply::default())
    }

    /// Checked, and without effect: every pane here has a screen of its own.
    pub(super) fn pane_resize(&self, words: &[&str]) -> Option<Reply> {
        let options = options(words, &["--direction", "--amount", "--pane"], &[])?;
        let id = option(&options, "--pane")?;
        option(&options, "--amount")?.parse::<f64>().ok()?;
        if !matches!(option(&options, "--direction"), Some("left" | "right" | "up" | "down")) {
            return Some(usage("usage: herdr pane resize --direction left|right|up|down"));
        }
        Some(match self.world().pane(id) {
            Some(_) => Reply::result("cli:pane:resize", json!({ "resize": { "changed": true } })),
            None => not_found("cli:pane:resize", id),
        })
    }

    pub(super) fn pane_move(&self, id: &str, words: &[&str]) -> Option<Reply> {
        let options =
            options(words, &["--label", "--tab-label"], &["--new-workspace", "--focus", "--no-focus"])?;
        option(&options, "--new-workspace")?;
        let mut world = self.world();
        let Some(old) = world.pane(id).map(|pane| pane.id.clone()) else {
            return Some(not_found("cli:pane:move", id));
        };
        let workspace = world.new_workspace();
        let new = world.new_pane(&workspace);
        let pane = world.pane_mut(&old).expect("it was just found");
        let before = std::mem::replace(&mut pane.workspace, workspace);
        pane.id.clone_from(&new);
        world.aliases.insert(old.clone(), new.clone());
        if option(&options, "--no-focus").is_none() {
            world.focused = Some(new.clone());
        }
        let shown = world.show(world.pane(&new).expect("it was just moved"));
        drop(world);
        let event = json!({
            "previous_pane_id": old, "previous_workspace_id": before,
            "previous_tab_id": format!("{before}:t1"), "pane": shown,
        });
        self.fire("pane.moved", &event);
        let result = json!({ "changed": true, "previous_pane_id": old, "pane": shown });
        Some(Reply::result("cli:pane:move", json!({ "type": "pane_move", "move_result": result })))
    }

    pub(super) fn send(&self, id: &str, bytes: &[u8]) -> Reply {
        match self.world().pane(id) {
            Some(pane) => {
                pane.pty.send(bytes).expect("the terminal takes input");
                Reply::default()
            }
            None => not_found("cli:pane", id),
        }
    }

    pub(super) fn send_keys(&self, id: &str, keys: &[&str]) -> Reply {
        let mut bytes = Vec::new();
        for key in keys {
            match (*key, key.strip_prefix("ctrl+").or_else(|| key.strip_prefix("C-"))) {
                ("enter" | "return", _) => bytes.push(b'\r'),
                ("esc" | "escape", _) => bytes.push(0x1b),
                (_, Some(letter)) if letter.len() == 1 => bytes.push(letter.as_bytes()[0] & 0x1f),
                (letter, None) if letter.chars().count() == 1 => bytes.extend_from_slice(letter.as_bytes()),
                (other, _) => {
                    return Reply::refused("cli:pane", "invalid_key", &format!("unsupported key {other}"));
                }
            }
        }
        self.send(id, &bytes)
    }

    pub(super) fn agent_list(&self) -> Reply {
        let world = self.world();
        let agents: Vec<_> = world
            .panes
            .iter()
            .filter(|pane| !pane.popup)
            .filter_map(|pane| {
                let mut shown = world.show(pane);
                shown["agent"] = pane.pty.agent()?.into();
                shown["agent_status"] = "idle".into();
                Some(shown)
            })
            .collect();
        Reply::result("cli:agent:list", json!({ "type": "agent_list", "agents": agents }))
    }

    pub(super) fn notification(&self, title: &str, words: &[&str]) -> Option<Reply> {
        options(words, &["--body", "--position", "--sound"], &[])?;
        if title.is_empty() {
            return Some(Reply::refused("cli:notification", "invalid_params", "title is empty"));
        }
        // Off is the default (docs/measured/herdr.md 8.3); a test turns it on as a user does.
        let config = std::fs::read_to_string(&self.herdr.places.config_file).unwrap_or_default();
        let on = config.contains("delivery = \"herdr\"");
        let shown = on && self.world().show_toast();
        let reason = match (on, shown) {
            (false, _) => "disabled",
            (true, true) => "shown",
            (true, false) => "busy",
        };
        if shown {
            let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
            let body = words.iter().position(|word| *word == "--body").and_then(|at| words.get(at + 1));
            self.herdr.control.append("toasts", &cut(title, 80));
            body.into_iter().for_each(|body| self.herdr.control.append("toasts", &cut(body, 240)));
        }
        Some(Reply::result(
            "cli:notification:show",
            json!({ "type": "notification_show", "shown": shown, "reason": reason }),
        ))
    }

    pub(super) fn popup_text(&self) -> Reply {
        match self.world().panes.iter().find(|pane| pane.popup) {
            Some(pane) => Reply::text(format!("{}\n", pane.pty.text())),
            None => Reply::refused("stand-in", "popup_not_open", "no popup is open"),
        }
    }

    pub(super) fn popup_type(&self, text: &str) -> Reply {
        match self.world().panes.iter().find(|pane| pane.popup) {
            Some(pane) => {
                pane.pty.send(text.as_bytes()).expect("the terminal takes input");
                Reply::default()
            }
            None => Reply::refused("stand-in", "popup_not_open", "no popup is open"),
        }
    }
}
