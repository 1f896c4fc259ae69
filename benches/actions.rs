//! What an action costs beside the programs that it calls: `cargo bench --bench actions`.
//!
//! Herdr and the createos program are played by this file itself, with canned answers. Each action runs in turn
//! with a loop over exactly the calls that it made, and the difference of the medians is its own. Nothing is
//! judged here.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may panic, and it prints"
)]

use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Runs of each action; the median counts.
const ROUNDS: usize = 60;
/// Where the played programs note how they were called.
const CALLS: &str = "BENCH_CALLS";
/// The played box is gone.
const DESTROYED: &str = "BENCH_DESTROYED";
const ID: &str = "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().collect();
    match Path::new(&argv[0]).file_name().and_then(|name| name.to_str()) {
        Some("herdr") => return play("herdr", &argv[1..], herdr),
        Some("createos") => return play("createos", &argv[1..], createos),
        Some("git") => {
            note("git", &argv[1..]);
            let failed =
                Command::new("/usr/bin/env").env("PATH", real_path()).arg("git").args(&argv[1..]).exec();
            panic!("git: {failed}");
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
    for case in CASES {
        measure(case);
    }
    ExitCode::SUCCESS
}

/// An action in its surroundings.
struct Case {
    shown: &'static str,
    words: &'static [&'static str],
    /// Boxes that are mapped; the first is the pane's.
    mapped: usize,
    /// Boxes that were made once.
    made: usize,
    /// The pane is in no worktree, and its box was destroyed.
    refused: bool,
}

const fn case(shown: &'static str, words: &'static [&'static str]) -> Case {
    Case { shown, words, mapped: 1, made: 1, refused: false }
}

const CASES: &[Case] = &[
    case("version", &["version"]),
    case("info", &["herdr", "info"]),
    Case { mapped: 0, ..case("info, no box", &["herdr", "info"]) },
    Case { mapped: 100, made: 5_000, ..case("info, 100 boxes mapped, 5,000 made", &["herdr", "info"]) },
    case("pause", &["herdr", "pause"]),
    case("resume", &["herdr", "resume"]),
    Case { refused: true, ..case("attach, refused", &["herdr", "attach"]) },
    case("delete, first word", &["herdr", "delete"]),
    case("undo, nothing to undo", &["herdr", "undo"]),
    Case { refused: true, ..case("start, refused", &["herdr", "start"]) },
    case("reconcile", &["herdr", "reconcile"]),
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
        for name in ["herdr", "createos", "git"] {
            symlink(&own, root.join("bin").join(name)).unwrap();
        }
        let git = |args: &[&str]| {
            let git = Command::new("git").args(args).current_dir(root.join("repo")).status();
            assert!(git.unwrap().success());
        };
        git(&["init", "-q"]);
        std::fs::write(root.join("config/config.json"), "{\"agent\":\"shell\"}").unwrap();
        let record = |n: usize| {
            json!({
                "id": format!("{n:08x}"), "phase": "ready", "socket": "/run/herdr.sock",
                "terminal": format!("term_{n}"), "pane": format!("w{n}:p1"), "provider": "createos",
                "box": format!("hd-shop-ab3d{n:05}"), "boxId": if n == 0 { ID.into() } else { format!("sb-{n:026}") },
                "agent": "shell", "bin": "/bin/bash", "processId": "proc_1", "local": root.join("repo"),
                "remote": "/workspace", "autoPause": "30m",
            })
        };
        let made = |n: usize| json!({ "name": format!("hd-shop-ab3d{n:05}"), "id": format!("sb-{n:026}") });
        let state = json!({
            "version": 1, "installation": "ab3d", "tookOver": true,
            "records": (0..case.mapped).map(record).collect::<Vec<_>>(),
            "made": (0..case.made).map(made).collect::<Vec<_>>(),
        });
        std::fs::write(root.join("state/state.json"), format!("{state:#}\n")).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(60);
        let state = std::fs::File::options().write(true).open(root.join("state/state.json")).unwrap();
        state.set_modified(old).unwrap();
        Self { dir }
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
        if case.refused {
            command.env(DESTROYED, "1");
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

fn measure(case: &Case) {
    let (mut whole, mut alone) = (Vec::new(), Vec::new());
    let mut count = 0;
    for round in 0..=ROUNDS {
        let world = World::new(case);
        let mut command = world.command(case, Path::new(env!("CARGO_BIN_EXE_createos-sandbox")));
        let cost = run(command.args(case.words));
        let calls = world.take_calls();
        let mut theirs = Cost::default();
        for call in &calls {
            theirs = theirs + run(world.command(case, &world.at("bin").join(&call[0])).args(&call[1..]));
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
    println!(
        "| {} | {count} | {:.1} | {:.1} | {:.1} | {:.1} |",
        case.shown,
        wall(&whole),
        wall(&alone),
        wall(&whole) - wall(&alone),
        cpu(&whole) - cpu(&alone),
    );
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
fn run(command: &mut Command) -> Cost {
    let before = children();
    let began = Instant::now();
    let output = command.output().unwrap();
    let wall = began.elapsed();
    drop(output);
    Cost { wall: wall.as_secs_f64() * 1e3, cpu: (children() - before).as_secs_f64() * 1e3 }
}

fn children() -> Duration {
    // SAFETY: plain data, which the call fills.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage), 0);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.cast_unsigned()) + Duration::from_micros(time.tv_usec.cast_unsigned())
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
    json!({ "result": match words {
        ["pane", "list"] => json!({ "panes": [pane] }),
        ["pane", ..] => json!({ "pane": pane }),
        _ => json!({ "shown": true, "type": "ok" }),
    }})
}

fn createos(words: &[&str]) -> Value {
    let status = if std::env::var_os(DESTROYED).is_some() { "destroyed" } else { "running" };
    let view = json!({ "id": ID, "name": "hd-shop-ab3d00000", "status": status });
    match words {
        ["--version", ..] => json!("createos version v0.0.29"),
        [.., "process", "get", _, _] => json!({ "process_id": "proc_1", "state": "running", "kind": "pty" }),
        [.., "list"] => json!([view]),
        _ => view,
    }
}
