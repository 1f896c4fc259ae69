//! What `cos` costs beside the provider's calls: `cargo bench --bench cos`.
//!
//! The createos program is played by this file itself, with canned answers. `run` is measured in turn with a loop over
//! exactly the calls that it made; the difference of the medians is its own. Then 100 MB of output pass through it. What is
//! over a limit fails the run, with exit code 1.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may panic, and it prints"
)]

use serde_json::json;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Runs of each; the median counts.
const ROUNDS: usize = 60;
/// What `run` and `status` may take of their own, in milliseconds.
const LIMIT: f64 = 10.0;
/// How many calls `run` may make.
const CALLS_AT_MOST: usize = 3;
/// How much output passes, in bytes, and how fast at least, in MB/s, in how much memory at most, in KiB.
const OUTPUT: u64 = 100_000_000;
const RATE: f64 = 40.0;
const MEMORY: i64 = 30_000;
/// Where the played program notes how it was called.
const CALLS: &str = "BENCH_CALLS";
/// How many bytes the played command prints.
const PRINTS: &str = "BENCH_PRINTS";
const ID: &str = "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV";
/// Bytes on a line of base64.
const ON_A_LINE: u64 = 57;

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().collect();
    if Path::new(&argv[0]).file_name().is_some_and(|name| name == "createos") {
        return createos(&argv[1..]);
    }
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it builds.
    if argv.iter().any(|arg| arg == "--list" || arg == "--test") {
        return ExitCode::SUCCESS;
    }
    let world = World::new();
    let mut over = Vec::new();
    println!("medians of {ROUNDS} runs in turn with the same calls alone, in ms\n");
    println!("| verb | calls | wall | their wall | own wall |");
    println!("|---|---:|---:|---:|---:|");
    for (words, in_project) in
        [(&["cos", "run", "true"][..], true), (&["cos", "status"], false), (&["version"], false)]
    {
        let (calls, own) = measure(&world, words, in_project);
        if own >= LIMIT || calls > CALLS_AT_MOST {
            over.push(words.join(" "));
        }
    }
    let (rate, memory) = stream(&world);
    println!("\n100 MB of output: {rate:.0} MB/s in {:.1} MB of memory", memory as f64 / 1e3);
    if rate < RATE || memory > MEMORY {
        over.push("100 MB of output".into());
    }
    if over.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nover a limit: {}", over.join("; "));
    ExitCode::FAILURE
}

/// The official program, as far as it is asked.
fn createos(argv: &[String]) -> ExitCode {
    if let Some(calls) = std::env::var_os(CALLS) {
        let mut file = std::fs::File::options().append(true).create(true).open(calls).unwrap();
        file.write_all(format!("{}\n", json!(argv)).as_bytes()).unwrap();
    }
    let has = |word: &str| argv.iter().any(|arg| arg == word);
    let mut out = std::io::stdout().lock();
    if has("start") {
        writeln!(out, "{}", json!({ "process_id": "proc_1", "state": "running" })).unwrap();
    } else if has("exec") {
        let mark = argv.iter().find_map(|arg| arg.strip_prefix("=@")).unwrap();
        let total: u64 = std::env::var(PRINTS).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        writeln!(out, "@{mark} b").unwrap();
        let line = format!("{}\n", "QUJD".repeat(19));
        let lines = total / ON_A_LINE;
        let block = line.repeat(1_000);
        writeln!(out, "@{mark} d 0 {}", lines * ON_A_LINE).unwrap();
        for _ in 0..lines / 1_000 {
            out.write_all(block.as_bytes()).unwrap();
        }
        out.write_all(line.repeat((lines % 1_000) as usize).as_bytes()).unwrap();
        writeln!(out, "@{mark} e 0 {}", lines * ON_A_LINE).unwrap();
    } else {
        panic!("nobody should ask {argv:?}");
    }
    ExitCode::SUCCESS
}

/// A home with a project that has a box.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("cos-bench-").tempdir().unwrap();
        let root = dir.path();
        for folder in ["bin", "state", "repo/.git", "empty"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        symlink(std::env::current_exe().unwrap(), root.join("bin/createos")).unwrap();
        let world = Self { dir };
        // Its own words say the key.
        let output = world.command(&["cos", "status", "--json"], true).output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let record = json!({ "id": ID, "name": "cos-proj-bench", "shape": "s-2vcpu-2gb", "owned": "1" });
        let file = format!("state/{}.json", document["key"].as_str().unwrap());
        std::fs::write(world.at(&file), record.to_string()).unwrap();
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = format!("{}:/usr/bin:/bin", self.at("bin").display());
        command.env_clear().env("HOME", self.dir.path()).env("PATH", path).env("CREATEOS_API_KEY", "k");
        command.env("COS_STATE_DIR", self.at("state")).env(CALLS, self.at("calls")).stdin(Stdio::null())
    }

    fn command(&self, words: &[&str], in_project: bool) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_createos-sandbox"));
        self.environment(&mut command);
        command.args(words).current_dir(self.at(if in_project { "repo" } else { "empty" }));
        command
    }

    /// The calls so far; none are left.
    fn take_calls(&self) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.at("calls")).unwrap_or_default();
        let _none_were_made = std::fs::remove_file(self.at("calls"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Prints the row; how many calls it made, and its own wall time in milliseconds.
fn measure(world: &World, words: &[&str], in_project: bool) -> (usize, f64) {
    let (mut whole, mut alone, mut count) = (Vec::new(), Vec::new(), 0);
    for round in 0..=ROUNDS {
        let cost = run(&mut world.command(words, in_project));
        let calls = world.take_calls();
        let theirs = calls
            .iter()
            .map(|call| run(world.environment(Command::new(world.at("bin/createos")).args(call))))
            .sum();
        drop(world.take_calls());
        // The first run only warms the cache.
        if round > 0 {
            whole.push(cost);
            alone.push(theirs);
        }
        count = calls.len();
    }
    let (whole, alone) = (median(whole), median(alone));
    println!("| {} | {count} | {whole:.1} | {alone:.1} | {:.1} |", words.join(" "), whole - alone);
    (count, whole - alone)
}

/// Milliseconds that a program takes.
fn run(command: &mut Command) -> f64 {
    let began = Instant::now();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    began.elapsed().as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Passes much output through; MB a second, and the most memory that any program took for it, in KiB.
fn stream(world: &World) -> (f64, i64) {
    let began = Instant::now();
    let mut command = world.command(&["cos", "run", "true"], true);
    let mut child = command.env(PRINTS, OUTPUT.to_string()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdout, mut buffer, mut total) = (child.stdout.take().unwrap(), vec![0; 1 << 16], 0_u64);
    loop {
        match stdout.read(&mut buffer).unwrap() {
            0 => break,
            count => total += count as u64,
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(total, OUTPUT / ON_A_LINE * ON_A_LINE);
    let took = began.elapsed().as_secs_f64();
    // SAFETY: plain data, which the call fills.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage), 0);
        usage
    };
    (total as f64 / 1e6 / took, usage.ru_maxrss)
}
