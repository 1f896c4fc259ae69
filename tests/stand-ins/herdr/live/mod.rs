//! A real little server: it spawns actions, hooks and panes on PTYs, and keeps a session over restarts.
//!
//! The command line sends its argv as one JSON line over the socket and prints what comes back.

mod panes;
mod plugins;
mod pty;
#[path = "../../../it/support/terminal.rs"]
#[allow(dead_code, reason = "it is the tests' own, too")]
mod terminal;
mod world;

use crate::Herdr;
use crate::reply::{Reply, usage};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use world::World;

/// The running server.
#[derive(Clone)]
pub(super) struct Server {
    world: Arc<Mutex<World>>,
    herdr: Arc<Herdr>,
    socket: PathBuf,
}

/// The words that need the server. Everything else is answered by the command line alone.
pub(crate) fn is_live(words: &[&str]) -> bool {
    matches!(
        words,
        ["workspace" | "tab" | "pane" | "agent" | "notification" | "stand-in", ..]
            | ["plugin", "action" | "log" | "logs" | "pane", ..]
            | ["server", "stop"]
    )
}

/// The socket that the command line talks to.
pub(crate) fn socket(herdr: &Herdr) -> PathBuf {
    std::env::var_os("HERDR_SOCKET_PATH").map_or_else(|| herdr.places.socket(), PathBuf::from)
}

/// Whether a server listens.
pub(crate) fn runs(herdr: &Herdr) -> bool {
    UnixStream::connect(socket(herdr)).is_ok()
}

/// Lets the server run `words`; `None` when the contract does not have them.
pub(crate) fn ask(herdr: &Herdr, words: &[&str]) -> Option<Reply> {
    let Ok(mut stream) = UnixStream::connect(socket(herdr)) else {
        return Some(herdr.no_server("cli"));
    };
    let request = json!({ "argv": words, "pane": std::env::var("HERDR_PANE_ID").ok() });
    writeln!(stream, "{request}").expect("the server reads");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("the server answers");
    let answer: Value = serde_json::from_str(&line).expect("the server answers JSON");
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let code = u8::try_from(answer["code"].as_u64()?).ok()?;
    Some(Reply { out: text("out"), err: text("err"), code })
}

/// Runs the server in the foreground until `server stop` or TERM.
pub(crate) fn serve(herdr: Herdr) -> Reply {
    if runs(&herdr) {
        return Reply::failed("error: herdr server is already running\n");
    }
    let path = socket(&herdr);
    let _stale = std::fs::remove_file(&path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("the config folder");
    let listener = UnixListener::bind(&path).expect("a socket");
    let _closed = writeln!(std::io::stderr(), "herdr server running; api socket: {}", path.display());
    let server = Server { world: Arc::default(), herdr: Arc::new(herdr), socket: path };
    server.restore();
    server.startup_hooks();
    let mut signals =
        signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM]).expect("signal handlers");
    let stopper = server.clone();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            stopper.stop();
            std::process::exit(0);
        }
    });
    for stream in listener.incoming().map_while(Result::ok) {
        let server = server.clone();
        std::thread::spawn(move || server.answer(stream));
    }
    Reply::default()
}

