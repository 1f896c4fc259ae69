//! How this process was called by Herdr, or by a person: environment and context (docs/measured/herdr.md 6).

use super::pane::{Pane, PaneId};
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A key in Herdr: our output is not shown anywhere.
    Key,
    /// `herdr plugin action invoke`, or our own command line.
    CommandLine,
    /// Herdr itself: an event or its start.
    Herdr,
}

/// What the environment says. The context is believed, not the bare variables: those may be leftovers
/// of the pane in which the server was started (docs/measured/herdr.md 6.1).
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) caller: Caller,
    /// Our output goes into Herdr's log, which keeps the first 64 KiB of it (docs/measured/herdr.md 4.6).
    pub(crate) logged: bool,
    /// The pane that had the focus, or in which a person typed.
    pub(crate) pane: Option<PaneId>,
    /// That pane's folder, or ours.
    pub(crate) cwd: Option<PathBuf>,
    /// The server's socket, the part of a pane's key that tells sessions apart.
    pub(crate) socket: Option<String>,
    /// The event's name, dotted, or `startup`.
    pub(crate) event: Option<String>,
    /// The event's data.
    pub(crate) event_data: Value,
}

impl Invocation {
    /// From this process's environment.
    pub(crate) fn from_env() -> Self {
        Self::read(&|name| std::env::var_os(name), std::env::current_dir().ok())
    }

    /// Of a command that a person typed in any terminal, whatever of Herdr's is in the environment.
    pub(crate) fn typed() -> Self {
        Self {
            caller: Caller::CommandLine,
            logged: false,
            pane: None,
            cwd: std::env::current_dir().ok(),
            socket: None,
            event: None,
            event_data: Value::Null,
        }
    }

    fn read(var: &dyn Fn(&str) -> Option<OsString>, here: Option<PathBuf>) -> Self {
        let text = |name: &str| var(name).and_then(|value| value.into_string().ok());
        let json = |name: &str| text(name).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let event = text("HERDR_PLUGIN_EVENT");
        let event_data = json("HERDR_PLUGIN_EVENT_JSON")
            .and_then(|mut event| event.get_mut("data").map(Value::take))
            .unwrap_or(Value::Null);
        let context =
            json("HERDR_PLUGIN_CONTEXT_JSON").filter(|_| text("HERDR_PLUGIN_ENTRYPOINT_ID").is_none());
        let socket = text("HERDR_SOCKET_PATH").filter(|path| !path.is_empty());
        let Some(context) = context else {
            let pane = text("HERDR_PANE_ID").and_then(|id| id.parse().ok());
            let (caller, logged) = (Caller::CommandLine, false);
            return Self { caller, logged, pane, cwd: here, socket, event, event_data };
        };
        let field = |key: &str| context.get(key).and_then(Value::as_str);
        let caller = match field("invocation_source") {
            _ if event.is_some() => Caller::Herdr,
            Some("keybinding" | "link_click") => Caller::Key,
            _ => Caller::CommandLine,
        };
        Self {
            caller,
            logged: true,
            pane: field("focused_pane_id").and_then(|id| id.parse().ok()),
            cwd: field("focused_pane_cwd").map(PathBuf::from),
            socket,
            event,
            event_data,
        }
    }

    /// The pane of a `pane.moved` event.
    pub(crate) fn moved(&self) -> Option<Pane> {
        let data = (self.event.as_deref() == Some("pane.moved")).then_some(&self.event_data)?;
        Pane::parse(data.get("pane")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Invocation {
        let vars: Vec<_> = vars.iter().map(|(n, v)| ((*n).to_owned(), OsString::from(v))).collect();
        let var = move |name: &str| vars.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        Invocation::read(&var, Some("/here".into()))
    }

    #[test]
    fn the_context_is_believed_and_not_a_leaked_variable() {
        let context =
            r#"{"focused_pane_id":"w6:p1","focused_pane_cwd":"/repo","invocation_source":"keybinding"}"#;
        let got = read(&[("HERDR_PLUGIN_CONTEXT_JSON", context), ("HERDR_PANE_ID", "w1:p9")]);
        assert_eq!(got.caller, Caller::Key);
        assert_eq!(got.pane.unwrap().as_str(), "w6:p1");
        assert_eq!(got.cwd.unwrap(), PathBuf::from("/repo"));
        let empty = read(&[("HERDR_PLUGIN_CONTEXT_JSON", "{}"), ("HERDR_PANE_ID", "w1:p9")]);
        assert!(empty.pane.is_none() && empty.cwd.is_none());
    }

    #[test]
    fn a_person_in_a_pane_is_in_that_pane() {
        let got = read(&[("HERDR_PANE_ID", "w1:p2"), ("HERDR_SOCKET_PATH", "/s")]);
        assert_eq!((got.caller, got.pane.unwrap().as_str()), (Caller::CommandLine, "w1:p2"));
        assert_eq!(got.cwd.unwrap(), PathBuf::from("/here"));
    }

    #[test]
    fn a_moved_pane_has_its_new_id_and_its_terminal() {
        let data = r#"{"event":"pane_moved","data":{"type":"pane_moved","previous_pane_id":"w2:p5",
            "pane":{"pane_id":"w1:pC","terminal_id":"term_66","workspace_id":"w1"}}}"#;
        let vars = [
            ("HERDR_PLUGIN_CONTEXT_JSON", "{}"),
            ("HERDR_PLUGIN_EVENT", "pane.moved"),
            ("HERDR_PLUGIN_EVENT_JSON", data),
        ];
        let got = read(&vars);
        let moved = got.moved().unwrap();
        assert_eq!(got.caller, Caller::Herdr);
        assert_eq!((moved.id.as_str(), moved.terminal.to_string().as_str()), ("w1:pC", "term_66"));
    }
}
