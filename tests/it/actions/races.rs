//! Two presses, twenty presses, a pane that is closed, a process that is killed.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;
use std::time::Duration;

#[test]
fn twenty_starts_at_once_make_one_box() {
    let mut world = World::new();
    world.script("slow_create", json!(3_000));
    let logs: Vec<_> = (0..20).map(|_| world.begin("start")).collect();
    let results: Vec<_> = logs.iter().map(|log| world.wait(log).ok()).collect();
    let started = results.iter().filter(|result| result["result"] == "started").count();
    let ignored = results.iter().filter(|result| result["result"] == "already-starting").count();
    assert_eq!((started, ignored), (1, 19), "{results:#?}");
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn a_second_press_from_either_pane_says_what_runs_where() {
    let mut world = World::new();
    world.script("slow_create", json!(3_000));
    let first = world.begin("start");
    eventually("the new pane has the focus", LONG, || {
        world.records().first().is_some_and(|record| record["pane"].is_string()) && world.panes().len() == 2
    });
    // The focus is in the new pane now.
    let again = world.invoke("start").ok();
    assert_eq!(again["result"], "already-starting", "{again}");
    assert_eq!(again["pane"], world.records()[0]["pane"]);
    assert_eq!(world.wait(&first).ok()["result"], "started");
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn closing_the_pane_of_a_start_deletes_its_box() {
    let mut world = World::new();
    world.script("slow_create", json!(2_000));
    let start = world.begin("start");
    eventually("the create call has begun", LONG, || !world.calls_of("create").is_empty());
    eventually("the box is there", LONG, || world.boxes().len() == 1);
    let pane = world.records()[0]["pane"].as_str().unwrap().to_owned();
    world.herdr(&["pane", "close", &pane]);
    world.wait(&start).fails("the pane was closed before the agent ran");
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn a_start_that_is_killed_at_any_step_is_finished_by_the_next_action() {
    // The moments: in the create call, with a box, with its upload, with its base.
    for moment in ["create", "wait", "push", "exec"] {
        let mut world = World::new();
        if moment == "create" {
            world.script("slow_create", json!(2_000));
        }
        let start = world.begin("start");
        eventually(moment, LONG, || match moment {
            "create" => world.boxes().len() == 1,
            "wait" => world.records().first().is_some_and(|record| record["boxId"].is_string()),
            verb => !world.calls_of(verb).is_empty(),
        });
        kill(&world, "provision");
        let _ = world.wait(&start).fails("the pane was closed before the agent ran");
        let _ = world.invoke("info").fails("no box");
        eventually(&format!("{moment}: no box is left"), 2 * LONG, || world.boxes().is_empty());
        eventually(&format!("{moment}: no record is left"), 2 * LONG, || world.records().is_empty());
    }
}

/// Kills the process of this home that runs `herdr WORD`, as the kernel does that is out of memory.
fn kill(world: &World, word: &str) {
    let home = format!("HOME={}", world.home.path().display());
    for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let is_word = read("cmdline").split(|byte| *byte == 0).any(|own| own == word.as_bytes());
        if is_word && read("environ").split(|byte| *byte == 0).any(|pair| pair == home.as_bytes()) {
            let pid =
                entry.file_name().to_string_lossy().parse().ok().and_then(rustix::process::Pid::from_raw);
            rustix::process::kill_process(pid.expect("a process id"), rustix::process::Signal::KILL)
                .expect("it is ours");
            return;
        }
    }
    std::thread::sleep(Duration::from_millis(10));
    panic!("no process runs {word}");
}
