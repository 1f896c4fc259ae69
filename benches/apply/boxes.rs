//! The whole action is measured, as a key runs it, over a real local box: 10 changed files of 20,000, the
//! same beside a `node_modules` of 100,000 entries here, and one file of 200 MB. Medians of runs in turn.

use crate::actions::world::{World, typed};
use crate::support::{Repo, binary};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each case; the median counts.
const ROUNDS: usize = 5;
/// How long an apply of few changes may take beside the box's own listing.
const GOAL: Duration = Duration::from_millis(1500);

pub fn main() {
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it builds.
    if std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    // The stand-ins are examples, which `cargo bench` does not build.
    let examples = ["build", "--release", "--locked", "--quiet", "--examples"];
    assert!(Command::new(env!("CARGO")).args(examples).status().unwrap().success());
    let mut world = World::new();
    let log = world.home.path().join("provider.log");
    let provider = world.home.write("provider", wrapper(&log));
    std::fs::set_permissions(&provider, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.script("provider", provider.to_str().unwrap().into());

    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("{cores} cores, medians of {ROUNDS} runs\n");
    println!("| case | apply | the box's listing | beside it | peak memory |");
    println!("|---|---:|---:|---:|---:|");
    let repo = Repo::init(&world.home.path().join("many"));
    for file in 0..20_000 {
        let text = format!("line {file}\n").repeat(60);
        repo.write(&format!("src/{}/{file}.txt", file / 50), text);
    }
    repo.commit("many");
    let (id, pane) = start(&world, &repo);
    let case = Case { world: &world, repo: &repo, pane: &pane, log: &log };
    let edit = |round: usize| {
        let edit = format!(
            "cd /workspace; for d in 1 2 3 4 5 6 7 8 9 10; do echo {round} >> src/$d/$((d * 50)).txt; done"
        );
        world.in_box(&id, &edit);
    };
    let few = case.measure("10 of 20,000 files", edit);
    repo.write(".git/info/exclude", "node_modules/\n");
    for package in 0..10_000 {
        for file in 0..9 {
            repo.write(&format!("node_modules/p{package}/{file}.js"), "");
        }
        symlink("../p1/1.js", repo.root().join(format!("node_modules/p{package}/link"))).unwrap();
    }
    let beside = case.measure("the same beside 100,000 ignored entries here", edit);
    let large = |_| drop(world.in_box(&id, "head -c 200000000 /dev/urandom > /workspace/large"));
    let _ = case.measure("1 file of 200 MB", large);
    for (beside, what) in [(few, "few changes"), (beside, "beside node_modules")] {
        let met = if beside <= GOAL { "met" } else { "MISSED" };
        println!(
            "\n{what}: {:.2} s beside the listing, the goal of {:.1} s is {met}",
            beside.as_secs_f64(),
            GOAL.as_secs_f64()
        );
    }
}

/// A provider that notes how long each call takes.
fn wrapper(log: &Path) -> String {
    format!(
        "#!/bin/bash\nbegan=$EPOCHREALTIME\n{} \"$@\"\ncode=$?\nended=$EPOCHREALTIME\n\
         echo \"$((${{ended/./}} - ${{began/./}})) $*\" | head -n 1 >> {}\nexit $code\n",
        binary().display(),
        log.display()
    )
}

fn start(world: &World, repo: &Repo) -> (String, String) {
    world.herdr(&["workspace", "create", "--cwd", repo.root().to_str().unwrap(), "--focus"]);
    world.start()
}

struct Case<'a> {
    world: &'a World,
    repo: &'a Repo,
    pane: &'a str,
    log: &'a Path,
}

impl Case<'_> {
    /// Edits and applies; prints a row. The time beside the box's listing.
    fn measure(&self, name: &str, edit: impl Fn(usize)) -> Duration {
        let (mut walls, mut listings, mut besides, mut peak) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for round in 0..ROUNDS {
            edit(round);
            std::fs::write(self.log, "").unwrap();
            let mut command = typed(self.world, self.pane, &["herdr", "apply"]);
            command.current_dir(self.repo.root()).stdout(Stdio::null());
            let began = Instant::now();
            let mut child = command.spawn().unwrap();
            let status = loop {
                peak = peak.max(resident(child.id()));
                if let Some(status) = child.try_wait().unwrap() {
                    break status;
                }
                std::thread::sleep(Duration::from_millis(5));
            };
            let wall = began.elapsed();
            assert!(status.success(), "{status}");
            // The first script that runs in the box lists and packs.
            let calls = std::fs::read_to_string(self.log).unwrap();
            let listing = calls.lines().find(|line| line.contains(" exec ")).unwrap();
            let listing = Duration::from_micros(listing.split(' ').next().unwrap().parse().unwrap());
            walls.push(wall);
            listings.push(listing);
            besides.push(wall.saturating_sub(listing));
        }
        let (wall, listing, beside) = (median(walls), median(listings), median(besides));
        println!(
            "| {name} | {:.2} s | {:.2} s | {:.2} s | {:.0} MiB |",
            wall.as_secs_f64(),
            listing.as_secs_f64(),
            beside.as_secs_f64(),
            peak as f64 / 1024.0
        );
        beside
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The highest resident memory of a process so far, in KiB, as Linux shows it.
fn resident(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let high = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    high.and_then(|rest| rest.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}
