//! Paused boxes: what their panes say, and how they come back.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

#[test]
fn a_paused_box_says_so_in_its_pane_and_enter_resumes_it() {
    let world = World::new();
    let (_, pane) = world.start();
    assert_eq!(world.invoke("pause").ok()["box"], world.records()[0]["box"]);
    world.sees(&pane, "the box is paused");
    assert_eq!(world.invoke("info").ok()["status"], "paused");
    assert_eq!(world.invoke("pause").ok()["ok"], true, "pausing a paused box is fine");
    world.key(&pane, "enter");
    eventually("it runs", LONG, || world.boxes()[0]["status"] == "running");
    world.answers(&pane, "re", "sumed");
    let _ = world.invoke("pause").ok();
    world.sees(&pane, "the box is paused");
    let _ = world.invoke("attach").ok();
    world.answers(&pane, "wo", "ken");
}

#[test]
fn old_builds_cannot_resume_and_the_reason_and_both_ways_out_are_told() {
    let mut world = World::new();
    let _ = world.start();
    let _ = world.invoke("pause").ok();
    world.script("version", json!("0.0.24"));
    for action in ["resume", "attach"] {
        let refused = world.invoke(action).fails("Content-Length is required");
        let fix = refused["fix"].as_str().unwrap();
        assert!(fix.contains("createos upgrade") && fix.contains("autoPause"), "{refused}");
    }
    assert!(world.calls_of("resume").is_empty(), "it was not even tried");
}

#[test]
fn the_question_before_a_delete_resumes_nothing() {
    let world = World::new();
    let _ = world.start();
    let _ = world.invoke("pause").ok();
    let _ = world.press("delete").ok();
    world.popup_says("unknown, the box is paused");
    assert_eq!(world.boxes()[0]["status"], "paused", "the question resumes nothing");
    world.types_in_popup("y");
    eventually("the box is deleted", LONG, || world.boxes().is_empty());
}
