//! What an action costs beside the programs that it calls: `cargo bench --bench actions`.
//!
//! Herdr and the createos program are played by this file itself, with canned answers. Each action runs in turn
//! with a loop over exactly the calls that it made, and the difference of the medians is its own. An action whose
//! own wall time is at or above the limit fails the run, with exit code 1.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may panic, and it prints"
)]

use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs of each action; the median counts.
const ROUNDS: usize = 60;
/// What an action itself may take, in milliseconds.
const LIMIT: f64 = 10.0;
/// Where the played programs note how they were called.
const CALLS: &str = "BENCH_CALLS";
/// How many boxes the played provider lists.
const LISTED: &str = "BENCH_LISTED";
/// The played box is gone.
const DESTROYED: &str = "BENCH_DESTROYED";
const ID: &str = "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().collect();
    match Path::new(&argv[0]).file_name().and_then(|name| name.to_str()) {
        Some("herdr") => return play("herdr", &argv[1..], herdr),
        Some("createos") => return play("createos", &argv[1..], createos),
        Some(program @ ("git" | "ssh-keygen")) => {
            note(program, &argv[1..]);
            let failed =
                Command::new("/usr/bin/env").env("PATH", real_path()).arg(program).args(&argv[1..]).exec();
            panic!("{program}: {failed}");
        }
        _ => {}
    }
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it builds.
    if argv.iter().any(|arg| arg == "--list" || arg == "--test") {
        return ExitCode::SUCCESS;
    }
    println!("medians of {ROUNDS} runs in turn with the same calls alone, in ms\n");
    println!("| action | calls | wall | their wall | own wall | own CPU |");
    println!("|---|---:|---:|---:|---:|---:|");
    let over: Vec<_> = CASES.iter().filter(|case| measure(case) >= LIMIT).map(|case| case.shown).collect();
    if over.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nat or above {LIMIT} ms of their own: {}", over.join("; "));
    ExitCode::FAILURE
}

/// An action in its surroundings.
struct Case {
    shown: &'static str,
    words: &'static [&'static str],
    /// Boxes that are mapped; the first is the pane's, and no pane shows the others.
    mapped: usize,
    /// Boxes that were made once.
    made: usize,
    /// The pane is in no worktree, and its box was destroyed.
    refused: bool,
    /// The action ends without success.
    fails: bool,
    /// The action has run before.
    again: bool,
    /// How far the records are.
    phase: &'static str,
    /// The event that calls, and its document; none for an action.
    event: (&'static str, &'static str),
}

/// The pane of the first box has moved.
const MOVED: (&str, &str) = (
    "pane.moved",
    r#"{"event":"pane_moved","data":{"type":"pane_moved","pane":{"pane_id":"w9:p1","terminal_id":"term_0"}}}"#,
);

