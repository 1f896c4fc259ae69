//! The focus: a pane that opens takes it while it is still where the key was pressed, and never later.

use super::world::{LONG, World};
use crate::support::{eventually, program};
use serde_json::json;

fn focused(world: &World) -> String {
    let pane = world.panes().into_iter().find(|pane| pane["focused"] == true).expect("one has it");
    pane["pane_id"].as_str().expect("an id").to_owned()
}

/// A second pane beside the first, which has the focus then.
fn beside(world: &World, first: &str) -> String {
    let split = world.herdr(&["pane", "split", first, "--direction", "right", "--focus"]);
    let pane = split["pane"]["pane_id"].as_str().expect("an id").to_owned();
    eventually("it has the focus", LONG, || focused(world) == pane);
    pane
}

/// A paused box whose pane was closed, and the pane that is left.
fn paused_without_a_pane() -> (World, String) {
    let world = World::new();
    let first = world.pane_ids()[0].clone();
    let (_, pane) = world.start();
    let _ = world.invoke("pause").ok();
    world.herdr(&["pane", "close", &pane]);
    eventually("its process is gone", LONG, || !world.runs("provision"));
    (world, first)
}

#[test]
fn an_attach_opens_its_pane_at_once_and_shows_there_that_it_brings_the_box_back() {
    let (mut world, first) = paused_without_a_pane();
    world.script("hold", json!("resume"));
    let attach = world.begin_press("attach");
    eventually("the pane opens before the box runs", LONG, || world.panes().len() == 2);
    let pane = world.pane_ids().into_iter().find(|pane| *pane != first).expect("a new one");
    world.sees(&pane, &format!("Shell in {}: bringing it back …", world.box_name()));
    assert_eq!(focused(&world), pane);
    // Whoever goes on meanwhile keeps the keyboard.
    world.focus_left(&first);
    world.script("hold", json!(null));
    let _ = world.wait(&attach).ok();
    world.answers(&pane, "it ", "runs");
    assert_eq!(focused(&world), first);
}

#[test]
fn who_has_gone_on_before_the_pane_opens_keeps_the_focus() {
    let (mut world, first) = paused_without_a_pane();
    let _here = beside(&world, &first);
    world.script("hold", json!("get"));
    let attach = world.begin_press("attach");
    eventually("it is asked for", LONG, || world.runs("get"));
    world.focus_left(&first);
    world.script("hold", json!(null));
    let _ = world.wait(&attach).ok();
    world.answers(&world.box_pane(), "it ", "runs");
    assert_eq!(focused(&world), first);
}

#[test]
fn who_goes_on_while_the_box_is_made_keeps_the_focus() {
    let mut world = World::new();
    let first = world.pane_ids()[0].clone();
    let here = beside(&world, &first);
    world.settles();
    world.script("hold", json!("create"));
    let start = world.begin_press("start");
    eventually("the box is asked for", LONG, || !world.calls_of("create").is_empty());
    assert_eq!(focused(&world), world.box_pane());
    world.focus_left(&here);
    assert_eq!(focused(&world), here);
    world.script("hold", json!(null));
    let _ = world.wait(&start).ok();
    eventually("the agent runs", LONG, || !world.agent_starts().is_empty());
    assert_eq!(focused(&world), here);
}

#[test]
fn a_start_takes_no_focus_from_who_has_gone_on() {
    let world = World::new();
    let first = world.pane_ids()[0].clone();
    let _here = beside(&world, &first);
    world.settles();
    let waits = "while [ -e \"$HOME/slow\" ]; do sleep 0.05; done";
    let git = "for g in /usr/local/bin/git /usr/bin/git /bin/git; do [ -x $g ] && exec $g \"$@\"; done";
    program(&world.home, "bin/git", &format!("#!/bin/sh\n{waits}\n{git}\n"));
    world.home.write("slow", "");
    let start = world.begin_press("start");
    eventually("it looks at the worktree", LONG, || world.runs("rev-parse"));
    world.focus_left(&first);
    std::fs::remove_file(world.home.path().join("slow")).expect("the file");
    let started = world.wait(&start).ok();
    assert_ne!(started["pane"], first.as_str());
    assert_eq!(focused(&world), first);
}
