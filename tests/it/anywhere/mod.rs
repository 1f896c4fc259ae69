//! An agent in a box in any terminal: without Herdr, as root and as an ordinary user, with both providers.

mod first;
mod given;
mod herdr;
mod home;
mod project;
mod values;

use crate::support::{
    Home, Outcome, Pty, Repo, User, binary, eventually, generation, outcome, result_line, stand_in,
};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long anything may take on a machine that is busy with other tests.
const LONG: Duration = Duration::from_secs(60);
/// The settings, below the home.
const CONFIG: &str = ".config/herdr/plugins/config/createos.sandbox/config.json";
/// The state file, below the home.
const STATE: &str = ".local/state/herdr/plugins/createos.sandbox/state.json";
/// Ctrl-].
const DETACH: &str = "\u{1d}";

/// A home without Herdr, with a repository and a CLI over real boxes; the boxes go at the end.
struct Machine {
    home: Home,
    repo: Repo,
}

impl Machine {
    fn of(user: User, config: Option<Value>) -> Self {
        Self::with(user, config, |home| home)
    }

    /// The same in a home that is changed before anything is in it.
    fn with(user: User, config: Option<Value>, change: impl FnOnce(Home) -> Home) -> Self {
        let home = change(Home::of(user).with_bin().var("SHELL", "/bin/sh").var("PS1", "$ "));
        let repo = Repo::init(&home.path().join("shop"));
        repo.write("README.md", "hello\n").write("src/main.rs", "fn main() {}\n").write(".env", "A=1\n");
        repo.commit("one");
        symlink(stand_in("createos-stand-in"), home.path().join("bin/createos")).expect("a link");
        let control = json!({ "provider": binary(), "generation": generation() });
        home.write(".createos-stand-in/control.json", control.to_string());
        if let Some(config) = config {
            home.write(CONFIG, config.to_string());
        }
        home.own(home.path());
        Self { home, repo }
    }

    fn new(config: Value) -> Self {
        Self::of(User::Me, Some(config))
    }

    /// The program in the worktree, without a terminal.
    fn run(&self, args: &[&str]) -> Outcome {
        self.home.run_in(self.repo.root(), args)
    }

    /// The program in the worktree, on a terminal.
    fn on_terminal(&self, args: &[&str]) -> Pty {
        self.in_folder("", args)
    }

    fn in_folder(&self, folder: &str, args: &[&str]) -> Pty {
        let mut command = self.home.command(args);
        command.current_dir(self.repo.root().join(folder));
        Pty::spawn(command, 30, 120)
    }

    /// Starts an agent, until it is attached.
    fn start(&self, args: &[&str]) -> Pty {
        let pty = self.on_terminal(args);
        pty.expect("attached. Ctrl-] detaches", LONG);
        pty
    }

    fn state(&self) -> Value {
        match std::fs::read(self.home.path().join(STATE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).expect("the state is JSON"),
            Err(_) => json!({ "records": [] }),
        }
    }

    fn records(&self) -> Vec<Value> {
        self.state()["records"].as_array().expect("records").clone()
    }

    /// The name of the newest box.
    #[track_caller]
    fn name(&self) -> String {
        let records = self.records();
        records.last().expect("a record")["box"].as_str().expect("a name").to_owned()
    }

    fn boxes(&self) -> Vec<Value> {
        let listed = self.home.run(&["local", "-o", "json", "sandbox", "list"]).success().json();
        listed.as_array().cloned().unwrap_or_default()
    }

    /// Runs a script in the newest box.
    #[track_caller]
    fn in_box(&self, script: &str) -> String {
        let name = self.name();
        let args = ["local", "sandbox", "exec", &name, "--", "bash", "-lc", script];
        self.home.run(&args).success().stdout
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.home.path().join(relative)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let began = Instant::now();
        while crate::actions::world::processes::running("cleanup", self.home.path()) && began.elapsed() < LONG
        {
            std::thread::sleep(Duration::from_millis(100));
        }
        for listed in self.boxes() {
            let id = listed["id"].as_str().expect("an id").to_owned();
            let _ = self.home.run(&["local", "sandbox", "rm", "--yes", &id]);
        }
        if let (Ok(unknown), false) =
            (std::fs::read_to_string(self.path(".createos-stand-in/unknown")), std::thread::panicking())
        {
            panic!("calls that are not in the contract:\n{unknown}");
        }
    }
}