impl Server {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no thread panicked")
    }

    fn answer(&self, stream: UnixStream) {
        let mut line = String::new();
        let mut reader = BufReader::new(&stream);
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let request: Value = serde_json::from_str(&line).expect("our own command line writes JSON");
        let argv: Vec<String> = serde_json::from_value(request["argv"].clone()).expect("words");
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let stop = matches!(words.as_slice(), ["server", "stop"]);
        let reply = if stop {
            self.stop();
            Some(Reply::default())
        } else {
            self.run(&words, request["pane"].as_str())
        };
        let answer = match reply {
            Some(reply) => json!({ "out": reply.out, "err": reply.err, "code": reply.code }),
            None => json!({ "code": null }),
        };
        let _client_gone = writeln!(&stream, "{answer}");
        if stop {
            std::process::exit(0);
        }
    }

    fn run(&self, words: &[&str], pane: Option<&str>) -> Option<Reply> {
        match words {
            ["workspace", "create", rest @ ..] => self.workspace_create(rest),
            ["workspace", "list"] => Some(self.workspace_list()),
            ["pane", "list"] => Some(self.pane_list()),
            ["pane", "get", id] => Some(self.pane_get(id)),
            ["pane", "current"] => Some(self.pane_current(pane)),
            ["pane", "split", rest @ ..] => self.pane_split(rest),
            ["pane", "close", id] => Some(self.pane_close("cli:pane:close", id)),
            ["tab", "close", id] => Some(self.tab_close(id)),
            ["pane", "rename", id, "--clear"] => Some(self.pane_rename(id, "")),
            ["pane", "rename", id, label @ ..] if !label.is_empty() => {
                Some(self.pane_rename(id, &label.join(" ")))
            }
            ["pane", "read", id, rest @ ..] => self.pane_read(id, rest),
            ["pane", "process-info", "--pane", id] => Some(self.process_info(id)),
            ["pane", "process-info", ..] => Some(usage("usage: herdr pane process-info --pane ID|--current")),
            ["pane", "report-metadata", id, rest @ ..] => self.report_metadata(id, rest),
            ["pane", "resize", rest @ ..] => self.pane_resize(rest),
            ["pane", "move", id, rest @ ..] => self.pane_move(id, rest),
            ["pane", "send-text", id, text @ ..] if !text.is_empty() => {
                Some(self.send(id, text.join(" ").as_bytes()))
            }
            ["pane", "send-keys", id, keys @ ..] if !keys.is_empty() => Some(self.send_keys(id, keys)),
            ["agent", "list"] => Some(self.agent_list()),
            ["notification", "show", title, rest @ ..] => self.notification(title, rest),
            ["plugin", "action", "list"] => Some(self.action_list()),
            ["plugin", "action", "invoke", rest @ ..] => self.action_invoke(rest, "cli", "cli:plugin"),
            ["plugin", "log" | "logs", rest @ ..] => self.log_list(rest),
            ["plugin", "pane", "open", rest @ ..] => self.plugin_pane_open(rest),
            ["plugin", "pane", "focus", id] => Some(self.plugin_pane_focus(id)),
            ["plugin", "pane", "close", id] => Some(self.pane_close("cli:plugin", id)),
            // Not in the contract's argv: what only a person at the screen can do.
            ["stand-in", "press", action] => self.action_invoke(&[action], "keybinding", "keybinding"),
            ["stand-in", "focus", id] => Some(self.focus(id)),
            ["stand-in", "popup"] => Some(self.popup_text()),
            ["stand-in", "type-popup", text] => Some(self.popup_type(text)),
            _ => None,
        }
    }

    /// Saves the session and ends every pane.
    fn stop(&self) {
        let mut world = self.world();
        world.stopping = true;
        let panes: Vec<Value> = world
            .panes
            .iter()
            .filter(|pane| !pane.popup)
            .map(|pane| json!({ "id": pane.id, "workspace": pane.workspace, "cwd": pane.cwd, "label": pane.label }))
            .collect();
        let session = json!({ "panes": panes, "focused": world.focused });
        std::fs::write(self.herdr.places.config_dir.join("session.json"), session.to_string())
            .expect("the session is saved");
        for pane in &world.panes {
            pane.pty.end();
        }
        drop(world);
        let _gone = std::fs::remove_file(&self.socket);
        std::thread::sleep(Duration::from_millis(600));
    }

    /// Brings the panes back: the same ids, fresh shells, new terminals (docs/measured/herdr.md 9).
    fn restore(&self) {
        let Ok(text) = std::fs::read_to_string(self.herdr.places.config_dir.join("session.json")) else {
            return;
        };
        let session: Value = serde_json::from_str(&text).expect("we wrote it");
        for pane in session["panes"].as_array().into_iter().flatten() {
            let text = |key: &str| pane[key].as_str().unwrap_or_default().to_owned();
            let spec = panes::Spec {
                id: text("id"),
                workspace: text("workspace"),
                cwd: text("cwd").into(),
                label: pane["label"].as_str().map(str::to_owned),
                ..panes::Spec::default()
            };
            self.open(spec).expect("a shell starts");
        }
        self.world().focused = session["focused"].as_str().map(str::to_owned);
    }
}
