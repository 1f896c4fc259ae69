//! Boxes that are on their way when `create` and `resume` have answered.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

#[test]
fn a_box_on_its_way_is_waited_for_and_is_in_the_list_meanwhile() {
    let mut world = World::new();
    world.script("slow", json!(1_000));
    let start = world.begin("start");
    eventually("it is asked for again and again", LONG, || world.calls_of("get").len() >= 3);
    // The list that the official program shows by itself leaves such a box out (docs/measured/createos-cli.md 4.6).
    let name = world.box_name();
    let listed = world.home.run(&["herdr", "boxes"]).success();
    let row = listed.stdout.lines().find(|line| line.contains(&name)).unwrap_or_default();
    assert!(row.contains("creating"), "{listed:?}");
    world.script("slow", json!(0));
    assert_eq!(world.wait(&start).ok()["result"], "started");
    let pane = world.box_pane();
    world.answers(&pane, "it ", "is up");

    for action in ["resume", "attach"] {
        let _ = world.invoke("pause").ok();
        world.sees(&pane, "the box is paused");
        world.script("slow", json!(4));
        let asked = world.calls_of("get").len();
        let _ = world.invoke(action).ok();
        assert!(world.calls_of("get").len() > asked + 4, "{action} looked until it ran");
        world.script("slow", json!(0));
        let _ = world.invoke("attach").ok();
        world.answers(&pane, action, "works");
    }
}

#[test]
fn a_box_that_fails_on_its_way_ends_the_wait_at_once() {
    let mut world = World::new();
    world.script("ends_as", json!("failed"));
    let failed = world.invoke("start").fails("waiting for the box failed: it is failed");
    assert!(failed["error"].as_str().unwrap().contains("was deleted, nothing is billed"), "{failed}");
    assert_eq!(world.calls_of("get").len(), 2, "there is nothing to wait for but its deletion");
    assert!(world.boxes().is_empty() && world.records().is_empty());

    world.script("ends_as", json!(null));
    let (id, _) = world.start();
    let _ = world.invoke("pause").ok();
    world.script("ends_as", json!("failed"));
    world.script("slow", json!(2));
    for _ in 0..2 {
        let failed = world.invoke("attach").fails("failed");
        assert!(failed["fix"].as_str().unwrap().contains(&format!("createos sandbox get {id}")), "{failed}");
        assert_eq!(world.records()[0]["phase"], "ready", "its mapping stays");
    }
}
