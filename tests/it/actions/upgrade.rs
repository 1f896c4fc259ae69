//! Programs that are replaced while they run, as an upgrade in place does.

use super::world::{LONG, World};
use crate::support::{binary, eventually, real_herdr, stand_in};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Puts a copy of `program` where `place` is, by a rename: what runs from there keeps its old file.
fn replace(program: &Path, place: &Path) {
    let staged = place.with_extension("new");
    let status = Command::new("cp").arg("--dereference").arg(program).arg(&staged).status().expect("cp");
    assert!(status.success());
    std::fs::rename(staged, place).expect("a rename");
}

#[test]
fn panes_and_keys_outlive_an_upgrade_of_this_program_and_of_herdr() {
    let mut world = World::with_config(json!({ "agent": "shell", "provider": "local" }));
    let herdr = real_herdr().unwrap_or_else(|| stand_in("herdr-stand-in"));
    let (ours, theirs) =
        (world.home.path().join("bin/createos-sandbox"), world.home.path().join("bin/herdr"));
    replace(&binary(), &ours);
    world.link(&ours);
    world.stop_server();
    replace(&herdr, &theirs);
    world.serve();

    let (id, pane) = world.start();
    replace(&binary(), &ours);
    replace(&herdr, &theirs);
    // The pane's process is the old file; what it starts is the new one.
    world.types(&pane, "exit 7");
    world.sees(&pane, "the agent has ended, exit code 7");
    let first = world.records()[0]["processId"].clone();
    world.key(&pane, "enter");
    eventually("another agent runs", LONG, || world.records()[0]["processId"] != first);
    world.answers(&pane, "back", "again");
    let info = world.press("info").ok();
    assert_eq!((&info["boxId"], &info["status"]), (&json!(id), &json!("running")));
    world.popup_says(&id);
    world.types_in_popup("x");
    world.popup_closes();
    // A start that is cut short leaves its clean-up to a process of the new file.
    let start = world.begin("start");
    eventually("another box is there", LONG, || world.boxes().len() == 2);
    replace(&binary(), &ours);
    let starting = world.records().iter().find(|record| record["boxId"] != id.as_str()).cloned();
    let starting = starting.expect("a record")["pane"].as_str().expect("a pane").to_owned();
    world.herdr(&["pane", "close", &starting]);
    let _ = world.wait(&start);
    eventually("only the first box is left", LONG, || world.boxes().len() == 1);
}
