//! What the command line says about the server. A test scripts one that only answers reloads.

use crate::Herdr;
use crate::reply::{Reply, sorted};
use serde_json::{Value, json};

impl Herdr {
    /// Whether a server runs.
    pub(crate) fn server_runs(&self) -> bool {
        self.control.server.is_some() || crate::live::runs(self)
    }

    /// The refusal of everything that needs one.
    pub(crate) fn no_server(&self, id: &str) -> Reply {
        let message = format!(
            "no herdr server is running at {}; run `herdr` to start or attach it",
            self.places.socket().display()
        );
        let error = json!({ "id": id, "error": { "code": "server_not_running", "message": message } });
        Reply::failed(format!("{error}\n"))
    }

    pub(crate) fn reload_config(&self) -> Reply {
        let id = "cli:server:reload-config";
        let (status, diagnostics) = match &self.control.server {
            Some(server) if server.diagnostics.is_empty() => (server.reload.as_str(), self.diagnostics()),
            Some(server) => (server.reload.as_str(), server.diagnostics.clone()),
            None if self.server_runs() => ("applied", self.diagnostics()),
            None => return self.no_server(id),
        };
        Reply::result(id, json!({ "type": "config_reload", "status": status, "diagnostics": diagnostics }))
    }

    pub(crate) fn status(&self, words: &[&str]) -> Option<Reply> {
        let version = self.control.version.split('-').next().unwrap_or_default();
        let client = json!({
            "version": version, "channel": "stable", "protocol": 20,
            "binary": std::env::current_exe().unwrap_or_default(), "session": null,
        });
        let socket = self.places.socket();
        let server = match &self.control.server {
            Some(server) => json!({
                "status": "running", "running": true, "version": version, "protocol": 20, "capabilities": {},
                "compatible": server.compatible, "socket": socket, "session": null,
                "restart_needed": !server.compatible,
            }),
            None if self.server_runs() => json!({
                "status": "running", "running": true, "version": version, "protocol": 20, "capabilities": {},
                "compatible": true, "socket": socket, "session": null, "restart_needed": false,
            }),
            None => json!({
                "status": "not_running", "running": false, "version": null, "protocol": null,
                "capabilities": null, "compatible": null, "socket": socket, "session": null,
                "restart_needed": false,
            }),
        };
        let whole: Value = match words {
            ["--json"] => {
                json!({ "client": client, "server": server, "update": { "restart_needed": false } })
            }
            ["server", "--json"] => server,
            ["client", "--json"] => client,
            _ => return None,
        };
        Some(Reply::text(format!("{whole}\n")))
    }

    pub(crate) fn session_list(&self) -> Reply {
        let session = json!({
            "name": "default", "default": true, "running": self.server_runs(),
            "session_dir": self.places.config_dir, "socket_path": self.places.socket(),
        });
        Reply::text(format!("{}\n", sorted(json!({ "sessions": [session] }))))
    }
}
