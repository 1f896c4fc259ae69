//! A Herdr with the plugin linked, a repository, and a provider with real boxes; all of it goes away at the end.

pub mod processes;
pub mod screens;
mod traces;

use super::hands::{Hands, keys};
use crate::support::{
    Home, Repo, binary, eventually, generation, outcome, real_herdr, rest, result_line, stand_in,
};
use serde_json::{Map, Value, json};
use std::cell::{RefCell, RefMut};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a machine that is busy with other tests.
pub const LONG: Duration = Duration::from_secs(60);
/// How long a person waits before a key that has to count: keys within a second of the screen, or of another key,
/// are ignored, and a busy machine is late to begin that second.
pub const CALM: Duration = Duration::from_secs(2);

/// The plugin that setup writes.
const MANIFEST: &str = include_str!("../../../templates/herdr-plugin.toml");

/// What an action left: its result line, and its output for people.
#[derive(Debug)]
pub struct Done {
    pub result: Value,
    pub stdout: String,
    pub stderr: String,
    pub exit_code: i64,
}

impl Done {
    /// Asserts `ok:true` and gives the result line.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.result["ok"], true, "{self:#?}");
        assert_eq!(self.exit_code, 0, "{self:#?}");
        self.result
    }

    /// Asserts `ok:false` with these words in its error, and gives the result line.
    #[track_caller]
    pub fn fails(self, words: &str) -> Value {
        assert_eq!(self.result["ok"], false, "{self:#?}");
        assert_eq!(self.exit_code, 1, "{self:#?}");
        let error = self.result["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(words), "[{words}] is not in [{error}]\n{self:#?}");
        self.result
    }
}

/// Everything that an action needs.
pub struct World {
    pub home: Home,
    pub repo: Repo,
    server: Option<Child>,
    script: Map<String, Value>,
    hands: RefCell<Option<Hands>>,
}

impl World {
    /// A world with an agent `shell`, boxes of the createos stand-in, and one pane in the repository.
    pub fn new() -> Self {
        Self::with_config(json!({ "agent": "shell" }))
    }

    /// The same with other settings.
    pub fn with_config(config: Value) -> Self {
        Self::with(config, |home| home)
    }

    /// The same in a home that is changed before anything starts in it.
    pub fn with(config: Value, change: impl FnOnce(Home) -> Home) -> Self {
        let home = change(Home::new().with_bin().var("SHELL", "/bin/sh").var("PS1", "$ "));
        let repo = Repo::init(&home.path().join("shop"));
        repo.write("README.md", "hello\n").write("src/main.rs", "fn main() {}\n").write(".env", "A=1\n");
        repo.commit("one");
        symlink(real_herdr().unwrap_or_else(|| stand_in("herdr-stand-in")), home.path().join("bin/herdr"))
            .expect("a link");
        symlink(stand_in("createos-stand-in"), home.path().join("bin/createos")).expect("a link");
        for folder in [".herdr-stand-in", ".createos-stand-in"] {
            std::fs::create_dir_all(home.path().join(folder)).expect("a folder");
        }
        let mut world = Self { home, repo, server: None, script: Map::new(), hands: RefCell::default() };
        world.script("provider", json!(binary()));
        world.script("generation", json!(generation()));
        world.home.write(".config/herdr/plugins/config/createos.sandbox/config.json", config.to_string());
        world.home.write(".config/herdr/config.toml", keys());
        world.link(&binary());
        world.serve();
        let top = world.repo.root().display().to_string();
        world.herdr(&["workspace", "create", "--cwd", &top, "--focus"]);
        world
    }

    /// The client of a real Herdr; `None` when the stand-in plays it, which presses keys by itself.
    #[track_caller]
    pub fn hands(&self) -> Option<RefMut<'_, Hands>> {
        real_herdr()?;
        let mut hands = self.hands.borrow_mut();
        hands.get_or_insert_with(|| Hands::attach(&self.home));
        Some(RefMut::map(hands, |hands| hands.as_mut().expect("it was attached")))
    }

    /// Adds this to Herdr's settings, and waits until Herdr's own word about it is gone: it shows one at a time.
    pub fn configure(&self, text: &str) {
        let hands = self.hands();
        self.home.write(".config/herdr/config.toml", format!("{}{text}", keys()));
        assert_eq!(self.herdr(&["server", "reload-config"])["status"], "applied");
        if let Some(hands) = hands {
            let told = || hands.screen().contains("reloaded config");
            eventually("Herdr tells of it", LONG, told);
            eventually("Herdr's own toast goes", LONG, || !told());
        }
    }

    /// Scripts one thing of the createos stand-in.
    pub fn script(&mut self, key: &str, value: Value) {
        self.script.insert(key.into(), value);
        let text = Value::Object(self.script.clone()).to_string();
        // Whole or not at all: a pane's process may be reading it.
        let staged = self.home.write(".createos-stand-in/control.json.new", text);
        std::fs::rename(staged, self.home.path().join(".createos-stand-in/control.json")).expect("a rename");
    }

    /// Links the plugin whose program is this one.
    pub fn link(&self, program: &Path) {
        let program = serde_json::to_string(program).expect("a path in UTF-8");
        let agents = include_str!("../../../templates/agents.toml");
        let names = agents.lines().filter_map(|line| line.strip_prefix("[agents.")?.strip_suffix(']'));
        let starts = names.map(|name| {
            format!(
                "[[actions]]\nid = \"start-{name}\"\ntitle = \"x\"\ncontexts = [\"pane\"]\n\
                 command = [@PROGRAM@, \"herdr\", \"start\", \"--agent\", \"{name}\"]\n"
            )
        });
        let manifest = format!("{MANIFEST}\n{}", starts.collect::<String>());
        let manifest = manifest.replace("@PROGRAM@", &program).replace("@VERSION@", "\"0.1.0\"");
        self.home.write("plugin/herdr-plugin.toml", manifest);
        self.herdr(&["plugin", "link", "plugin"]);
    }

    /// Starts the server, or starts it again.
    pub fn serve(&mut self) {
        let mut command = self.home.command_of(&self.home.path().join("bin/herdr"), &["server"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.server = Some(command.spawn().expect("herdr starts"));
        eventually("the server answers", LONG, || self.try_herdr(&["workspace", "list"]).is_some());
    }

    /// Stops the server as a person does.
    pub fn stop_server(&mut self) {
        drop(self.hands.take());
        let _ = outcome(self.home.command_of(&self.home.path().join("bin/herdr"), &["server", "stop"]));
        if let Some(mut server) = self.server.take() {
            server.wait().expect("the server ends");
        }
    }

    /// Kills the server, without a word to anybody.
    pub fn crash(&mut self) {
        drop(self.hands.take());
        let mut server = self.server.take().expect("a server");
        server.kill().expect("it runs");
        server.wait().expect("the server ends");
    }

    /// Runs herdr; its `.result`.
    #[track_caller]
    pub fn herdr(&self, args: &[&str]) -> Value {
        let outcome = outcome(self.home.command_of(&self.home.path().join("bin/herdr"), args));
        assert_eq!(outcome.code, 0, "herdr {args:?}: {outcome:?}");
        if outcome.stdout.trim().is_empty() { Value::Null } else { outcome.json()["result"].clone() }
    }

    fn try_herdr(&self, args: &[&str]) -> Option<Value> {
        let outcome = outcome(self.home.command_of(&self.home.path().join("bin/herdr"), args));
        (outcome.code == 0).then(|| outcome.json()["result"].clone())
    }

    /// Gives the focus to `pane`, which is the one to the left of the focused one.
    #[track_caller]
    pub fn focus_left(&self, pane: &str) {
        match real_herdr() {
            Some(_) => self.herdr(&["pane", "focus", "--direction", "left"]),
            None => self.herdr(&["stand-in", "focus", pane]),
        };
        let focused = self.panes().into_iter().find(|pane| pane["focused"] == true).expect("one has it");
        assert_eq!(focused["pane_id"], pane);
    }

    /// Invokes an action and waits for its end.
    #[track_caller]
    pub fn invoke(&self, action: &str) -> Done {
        self.wait(&self.begin(action))
    }

    /// Invokes an action; the id of its log entry.
    #[track_caller]
    pub fn begin(&self, action: &str) -> String {
        let invoked = self.herdr(&["plugin", "action", "invoke", &format!("createos.sandbox.{action}")]);
        invoked["log"]["log_id"].as_str().expect("a log id").to_owned()
    }

    /// Presses the key of an action, and waits for its end.
    #[track_caller]
    pub fn press(&self, action: &str) -> Done {
        self.wait(&self.begin_press(action))
    }

    /// Presses the key of an action; the id of its log entry.
    #[track_caller]
    pub fn begin_press(&self, action: &str) -> String {
        let Some(mut hands) = self.hands() else {
            let pressed = self.herdr(&["stand-in", "press", &format!("createos.sandbox.{action}")]);
            return pressed["log"]["log_id"].as_str().expect("a log id").to_owned();
        };
        let before = self.log_ids(action);
        hands.press(action);
        let began = Instant::now();
        loop {
            let look = Instant::now();
            if let Some(id) = self.log_ids(action).into_iter().find(|id| !before.contains(id)) {
                return id;
            }
            assert!(began.elapsed() < LONG, "the key of {action} runs nothing:\n{}", hands.screen());
            rest(look);
        }
    }

    fn logs(&self) -> Vec<Value> {
        self.herdr(&["plugin", "log", "list", "--limit", "200"])["logs"].as_array().expect("logs").clone()
    }

    fn log_ids(&self, action: &str) -> Vec<String> {
        let of_action = |log: &Value| {
            (log["action_id"] == action).then(|| log["log_id"].as_str().expect("a log id").to_owned())
        };
        self.logs().iter().filter_map(of_action).collect()
    }

    /// Waits for an action's end.
    #[track_caller]
    pub fn wait(&self, log_id: &str) -> Done {
        let began = Instant::now();
        loop {
            let look = Instant::now();
            let logs = self.logs();
            let log = logs.iter().find(|log| log["log_id"] == log_id).expect("the log entry");
            if log["status"] != "running" {
                return done(log);
            }
            assert!(began.elapsed() < 2 * LONG, "{log_id} still runs");
            rest(look);
        }
    }

    /// Waits until Herdr's startup hook has run, and everything else that it started.
    #[track_caller]
    pub fn settles(&self) {
        eventually("the startup hook has run", LONG, || {
            let logs = self.logs();
            !logs.is_empty() && logs.iter().all(|log| log["status"] != "running")
        });
    }

    /// Whether an action has ended.
    pub fn has_ended(&self, log_id: &str) -> bool {
        self.logs().iter().any(|log| log["log_id"] == log_id && log["status"] != "running")
    }

    fn local(&self, args: &[&str]) -> crate::support::Outcome {
        self.home.run(args)
    }

    /// Every live box.
    pub fn boxes(&self) -> Vec<Value> {
        let listed = self.local(&["local", "-o", "json", "sandbox", "list"]).success().json();
        listed.as_array().cloned().unwrap_or_default()
    }

    /// Makes a box behind everybody's back; its id.
    pub fn local_box(&self, name: &str) -> String {
        let args = ["local", "-o", "json", "sandbox", "create", "--shape", "s-1vcpu-1gb", "--name", name];
        self.local(&args).success().json()["id"].as_str().expect("an id").to_owned()
    }

    /// Lets the boxes come whose create call had failed before they were made.
    pub fn late_boxes_come(&self) {
        let late = std::fs::read_to_string(self.home.path().join(".createos-stand-in/late"));
        for line in late.expect("a create call failed").lines() {
            let words: Vec<String> = serde_json::from_str(line).expect("words");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let _ = self.local(&words).success();
        }
    }

    /// Deletes the only box behind everybody's back.
    pub fn remove_box(&self) {
        let id = self.boxes()[0]["id"].as_str().expect("an id").to_owned();
        let _ = self.local(&["local", "sandbox", "rm", "--yes", &id]).success();
    }

    /// Runs a script in a box.
    #[track_caller]
    pub fn in_box(&self, id: &str, script: &str) -> String {
        let args = ["local", "sandbox", "exec", id, "--", "bash", "-lc", script];
        self.local(&args).success().stdout
    }

    /// Starts a box; its id and its pane.
    #[track_caller]
    pub fn start(&self) -> (String, String) {
        let result = self.invoke("start").ok();
        assert_eq!(result["result"], "started", "{result}");
        let text = |key: &str| result[key].as_str().expect("text").to_owned();
        (text("boxId"), text("pane"))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop_server();
        // A clean-up that is on its way must find its provider until it is done.
        let began = Instant::now();
        while self.runs("cleanup") && began.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(100));
        }
        for listed in self.boxes() {
            let id = listed["id"].as_str().expect("an id").to_owned();
            let _ = self.local(&["local", "sandbox", "rm", "--yes", &id]);
        }
        for record in [".herdr-stand-in/unknown", ".createos-stand-in/unknown"] {
            let unknown = std::fs::read_to_string(self.home.path().join(record));
            if let (Ok(unknown), false) = (unknown, std::thread::panicking()) {
                panic!("calls that are not in the contract:\n{unknown}");
            }
        }
        if !std::thread::panicking() {
            self.assert_calls();
        }
    }
}

fn done(log: &Value) -> Done {
    let text = |key: &str| log[key].as_str().unwrap_or_default().to_owned();
    let stdout = text("stdout");
    Done {
        result: result_line(&stdout),
        exit_code: log["exit_code"].as_i64().unwrap_or(-1),
        stderr: text("stderr"),
        stdout,
    }
}

/// A command line in the home, as a person in a pane types it.
pub fn typed(world: &World, pane: &str, args: &[&str]) -> Command {
    let mut command = world.home.command(args);
    command.env("HERDR_PANE_ID", pane).current_dir(world.repo.root());
    command
}