const fn case(shown: &'static str, words: &'static [&'static str]) -> Case {
    Case {
        shown,
        words,
        mapped: 1,
        made: 1,
        refused: false,
        fails: false,
        again: false,
        phase: "ready",
        event: ("", ""),
    }
}

const CASES: &[Case] = &[
    case("version", &["version"]),
    case("info", &["herdr", "info"]),
    Case { mapped: 0, fails: true, ..case("info, no box", &["herdr", "info"]) },
    Case { mapped: 100, made: 1_000, ..case("info, 100 boxes mapped, 1,000 made", &["herdr", "info"]) },
    case("pause", &["herdr", "pause"]),
    case("resume", &["herdr", "resume"]),
    Case { refused: true, fails: true, ..case("attach, refused", &["herdr", "attach"]) },
    case("delete, first word", &["herdr", "delete"]),
    Case { fails: true, ..case("undo, nothing to undo", &["herdr", "undo"]) },
    Case { refused: true, fails: true, ..case("start, refused", &["herdr", "start"]) },
    // What its pane does is the box's time; the wait for it is none here.
    Case { mapped: 0, ..case("start, but for its pane", &["herdr", "start"]) },
    case("sync, the first, to its pane", &["herdr", "sync"]),
    case("boxes, printed once", &["herdr", "boxes"]),
    case("prune, nothing to do", &["herdr", "prune", "--yes"]),
    Case { mapped: 0, ..case("prune, one box", &["herdr", "prune", "--yes"]) },
    Case { phase: "leftover", ..case("cleanup of one box", &["herdr", "cleanup", "00000000"]) },
    Case { event: MOVED, ..case("reconcile of a move", &["herdr", "reconcile"]) },
    Case { event: ("startup", ""), ..case("reconcile at the start", &["herdr", "reconcile"]) },
    Case {
        event: ("startup", ""),
        mapped: 100,
        made: 1_000,
        again: true,
        ..case("reconcile at the start again, 100 boxes mapped, 1,000 made", &["herdr", "reconcile"])
    },
];

/// A home with a state folder, and the two programs.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new(case: &Case) -> Self {
        let dir = tempfile::Builder::new().prefix("actions-bench-").tempdir().unwrap();
        let root = dir.path();
        for folder in ["bin", "state", "config", "repo"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        let own = std::env::current_exe().unwrap();
        for name in ["herdr", "createos", "git", "ssh-keygen"] {
            symlink(&own, root.join("bin").join(name)).unwrap();
        }
        let git = |args: &[&str]| {
            let git = Command::new("git").args(args).current_dir(root.join("repo")).status();
            assert!(git.unwrap().success());
        };
        git(&["init", "-q"]);
        std::fs::write(root.join("repo/README.md"), "hello\n").unwrap();
        std::fs::write(root.join("config/config.json"), "{\"agent\":\"shell\"}").unwrap();
        let record = |n: usize| {
            json!({
                "id": format!("{n:08x}"), "phase": case.phase, "socket": "/run/herdr.sock",
                "terminal": (n == 0).then_some("term_0"), "pane": (n == 0).then_some("w0:p1"), "provider": "createos",
                "box": format!("hd-shop-ab3d{n:05}"), "boxId": id(n),
                "agent": "shell", "bin": "/bin/bash", "processId": "proc_1", "local": root.join("repo"),
                "remote": "/workspace", "autoPause": "30m",
            })
        };
        let made = |n: usize| json!({ "name": format!("hd-shop-ab3d{n:05}"), "id": id(n) });
        let state = json!({
            "version": 1, "installation": "ab3d", "tookOver": true,
            "records": (0..case.mapped).map(record).collect::<Vec<_>>(),
            "made": (0..case.made).map(made).collect::<Vec<_>>(),
        });
        std::fs::write(root.join("state/state.json"), format!("{state:#}\n")).unwrap();
        let world = Self { dir };
        world.age();
        world
    }

    /// Makes the state file older: one of this moment is read again and again.
    fn age(&self) {
        let old = std::time::SystemTime::now() - Duration::from_secs(60);
        let state = std::fs::File::options().write(true).open(self.at("state/state.json")).unwrap();
        state.set_modified(old).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, case: &Case, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:{}", self.at("bin").display(), real_path());
        let folder = if case.refused { PathBuf::from("/") } else { self.at("repo") };
        let context = json!({
            "focused_pane_id": "w0:p1", "focused_pane_cwd": folder, "invocation_source": "cli",
        });
        command.env_clear().env("HOME", self.dir.path()).env("PATH", path);
        command.env("HERDR_BIN_PATH", self.at("bin/herdr")).env("HERDR_SOCKET_PATH", "/run/herdr.sock");
        command
            .env("HERDR_PLUGIN_STATE_DIR", self.at("state"))
            .env("HERDR_PLUGIN_CONFIG_DIR", self.at("config"));
        command.env("HERDR_PLUGIN_CONTEXT_JSON", context.to_string()).env(CALLS, self.at("calls"));
        command.env(LISTED, case.mapped.max(1).to_string());
        if case.refused {
            command.env(DESTROYED, "1");
        }
        if !case.event.0.is_empty() {
            command.env("HERDR_PLUGIN_EVENT", case.event.0).env("HERDR_PLUGIN_EVENT_JSON", case.event.1);
        }
        command.stdin(Stdio::null()).current_dir("/");
        command
    }

    /// The calls so far, each a program and its words; none are left.
    fn take_calls(&self) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.at("calls")).unwrap_or_default();
        let _none_were_made = std::fs::remove_file(self.at("calls"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Prints the case's row, and gives its own wall time in milliseconds.
fn measure(case: &Case) -> f64 {
    let (mut whole, mut alone) = (Vec::new(), Vec::new());
    let mut count = 0;
    for round in 0..=ROUNDS {
        let world = World::new(case);
        let mut command = world.command(case, Path::new(env!("CARGO_BIN_EXE_createos-sandbox")));
        command.args(case.words);
        if case.again {
            let _it_finds_things_as_it_left_them = run(&mut command);
            drop(world.take_calls());
            world.age();
        }
        let (cost, output) = run(&mut command);
        assert_eq!(output.status.success(), !case.fails, "{}: {output:?}", case.shown);
        let calls = world.take_calls();
        let mut theirs = Cost::default();
        for call in &calls {
            theirs = theirs + run(world.command(case, &world.at("bin").join(&call[0])).args(&call[1..])).0;
        }
        // The first run only warms the cache.
        if round > 0 {
            whole.push(cost);
            alone.push(theirs);
        }
        count = calls.len();
    }
    let wall = |costs: &[Cost]| median(costs.iter().map(|cost| cost.wall).collect());
    let cpu = |costs: &[Cost]| median(costs.iter().map(|cost| cost.cpu).collect());
    let own = wall(&whole) - wall(&alone);
    println!(
        "| {} | {count} | {:.1} | {:.1} | {own:.1} | {:.1} |",
        case.shown,
        wall(&whole),
        wall(&alone),
        cpu(&whole) - cpu(&alone),
    );
    own
}

/// Milliseconds.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: f64,
    cpu: f64,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

/// Runs to the end. The CPU time is that of the program and of all that it waited for.
fn run(command: &mut Command) -> (Cost, Output) {
    let before = children();
    let began = Instant::now();
    let output = command.output().unwrap();
    let wall = began.elapsed();
    let cost = Cost { wall: wall.as_secs_f64() * 1e3, cpu: (children() - before).as_secs_f64() * 1e3 };
    (cost, output)
}

fn children() -> Duration {
    // SAFETY: plain data, which the call fills.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage), 0);
        usage
    };
    let time = |time: libc::timeval| {
        // Microseconds are an `i32` on macOS.
        let micros = u64::try_from(time.tv_usec).expect("a time is not negative");
        Duration::from_secs(time.tv_sec.cast_unsigned()) + Duration::from_micros(micros)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn real_path() -> String {
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into()
}

fn note(program: &str, words: &[String]) {
    use std::io::Write;
    let Some(path) = std::env::var_os(CALLS) else { return };
    let mut line = serde_json::to_string(&[&[program.to_owned()], words].concat()).unwrap();
    line.push('\n');
    let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

fn play(program: &str, words: &[String], answer: fn(&[&str]) -> Value) -> ExitCode {
    note(program, words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    println!("{}", answer(&words));
    ExitCode::SUCCESS
}

fn herdr(words: &[&str]) -> Value {
    let pane = json!({ "pane_id": "w0:p1", "terminal_id": "term_0", "cwd": "/" });
    let opened = json!({ "pane_id": "w0:p2", "terminal_id": "term_new", "cwd": "/" });
    json!({ "result": match words {
        ["pane", "list"] => json!({ "panes": [pane] }),
        ["pane", ..] => json!({ "pane": pane }),
        ["plugin", "pane", "open", ..] => {
            words.iter().filter_map(|word| word.strip_prefix("CREATEOS_SANDBOX_RECORD=")).for_each(starts);
            json!({ "plugin_pane": { "pane": opened } })
        }
        _ => json!({ "shown": true, "type": "ok" }),
    }})
}

/// The id of the nth box.
fn id(n: usize) -> String {
    if n == 0 { ID.to_owned() } else { format!("sb-{n:026}") }
}

/// What the pane of a start does to its record, in no time.
fn starts(record: &str) {
    let path = PathBuf::from(std::env::var_os("HERDR_PLUGIN_STATE_DIR").unwrap()).join("state.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for own in state["records"].as_array_mut().unwrap().iter_mut().filter(|own| own["id"] == record) {
        own["phase"] = "ready".into();
        own["boxId"] = ID.into();
        own["outcome"] = json!({ "ok": true });
    }
    std::fs::write(&path, state.to_string()).unwrap();
}

fn createos(words: &[&str]) -> Value {
    let calls =
        std::env::var_os(CALLS).and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let is_gone = std::env::var_os(DESTROYED).is_some() || calls.contains("\"rm\"");
    let status = if is_gone { "destroyed" } else { "running" };
    let view = json!({ "id": ID, "name": "hd-shop-ab3d00000", "status": status });
    match words {
        ["--version", ..] => json!("createos version v0.0.29"),
        [.., "process", "get", _, _] => json!({ "process_id": "proc_1", "state": "running", "kind": "pty" }),
        [.., "rm", _, id] => {
            json!({ "action": "deleted", "results": [{ "ref": id, "deleted": true }], "failed": 0 })
        }
        words if words.contains(&"list") => {
            let count: usize = std::env::var(LISTED).unwrap().parse().unwrap();
            let row = |n| json!({ "id": id(n), "name": format!("hd-shop-ab3d{n:05}"), "status": status });
            (0..count).map(row).collect()
        }
        _ => view,
    }
}
