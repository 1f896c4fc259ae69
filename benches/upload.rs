//! How fast a worktree is packed, beside `git ls-files -z | tar -czf`: `cargo bench --bench upload`.
//!
//! It makes a tree of 20,000 text files (about 200 MB) and two of small files (20,000 and 100,000),
//! runs both programs in turn, and prints a table of medians. Nothing is judged here.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may panic, and it prints"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each program; the median counts.
const ROUNDS: usize = 5;

fn main() {
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it builds.
    if std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    let dir = tempfile::Builder::new().prefix("upload-bench-").tempdir().unwrap();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("{cores} cores, {}, medians of {ROUNDS} runs in turn\n", processor());
    let large = tree(&dir.path().join("large"), 20_000, 10_000);
    let few = tree(&dir.path().join("few"), 20_000, 600);
    let many = tree(&dir.path().join("many"), 100_000, 600);

    println!("| tree | program | wall | archive | peak memory |");
    println!("|---|---|---:|---:|---:|");
    let (ours, theirs) = (measure(&large, ours), measure(&large, theirs));
    row("20,000 files, 200 MB", "git ls-files \\| tar -czf", &theirs);
    row("", "createos-sandbox herdr upload", &ours);
    println!(
        "| | ratio | {:.3} | {:.3} | |",
        ours.wall.as_secs_f64() / theirs.wall.as_secs_f64(),
        ours.archive as f64 / theirs.archive as f64,
    );
    let (small, grown) = (measure(&few, self::ours), measure(&many, self::ours));
    row("20,000 small files", "createos-sandbox herdr upload", &small);
    row("100,000 small files", "createos-sandbox herdr upload", &grown);
    println!("| | growth | {:.2} | | |", grown.wall.as_secs_f64() / small.wall.as_secs_f64());
}

struct Measured {
    wall: Duration,
    archive: u64,
    peak: Option<u64>,
}

fn row(tree: &str, program: &str, measured: &Measured) {
    let peak = measured.peak.map_or("-".into(), |bytes| format!("{:.0} MiB", bytes as f64 / 1_048_576.0));
    let archive = measured.archive as f64 / 1e6;
    println!("| {tree} | {program} | {:.2} s | {archive:.1} MB | {peak} |", measured.wall.as_secs_f64());
}

/// The program under test, writing a file. Scanning is part of it.
fn ours(tree: &Path, archive: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_createos-sandbox"));
    command.args(["herdr", "upload", "--output"]).arg(archive).current_dir(tree);
    command
}

/// The yardstick.
fn theirs(tree: &Path, archive: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "git ls-files -z | tar --null --no-recursion -T - -czf \"$1\"", "sh"]);
    command.arg(archive).current_dir(tree);
    command
}

fn measure(tree: &Path, program: fn(&Path, &Path) -> Command) -> Measured {
    let archive = tree.with_extension("tgz");
    let mut walls = Vec::new();
    let mut peak = None;
    for round in 0..=ROUNDS {
        let mut command = program(tree, &archive);
        command.env("HOME", tree.parent().unwrap()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let started = Instant::now();
        let mut child = command.spawn().unwrap();
        let highest = watch(&mut child);
        // The first run only warms the cache.
        if round > 0 {
            walls.push(started.elapsed());
            peak = peak.max(highest);
        }
    }
    walls.sort();
    let size = std::fs::metadata(&archive).unwrap().len();
    std::fs::remove_file(&archive).unwrap();
    Measured { wall: walls[walls.len() / 2], archive: size, peak }
}

/// Waits for the end, and notes the highest resident memory that Linux shows for the process itself.
fn watch(child: &mut Child) -> Option<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        if let Ok(text) = std::fs::read_to_string(&status) {
            let high = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = high.and_then(|rest| rest.trim().split(' ').next()?.parse::<u64>().ok());
            peak = peak.max(kib.map(|kib| kib * 1024));
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or(std::env::consts::ARCH).to_owned()
}

/// A repository of text files of about this size, 50 a folder, all in the index.
fn tree(root: &Path, files: usize, size: usize) -> PathBuf {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ files as u64);
    let words: Vec<String> = (0..6000).map(|_| random.word()).collect();
    for file in 0..files {
        let folder = root.join(format!("src/{:03}/{:02}", file / 2500, file / 50 % 50));
        if file % 50 == 0 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        std::fs::write(folder.join(format!("{file:06}.txt")), random.text(&words, size)).unwrap();
    }
    for args in [&["init", "-q"][..], &["add", "-A"]] {
        assert!(Command::new("git").args(args).current_dir(root).status().unwrap().success());
    }
    root.to_path_buf()
}

/// A small generator (xorshift), so that every run packs the same tree.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end
    }

    fn word(&mut self) -> String {
        (0..2 + self.below(9))
            .map(|_| char::from(b"etaoinshrdlucmfwypvbgkqjxz"[self.below(26).min(self.below(26))]))
            .collect()
    }

    /// Lines as in source code: indentation, common words often, numbers now and then.
    fn text(&mut self, words: &[String], size: usize) -> String {
        let wanted = size / 2 + self.below(size);
        let mut text = String::with_capacity(wanted + 100);
        while text.len() < wanted {
            text.push_str(&"    ".repeat(self.below(5)));
            for _ in 0..2 + self.below(9) {
                let at = self.below(words.len()).min(self.below(words.len())).min(self.below(words.len()));
                let _ = match self.below(12) {
                    0 => write!(text, "{} ", self.below(100_000)),
                    1 => write!(text, "{}(", words[at]),
                    2 => write!(text, "{}.", words[at]),
                    3 => write!(text, "{} = ", words[at]),
                    _ => write!(text, "{} ", words[at]),
                };
            }
            text.push('\n');
        }
        text
    }
}
