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
    world.comes_back(&pane);
    eventually("it runs", LONG, || world.boxes()[0]["status"] == "running");
    world.answers(&pane, "re", "sumed");
    let _ = world.invoke("pause").ok();
    world.sees(&pane, "the box is paused");
    let _ = world.invoke("attach").ok();
    world.answers(&pane, "wo", "ken");
    assert!(!world.screen(&pane).contains("without activity"), "it was paused on purpose");
    // A resume wakes the pane that holds.
    let _ = world.invoke("pause").ok();
    eventually("it holds", LONG, || world.screen(&pane).matches("the box is paused").count() == 3);
    let _ = world.invoke("resume").ok();
    world.answers(&pane, "by ", "itself");
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
    assert_eq!(world.calls_of("resume").len(), 2, "what it can do is tried, not told from its version");
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

#[test]
fn a_box_that_is_idle_pauses_by_itself_and_its_pane_says_so() {
    let config = json!({ "agent": "shell", "provider": "local", "autoPause": "1m" });
    let world = World::with(config, |home| home.var("CREATEOS_SANDBOX_IDLE_LOOK", "100"));
    let (id, pane) = world.start();
    world.answers(&pane, "at", "work");
    let activity = world.home.path().join(".local/share/createos-sandbox/boxes").join(&id).join("activity");
    // Nobody asks for the box here: it is its own keeper's clock that looks. The output of a moment ago is
    // activity, so the box is made older until that is heard no more.
    eventually("the pane says so", LONG, || {
        let file = std::fs::File::options().append(true).open(&activity).expect("it was used");
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(61)).expect("a time");
        world.screen(&pane).contains("it pauses after 1m without activity")
    });
    world.comes_back(&pane);
    world.answers(&pane, "back", "again");
}

#[test]
fn where_no_pane_shows_titles_a_key_answers_in_a_popup() {
    let world = World::new();
    let (_, pane) = world.start();
    let name = world.box_name();
    let _ = world.press("pause").ok();
    assert_eq!(world.popup(), None, "two panes have a border for a title");
    world.sees(&pane, "the box is paused");
    let moved = world.herdr(&["pane", "move", &pane, "--new-workspace"]);
    let alone = moved["move_result"]["pane"]["pane_id"].as_str().expect("an id").to_owned();
    eventually("the mapping follows the pane", LONG, || world.records()[0]["pane"] == alone);
    let _ = world.press("resume").ok();
    world.popup_says(&format!("box {name} runs"));
    // What is typed at once was meant for the pane below.
    world.popup_says("any key closes this");
    world.types_in_popup("x");
    world.popup_closes();
}
