//! Two presses, twenty presses, a pane that is closed, a process that is killed.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

#[test]
fn twenty_starts_at_once_make_one_box() {
    let mut world = World::new();
    world.script("hold", json!("create"));
    let logs: Vec<_> = (0..20).map(|_| world.begin("start")).collect();
    let ended = || logs.iter().filter(|log| world.has_ended(log)).count();
    eventually("all but one have ended", LONG, || ended() == 19);
    world.script("hold", json!(null));
    let results: Vec<_> = logs.iter().map(|log| world.wait(log).ok()).collect();
    let started = results.iter().filter(|result| result["result"] == "started").count();
    let ignored = results.iter().filter(|result| result["result"] == "already-starting").count();
    assert_eq!((started, ignored), (1, 19), "{results:#?}");
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn a_second_press_from_either_pane_says_what_runs_where() {
    let mut world = World::new();
    world.script("hold", json!("create"));
    let first = world.begin("start");
    eventually("the new pane has the focus", LONG, || {
        world.records().first().is_some_and(|record| record["pane"].is_string()) && world.panes().len() == 2
    });
    // The focus is in the new pane now.
    let again = world.invoke("start").ok();
    assert_eq!(again["result"], "already-starting", "{again}");
    assert_eq!(again["pane"], world.records()[0]["pane"]);
    world.script("hold", json!(null));
    assert_eq!(world.wait(&first).ok()["result"], "started");
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn closing_the_pane_of_a_start_deletes_its_box() {
    let mut world = World::new();
    world.script("hold", json!("create"));
    let start = world.begin("start");
    eventually("the box is there", LONG, || world.boxes().len() == 1);
    let pane = world.records()[0]["pane"].as_str().unwrap().to_owned();
    world.herdr(&["pane", "close", &pane]);
    eventually("its process is gone", LONG, || !world.runs("provision"));
    world.script("hold", json!(null));
    world.wait(&start).fails("the pane was closed before the agent ran");
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn a_crash_of_herdr_in_the_middle_of_a_start_leaves_no_box_and_no_deaf_key() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("create"));
    let _ = world.begin("start");
    eventually("the box is there", LONG, || world.boxes().len() == 1);
    world.crash();
    eventually("its process is gone", LONG, || !world.runs("provision"));
    world.script("hold", json!(null));
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
    world.serve();
    if world.panes().is_empty() {
        // Herdr saves with a delay: it may have forgotten the workspace.
        let top = world.repo.root().display().to_string();
        world.herdr(&["workspace", "create", "--cwd", &top, "--focus"]);
    }
    let _ = world.start();
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn a_start_that_is_killed_at_any_step_is_finished_by_the_next_action() {
    // The moments: in the create call, with a box, with its upload, with its base, with its agent.
    for moment in ["create", "get", "push", "exec", "process start"] {
        let mut world = World::new();
        world.script("hold", json!(moment));
        let start = world.begin("start");
        eventually(moment, LONG, || match moment {
            "create" => world.boxes().len() == 1,
            "process start" => !world.calls_of("process").is_empty(),
            verb => !world.calls_of(verb).is_empty(),
        });
        world.kill("provision");
        world.script("hold", json!(null));
        let _ = world.wait(&start).fails("the pane was closed before the agent ran");
        let _ = world.invoke("info").fails("no box");
        eventually(&format!("{moment}: no box is left"), 2 * LONG, || world.boxes().is_empty());
        eventually(&format!("{moment}: no record is left"), 2 * LONG, || world.records().is_empty());
    }
}
