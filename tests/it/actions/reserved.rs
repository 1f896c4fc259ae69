//! A reservation has two holders, the start and its pane: it is free when both are gone.

use super::world::{LONG, World, typed};
use crate::support::{eventually, outcome, result_line};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A start whose box is being made, its pane and the one in which it was asked for.
fn under_way(world: &mut World) -> (String, String) {
    world.settles();
    let source = world.pane_ids()[0].clone();
    world.script("hold", json!("create"));
    let _ = world.begin("start");
    eventually("the box is there", LONG, || world.boxes().len() == 1);
    (source, world.box_pane())
}

/// The result line of an action that a person types in a pane.
fn in_pane(world: &World, pane: &str, action: &str) -> Value {
    result_line(&outcome(typed(world, pane, &["herdr", action])).stdout)
}

#[test]
fn a_start_whose_pane_lives_is_not_doubled_when_the_action_is_killed() {
    let mut world = World::new();
    let (source, pane) = under_way(&mut world);
    world.kill("start");
    eventually("the action is gone", LONG, || !world.runs("start"));
    for from in [&source, &pane] {
        let again = in_pane(&world, from, "start");
        assert_eq!((&again["ok"], &again["result"]), (&json!(true), &json!("already-starting")), "{again}");
        assert_eq!((&again["pane"], &again["agent"]), (&json!(pane), &json!("shell")), "{again}");
    }
    world.script("hold", json!(null));
    eventually("it comes up all the same", LONG, || world.records()[0]["phase"] == "ready");
    world.answers(&pane, "all", "well");
    assert_eq!((world.boxes().len(), world.records().len()), (1, 1), "{:?}", world.records());
    let info = in_pane(&world, &pane, "info");
    assert_eq!(info["status"], "running", "{info}");
}

#[test]
fn a_start_whose_action_lives_is_not_doubled_when_its_pane_is_killed() {
    let mut world = World::new();
    let (source, _) = under_way(&mut world);
    // It still has to learn of the end of its pane.
    world.signal("start", Signal::STOP);
    world.kill("provision");
    eventually("its pane is gone", LONG, || world.panes().len() == 1);
    let again = in_pane(&world, &source, "start");
    assert_eq!((&again["ok"], &again["result"]), (&json!(true), &json!("already-starting")), "{again}");
    let _ = in_pane(&world, &source, "info");
    assert!(!world.runs("cleanup"), "the record is the start's to finish");
    assert_eq!((world.calls_of("create").len(), world.records().len()), (1, 1));
    world.signal("start", Signal::CONT);
    world.script("hold", json!(null));
    eventually("its box is gone", LONG, || world.boxes().is_empty());
    eventually("its record is gone", LONG, || world.records().is_empty());
    let (_, pane) = world.start();
    world.answers(&pane, "an", "other");
    assert_eq!(world.boxes().len(), 1);
}