/// Types a line until its answer was seen: what is typed before an attach reads is dropped.
#[track_caller]
fn types_until(pty: &mut Pty, line: &str, text: &str) {
    let (began, before) = (Instant::now(), pty.text().matches(text).count());
    while pty.text().matches(text).count() <= before {
        assert!(began.elapsed() < LONG, "[{text}] was not seen:\n{}", pty.text());
        pty.send(format!("{line}\r"));
        std::thread::sleep(Duration::from_millis(700));
    }
}

/// Detaches; what was said then.
#[track_caller]
fn detaches(pty: &mut Pty) -> String {
    pty.send(DETACH);
    pty.expect("delete: createos-sandbox review", LONG);
    let ended = pty.wait(LONG);
    assert!(ended.success(), "{ended:?}: {}", pty.text());
    pty.text()
}

fn a_day(user: User, provider: &str) {
    let machine = Machine::of(user, Some(json!({ "agent": "shell", "provider": provider })));
    // Start, work, detach.
    let mut pty = machine.start(&["start"]);
    types_until(&mut pty, "echo agent >> README.md; echo do''ne", "done");
    let said = detaches(&mut pty);
    let name = machine.name();
    assert!(said.contains(&format!("Shell runs on in box {name}.")), "{said}");
    assert!(said.contains(&format!("createos-sandbox attach {name}")), "{said}");
    assert_eq!(machine.boxes().len(), 1);
    assert_eq!(machine.records()[0]["socket"], "", "it is of no session of Herdr");

    // The second start goes on with it.
    let mut pty = machine.on_terminal(&["start", "shell"]);
    types_until(&mut pty, "wc -l < README.md | sed s/^/li''nes-/", "lines-2");
    let _ = detaches(&mut pty);
    assert_eq!((machine.boxes().len(), machine.name()), (1, name.clone()));

    // What is done with the box needs no name while it is the only one.
    let info = machine.run(&["info"]).success().stdout;
    assert!(info.contains(&name) && info.contains("README.md"), "{info}");
    let review = machine.run(&["review"]).success().stdout;
    assert!(review.contains("+agent"), "{review}");
    let applied = machine.run(&["apply"]).success().stdout;
    assert_eq!(machine.repo.read("README.md"), "hello\nagent\n");
    assert!(applied.contains(&format!("take it back with: createos-sandbox undo {name}")), "{applied}");
    let _ = machine.run(&["undo", &name]).success();
    assert_eq!(machine.repo.read("README.md"), "hello\n");
    let listed = machine.run(&["boxes"]).success().stdout;
    assert!(listed.contains(&name) && listed.contains("in a terminal"), "{listed}");
    let _ = machine.run(&["pause"]).success();
    assert_eq!(result_line(&machine.run(&["info"]).success().stdout)["status"], "paused");
    let _ = machine.run(&["resume", &name]).success();

    // An agent that has ended is started again.
    let mut pty = machine.on_terminal(&["attach", &name]);
    types_until(&mut pty, "echo re''ady", "ready");
    pty.send("exit 7\r");
    pty.expect("Shell has ended, exit code 7; box", LONG);
    assert!(pty.wait(LONG).success());
    let mut pty = machine.on_terminal(&["start"]);
    types_until(&mut pty, "echo a''gain", "again");
    let _ = detaches(&mut pty);

    // Deleted, when it is said again.
    let asked = machine.run(&["delete"]).success().stdout;
    assert!(asked.contains("run the same again") && asked.contains("README.md"), "{asked}");
    assert_eq!(machine.boxes().len(), 1);
    let _ = machine.run(&["delete"]).success();
    assert_eq!((machine.boxes(), machine.records()), (vec![], vec![]));
    machine.run(&["apply"]).fails(1, "this worktree has no box");
}

#[test]
fn a_day_in_a_terminal_with_a_local_box() {
    User::all().into_iter().for_each(|user| a_day(user, "local"));
}

#[test]
fn a_day_in_a_terminal_with_the_official_cli() {
    User::all().into_iter().for_each(|user| a_day(user, "createos"));
}

