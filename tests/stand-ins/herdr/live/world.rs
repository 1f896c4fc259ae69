//! What the server knows: panes, logs, the focus. Ids as in docs/measured/herdr.md 9.

use super::pty::Pty;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ALPHABET: &[u8] = b"123456789ABCDEFGHJKMNPQRSTVWXYZ0";

/// One pane.
pub(super) struct Pane {
    pub(super) id: String,
    pub(super) workspace: String,
    pub(super) terminal: String,
    pub(super) cwd: PathBuf,
    pub(super) label: Option<String>,
    pub(super) title: Option<(String, Option<Instant>)>,
    pub(super) popup: bool,
    /// A plugin opened it, in the life of this server.
    pub(super) plugin: bool,
    pub(super) pty: Pty,
}

/// One plugin command that was run.
pub(super) struct Log {
    pub(super) members: serde_json::Map<String, Value>,
}

/// Everything.
#[derive(Default)]
pub(super) struct World {
    pub(super) panes: Vec<Pane>,
    pub(super) logs: Vec<Log>,
    pub(super) focused: Option<String>,
    /// Ids from before a move.
    pub(super) aliases: HashMap<String, String>,
    numbers: HashMap<String, usize>,
    pub(super) toast_until: Option<Instant>,
    pub(super) stopping: bool,
}

impl World {
    /// The pane of an id, also of one from before a move.
    pub(super) fn pane(&self, id: &str) -> Option<&Pane> {
        let mut id = id;
        while let Some(newer) = self.aliases.get(id) {
            id = newer;
        }
        self.panes.iter().find(|pane| pane.id == id && !pane.popup)
    }

    /// The same, to be changed.
    pub(super) fn pane_mut(&mut self, id: &str) -> Option<&mut Pane> {
        let id = self.pane(id)?.id.clone();
        self.panes.iter_mut().find(|pane| pane.id == id)
    }

    /// Workspaces with a pane, in order.
    pub(super) fn workspaces(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for pane in self.panes.iter().filter(|pane| !pane.popup) {
            if !names.contains(&pane.workspace) {
                names.push(pane.workspace.clone());
            }
        }
        names
    }

    /// The next workspace: highest existing plus one, so that ids come back.
    pub(super) fn new_workspace(&self) -> String {
        let highest = self.workspaces().iter().map(|name| number(&name[1..])).max().unwrap_or(0);
        format!("w{}", spell(highest + 1))
    }

    /// The next pane id of a workspace; numbers do not come back while it lives.
    pub(super) fn new_pane(&mut self, workspace: &str) -> String {
        let highest = self
            .panes
            .iter()
            .filter(|pane| pane.workspace == workspace && !pane.popup)
            .filter_map(|pane| pane.id.split(":p").nth(1).map(number))
            .max()
            .unwrap_or(0);
        let next = self.numbers.entry(workspace.to_owned()).or_default();
        *next = highest.max(*next) + 1;
        format!("{workspace}:p{}", spell(*next))
    }

    /// What the API shows of a pane.
    pub(super) fn show(&self, pane: &Pane) -> Value {
        let mut shown = json!({
            "pane_id": pane.id, "terminal_id": pane.terminal, "workspace_id": pane.workspace,
            "tab_id": format!("{}:t1", pane.workspace), "cwd": pane.cwd, "foreground_cwd": pane.cwd,
            "focused": self.focused.as_deref() == Some(pane.id.as_str()), "agent_status": "unknown",
            "revision": 0, "scroll": {},
        });
        let members = shown.as_object_mut().expect("an object");
        if let Some(label) = &pane.label {
            members.insert("label".into(), label.clone().into());
        }
        if let Some((title, until)) = &pane.title
            && until.is_none_or(|until| Instant::now() < until)
        {
            members.insert("title".into(), title.clone().into());
        }
        shown
    }

    /// A terminal's id: new at every start of one.
    pub(super) fn new_terminal() -> String {
        use std::hash::{BuildHasher, Hasher};
        let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
        format!("term_{:015x}", random >> 4)
    }

    /// A toast is up for five seconds.
    pub(super) fn show_toast(&mut self) -> bool {
        let busy = self.toast_until.is_some_and(|until| Instant::now() < until);
        if !busy {
            self.toast_until = Some(Instant::now() + Duration::from_secs(5));
        }
        !busy
    }
}

fn spell(mut number: usize) -> String {
    let mut digits = Vec::new();
    while number > 0 {
        number -= 1;
        digits.push(ALPHABET[number % 32]);
        number /= 32;
    }
    digits.iter().rev().map(|digit| char::from(*digit)).collect()
}

fn number(text: &str) -> usize {
    text.bytes().fold(0, |sum, byte| {
        sum * 32 + ALPHABET.iter().position(|known| *known == byte).map_or(0, |at| at + 1)
    })
}
