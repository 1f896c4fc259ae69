//! Every box at a glance, and the ones that nobody needs any more.

use super::world::{LONG, World};
use crate::support::{Pty, eventually};
use serde_json::json;
use std::time::Duration;

#[test]
fn boxes_shows_thousands_of_rows_with_hostile_names_and_deletes_only_ours() {
    let mut world = World::new();
    let _ = world.start();
    let name = world.records()[0]["box"].as_str().unwrap().to_owned();
    world.script("other_rows", json!(5_000));
    let mut pty = Pty::spawn(world.home.command(&["herdr", "boxes"]), 24, 100);
    pty.expect("5,001 boxes", LONG);
    pty.expect(&name, LONG);
    assert!(!pty.text().contains("\u{1b}[2J"), "a name cleared the screen");
    pty.expect("x\\x1b[2J0", LONG);
    pty.send("d");
    pty.expect(&format!("delete {name} for ever?"), LONG);
    pty.send("n");
    pty.resize(10, 60);
    world.script("fail", json!([{ "verb": "list", "code": "server_error", "message": "the moon is down" }]));
    pty.expect("the moon is down", LONG);
    assert_eq!(world.boxes().len(), 1, "any other key keeps it");
    world.script("fail", json!([]));
    pty.send("d");
    std::thread::sleep(Duration::from_millis(600));
    pty.send("y");
    eventually("it is deleted", LONG, || world.boxes().is_empty());
    pty.expect("5,000 boxes", LONG);
    pty.send("d");
    pty.expect("made elsewhere", LONG);
    pty.send("q");
    assert!(pty.wait(LONG).success());
    assert!(world.calls_of("rm").iter().all(|argv| !argv.iter().any(|word| word.starts_with("sb-OTHER"))));
}

#[test]
fn prune_deletes_only_boxes_that_were_once_here_and_asks_first() {
    let mut world = World::new();
    let (id, _) = world.start();
    let (kept, _) = world.start();
    world.script("other_rows", json!(3));
    // The first mapping is lost; its box is still known as made here.
    let mut state = world.state();
    state["records"].as_array_mut().unwrap().retain(|record| record["boxId"] != id.as_str());
    std::fs::write(world.state_folder().join("state.json"), state.to_string()).unwrap();

    let _ = world.home.run(&["herdr", "prune"]).fails(1, "there is nobody to ask");
    assert_eq!(world.boxes().len(), 2);
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains("made elsewhere, and never deleted from here: 3 boxes"), "{pruned:?}");
    let left: Vec<_> = world.boxes().iter().map(|listed| listed["id"].clone()).collect();
    assert_eq!(left, [json!(kept)]);
}

#[test]
fn mappings_of_the_earlier_plugin_are_taken_over_and_a_corrupt_state_is_kept_aside() {
    let world = World::new();
    let made = world.local_box("hd-old-abc123");
    let pane = world.pane_ids()[0].clone();
    let panes = json!({ pane.clone(): {
        "box": "hd-old-abc123", "boxId": made, "agent": "shell", "bin": "/bin/bash", "processId": "proc_1",
        "local": world.repo.root(), "remote": "/workspace",
    }});
    let file = world.state_folder().join("panes.json");
    std::fs::write(&file, panes.to_string()).unwrap();
    let info = world.invoke("info").ok();
    assert_eq!(
        (&info["boxId"], &info["status"], &info["pane"]),
        (&json!(made), &json!("running"), &json!(pane))
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), panes.to_string(), "that file is left as it is");

    std::fs::write(world.state_folder().join("state.json"), "{ broken").unwrap();
    let told = world.invoke("info");
    assert!(told.stderr.contains("was moved to"), "{told:?}");
    let aside = std::fs::read_to_string(world.state_folder().join("state.json.corrupt-0")).unwrap();
    assert_eq!(aside, "{ broken");
}