#[test]
fn who_makes_the_boxes_is_asked_once_and_kept() {
    let machine = Machine::of(User::Me, None);
    let mut pty = machine.on_terminal(&["start", "shell"]);
    pty.expect("[l/c]", LONG);
    pty.send("\u{1b}");
    pty.expect("nothing was started", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(1));
    assert!(!machine.path(CONFIG).exists() && machine.records().is_empty());

    machine.home.write(CONFIG, r#"{"agent":"codex","egress":["github.com"]}"#);
    let mut pty = machine.on_terminal(&["start", "shell"]);
    pty.expect("[l/c]", LONG);
    pty.send("l");
    pty.expect("attached. Ctrl-]", LONG);
    let _ = detaches(&mut pty);
    let kept: Value = serde_json::from_str(&machine.home.read(CONFIG)).expect("JSON");
    assert_eq!(kept, json!({ "agent": "codex", "egress": ["github.com"], "provider": "local" }));
    let mut pty = machine.start(&["start", "shell", "--new"]);
    assert!(!pty.text().contains("[l/c]"), "{}", pty.text());
    let _ = detaches(&mut pty);
}

#[test]
fn without_a_terminal_nothing_is_started_and_what_to_type_is_said() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "local" }));
    for verb in ["start", "attach"] {
        let refused = machine.run(&[verb]).fails(2, "here is no terminal");
        assert!(refused.stderr.contains(&format!("createos-sandbox {verb}")), "{refused:?}");
    }
    let mut pty = machine.on_terminal(&["start", "bash"]);
    pty.expect("unknown agent \"bash\"", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(2));
    let mut pty = machine.on_terminal(&["start", "--provider", "lokal"]);
    pty.expect("unknown provider \"lokal\"", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(2));
    assert!(machine.boxes().is_empty() && machine.records().is_empty());
}

#[test]
fn another_box_is_made_when_that_is_said_and_then_a_name_is_needed() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "local" }));
    let _ = detaches(&mut machine.start(&["start"]));
    let first = machine.name();
    let _ = detaches(&mut machine.start(&["start", "--new"]));
    let second = machine.name();
    assert!(first != second && machine.boxes().len() == 2);
    let several = machine.run(&["apply"]).fails(1, "2 boxes belong to this worktree");
    for name in [&first, &second] {
        assert!(several.stderr.contains(&format!("createos-sandbox apply {name}")), "{several:?}");
    }
    let _ = machine.run(&["apply", &first]).success();
    // Of several the newest is gone on with.
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect(&format!("Shell in {second}: bringing it back"), LONG);
    let _ = detaches(&mut pty);
}

#[test]
fn ctrl_c_while_a_box_is_made_takes_it_back() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "createos" }));
    let slow = json!({ "provider": binary(), "generation": generation(), "image": "sleep 3" });
    machine.home.write(".createos-stand-in/control.json", slow.to_string());
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("1/5", LONG);
    pty.send("\u{3}");
    pty.expect("is being deleted", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(130));
    eventually("its box and its record go", 3 * LONG, || {
        machine.boxes().is_empty() && machine.records().is_empty()
    });
}

#[test]
fn a_start_that_fails_leaves_nothing_and_says_why() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "createos" }));
    let fails = json!({
        "provider": binary(), "generation": generation(),
        "fail": [{ "verb": "create", "code": "error", "message": "no room for it" }],
    });
    machine.home.write(".createos-stand-in/control.json", fails.to_string());
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("no room for it", LONG);
    pty.expect("start again with: createos-sandbox start", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(1));
    assert!(machine.boxes().is_empty());
    eventually("its record goes", 3 * LONG, || machine.records().is_empty());
}

#[test]
fn a_box_of_the_list_is_shown_where_the_list_was() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "local" }));
    let _ = detaches(&mut machine.start(&["start"]));
    let mut pty = machine.on_terminal(&["boxes"]);
    pty.expect("1 box   Enter attach", LONG);
    pty.send("\r");
    pty.expect("bringing it back", LONG);
    types_until(&mut pty, "echo he''re", "here");
    let _ = detaches(&mut pty);
}

#[test]
fn outside_of_a_worktree_it_is_said_so() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "local" }));
    let mut pty = Pty::spawn(machine.home.command(&["start"]), 30, 120);
    pty.expect("git", LONG);
    assert_eq!(pty.wait(LONG).code().map(|code| code == 0), Some(false));
    let _unused = outcome(machine.home.command(&["info"])).fails(1, "this worktree has no box");
}
