//! Another agent than that of the settings: by an action of its own, or chosen in a popup.

use super::world::{LONG, World, typed};
use crate::support::{eventually, outcome};
use serde_json::json;

#[test]
fn each_agent_has_an_action_and_the_settings_stay() {
    let world = World::with_config(json!({ "agent": "codex" }));
    let started = world.invoke("start-shell").ok();
    assert_eq!((&started["result"], &started["agent"]), (&json!("started"), &json!("shell")));
    world.answers(&world.box_pane(), "it ", "runs");
    let pane = world.pane_ids().remove(0);
    let wrong = outcome(typed(&world, &pane, &["herdr", "start", "--agent", "bash"]));
    wrong.fails(1, "unknown agent \"bash\"");
    let config = world.home.read(".config/herdr/plugins/config/createos.sandbox/config.json");
    assert_eq!(config, r#"{"agent":"codex"}"#);
}

#[test]
fn the_popup_lists_the_agents_with_the_configured_one_first_and_enter_starts_it() {
    let world = World::new();
    let start = world.begin("start-menu");
    world.popup_says("> Shell");
    world.popup_says("Claude Code");
    world.popup_says("Enter starts, q leaves");
    world.types_in_popup("\r");
    let started = world.wait(&start).ok();
    assert_eq!((&started["result"], &started["agent"]), (&json!("started"), &json!("shell")));
    world.popup_closes();
    assert_eq!(world.boxes().len(), 1);
    let locks = std::fs::read_dir(world.state_folder().join("locks")).expect("the locks");
    let left = locks
        .filter(|entry| entry.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().starts_with("menu-")));
    assert_eq!(left.count(), 0, "nothing of the popup is left");
}

#[test]
fn a_popup_that_is_left_starts_nothing() {
    let world = World::new();
    let start = world.begin("start-menu");
    world.popup_says("> Shell");
    world.types_in_popup("j");
    world.popup_says("> Claude Code");
    world.types_in_popup("q");
    assert_eq!(world.wait(&start).ok()["result"], "declined");
    eventually("it closes", LONG, || world.popup().is_none());
    assert!(world.boxes().is_empty() && world.records().is_empty());
}
