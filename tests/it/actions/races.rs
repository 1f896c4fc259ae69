//! Two presses, twenty presses, a pane that is closed, a process that is killed, a box that comes late.

use super::world::{LONG, World, typed};
use crate::support::{eventually, outcome, program};
use serde_json::json;
use std::path::Path;

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
    let pane = world.box_pane();
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
    // In the create call, with a box, with its upload, with its base, with its agent, and all but started.
    let moments = ["create", "get", "push", "exec", "exec with MISSING", "process start"];
    for moment in moments {
        let mut world = World::new();
        world.script("hold", json!(moment));
        let start = world.begin("start");
        let word = moment.rsplit(' ').next().expect("a word");
        let called = || world.calls().iter().any(|call| call["argv"].to_string().contains(word));
        eventually(moment, LONG, || called() && world.boxes().len() == 1);
        world.kill("provision");
        world.script("hold", json!(null));
        let _ = world.wait(&start).fails("the pane was closed before the agent ran");
        let _ = world.invoke("info").fails("no box");
        eventually(&format!("{moment}: no box is left"), 2 * LONG, || world.boxes().is_empty());
        eventually(&format!("{moment}: no record is left"), 2 * LONG, || world.records().is_empty());
    }
}

#[test]
fn a_box_that_comes_after_its_create_call_failed_is_deleted() {
    let mut world = World::new();
    world.script("times", json!({ "create_late": 1 }));
    let failed = world.invoke("start").fails("request failed with status 504");
    assert!(failed["error"].as_str().unwrap().contains("may still come"), "{failed}");
    assert!(failed["fix"].as_str().unwrap().contains("createos-sandbox herdr boxes"), "{failed}");
    let pane = world.pane_ids().last().unwrap().clone();
    world.sees(&pane, "may still come: it is looked for, and deleted then");
    world.script("fail", json!([{ "verb": "list", "code": "server_error", "message": "the moon is down" }]));
    world.late_boxes_come();
    let asked = world.calls_of("list").len();
    eventually("it is looked for in spite of that", LONG, || world.calls_of("list").len() > asked + 1);
    world.script("fail", json!([]));
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
    assert!(world.pane_ids().contains(&pane), "its failure is there to be read");
}

#[test]
fn a_box_that_comes_when_nobody_looks_for_it_any_more_is_still_ours() {
    let mut world = World::new();
    world.script("times", json!({ "create_late": 1 }));
    let _ = world.invoke("start").fails("may still come");
    eventually("it is looked for", LONG, || world.runs("cleanup"));
    world.kill("cleanup");
    let name = world.box_name();
    let pane = world.pane_ids()[0].clone();
    for told in ["run the same again", "is not there, and is forgotten"] {
        let deleted = outcome(typed(&world, &pane, &["herdr", "delete", &name])).success();
        assert!(deleted.stdout.contains(told), "{deleted:?}");
    }
    assert!(world.records().is_empty());
    // Each of them had gone on with the search.
    world.kill("cleanup");
    world.late_boxes_come();
    assert_eq!(world.boxes().len(), 1);
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains(&name), "{pruned:?}");
    assert!(world.boxes().is_empty());
}

/// A world in which packing does not end while the home has a file `slow`: git lists and lists.
pub fn packing() -> World {
    let slow = "#!/bin/sh\ncase $* in *ls-files*) while [ -e \"$HOME/slow\" ]; do sleep 0.05; done;; esac\n";
    World::with(json!({ "agent": "shell" }), |home| {
        let git = outcome(home.command_of(Path::new("/bin/sh"), &["-c", "command -v git"])).success();
        home.write("slow", "");
        program(&home, "bin/git", &format!("{slow}exec {} \"$@\"\n", git.stdout.trim()));
        home
    })
}

#[test]
fn a_start_that_is_killed_before_its_create_call_leaves_nothing() {
    let world = packing();
    let start = world.begin("start");
    eventually("it packs", LONG, || world.runs("provision") && world.runs("ls-files"));
    world.kill("provision");
    let _ = world.wait(&start).fails("the pane was closed before the agent ran");
    eventually("no record is left", LONG, || world.records().is_empty());
    assert!(world.calls().is_empty(), "nobody was asked for a box: {:?}", world.calls());
}

/// A start whose box is made, with both of its processes killed: nobody was told to clean up.
fn abandoned() -> World {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("get"));
    let _ = world.begin("start");
    eventually("the box is there", LONG, || !world.calls_of("get").is_empty());
    world.kill("start");
    world.kill("provision");
    world.script("hold", json!(null));
    assert!(!world.runs("cleanup") && world.boxes().len() == 1);
    world
}

#[test]
fn the_next_action_finishes_a_start_of_which_nobody_is_left() {
    let world = abandoned();
    let _ = world.invoke("info").fails("no box");
    eventually("no box is left", LONG, || world.boxes().is_empty());
    eventually("no record is left", LONG, || world.records().is_empty());
}

#[test]
fn a_start_after_one_of_which_nobody_is_left_starts_a_box() {
    let mut world = abandoned();
    let left = world.boxes()[0]["id"].clone();
    // The clean-up of it takes its time, and is no start that runs.
    world.script("hold", json!("rm"));
    let started = world.invoke("start").ok();
    assert_eq!(started["result"], "started", "{started}");
    world.script("hold", json!(null));
    eventually("the other box is gone", LONG, || world.boxes().iter().all(|listed| listed["id"] != left));
    eventually("its record, too", LONG, || world.records().len() == 1);
    assert_eq!(world.boxes()[0]["id"], started["boxId"]);
}

#[test]
fn the_list_of_boxes_finishes_a_start_of_which_nobody_is_left() {
    let world = abandoned();
    let _ = world.home.run(&["herdr", "boxes"]).success();
    eventually("no box is left", LONG, || world.boxes().is_empty());
    eventually("no record is left", LONG, || world.records().is_empty());
}

#[test]
fn the_startup_hook_finishes_a_start_of_which_nobody_is_left() {
    let mut world = abandoned();
    world.crash();
    world.serve();
    eventually("no box is left", LONG, || world.boxes().is_empty());
    eventually("no record is left", LONG, || world.records().is_empty());
}

#[test]
fn a_pane_that_is_closed_cleans_up_by_itself() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("create"));
    let _ = world.begin("start");
    eventually("the box is there", LONG, || world.boxes().len() == 1);
    // Neither the start that waits, nor another action, nor the hook is left to do it.
    world.kill("start");
    let pane = world.box_pane();
    world.herdr(&["pane", "close", &pane]);
    eventually("its process is gone", LONG, || !world.runs("provision"));
    world.script("hold", json!(null));
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn who_closes_the_pane_of_a_start_gets_no_popup_for_it() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("push"));
    let start = world.begin_press("start");
    eventually("it uploads", LONG, || !world.calls_of("push").is_empty());
    let pane = world.box_pane();
    world.herdr(&["pane", "close", &pane]);
    world.script("hold", json!(null));
    let _ = world.wait(&start).fails("the pane was closed");
    assert_eq!(world.popup(), None, "what is typed next goes where it was meant to go");
    eventually("the box is gone", LONG, || world.boxes().is_empty());
}
