//! What a start says about the network of its box.

use super::world::World;
use serde_json::json;

#[test]
fn a_rule_for_this_machine_starts_no_box_on_createos() {
    let world = World::with_config(json!({ "agent": "shell", "egress": ["*", "localhost:5432"] }));
    let error = world.press("start").fails("config.json:1:")["error"].to_string();
    assert!(error.contains("no box on CreateOS can reach"), "{error}");
    assert_eq!(world.boxes().len(), 0);
}

#[test]
fn a_shared_network_is_said_at_each_start() {
    let world = World::with_config(json!({ "agent": "shell", "provider": "local", "network": "host" }));
    let first = world.panes()[0]["pane_id"].as_str().expect("a pane").to_owned();
    let says = || {
        let (id, pane) = world.start();
        world.sees(&pane, "this machine's network is the box's too");
        let view = world.boxes().into_iter().find(|view| view["id"] == id.as_str()).expect("the box");
        assert_eq!((&view["network"], &view["nested"]), (&json!("host"), &json!(false)));
    };
    says();
    world.focus_left(&first);
    says();
}

#[test]
fn the_first_start_after_the_upgrade_says_what_is_new_and_the_second_no_more() {
    let world = World::with_config(json!({ "agent": "shell", "provider": "local" }));
    let gone = json!([{
        "id": "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV", "name": "gone", "shape": "s-1vcpu-1gb",
        "created_at": "2025-01-01T00:00:00Z", "destroyed_at": "2025-01-02T00:00:00Z",
    }]);
    world.home.write(".local/share/createos-sandbox/boxes/destroyed.json", gone.to_string());
    let first = world.panes()[0]["pane_id"].as_str().expect("a pane").to_owned();
    let (_, pane) = world.start();
    world.sees(&pane, "has a network of its own now");
    for words in ["--egress '*' --egress localhost:5432", "--network host"] {
        assert!(world.screen(&pane).contains(words), "{}", world.screen(&pane));
    }
    world.focus_left(&first);
    let (_, pane) = world.start();
    world.sees(&pane, "Ctrl-] detaches");
    assert!(!world.screen(&pane).contains("of its own now"), "{}", world.screen(&pane));
}
