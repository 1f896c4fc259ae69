//! Every box at a glance, and the ones that nobody needs any more.

use super::world::{LONG, World};
use crate::support::{Pty, eventually};
use serde_json::json;

#[test]
fn boxes_shows_thousands_of_rows_with_hostile_names_and_deletes_only_ours() {
    let mut world = World::new();
    let _ = world.start();
    let name = world.box_name();
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
    pty.expect("moon is down", LONG);
    assert_eq!(world.boxes().len(), 1, "any other key keeps it");
    world.script("fail", json!([]));
    let asked = |pty: &Pty| pty.text().matches("for ever?").count();
    let before = asked(&pty);
    pty.send("d");
    eventually("it is asked again", LONG, || asked(&pty) > before);
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
    // The first mapping is lost; its box is still known as made here. Its pane would bring it back.
    let first = world.pane_ids()[0].clone();
    for pane in world.pane_ids().iter().filter(|pane| **pane != first) {
        world.herdr(&["pane", "close", pane]);
    }
    eventually("the panes are closed", LONG, || world.panes().len() == 1 && !world.runs("provision"));
    world.edit_state(|state| {
        state["records"].as_array_mut().unwrap().retain(|record| record["boxId"] != id.as_str());
    });

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

#[test]
fn mappings_of_boxes_that_were_deleted_elsewhere_go_when_that_is_proven() {
    let mut world = World::new();
    let (gone, _) = world.start();
    let (stays, _) = world.start();
    let first = world.pane_ids()[0].clone();
    for pane in world.pane_ids().iter().filter(|pane| **pane != first) {
        world.herdr(&["pane", "close", pane]);
    }
    eventually("the panes are closed", LONG, || world.panes().len() == 1 && !world.runs("provision"));
    let _ = world.home.run(&["local", "sandbox", "rm", "--yes", &gone]).success();
    let folder = world.state_folder().join("boxes").join(&gone);
    assert!(folder.exists());
    world.script("other_rows", json!(1_200));
    world.script("hide_from_get", json!(true));
    world.script("offset_ignored", json!(true));
    let _ = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert_eq!(world.records().len(), 2, "an incomplete listing proves nothing");
    world.script("offset_ignored", json!(false));
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(
        pruned.stdout.contains("deleted elsewhere") && pruned.stdout.contains("\"forgotten\":1"),
        "{pruned:?}"
    );
    assert_eq!(world.records().len(), 1, "the box that is there keeps its mapping");
    assert!(!folder.exists(), "what was in step with it is forgotten too");

    world.script("hide_from_get", json!(false));
    let _ = world.home.run(&["local", "sandbox", "rm", "--yes", &stays]).success();
    world.stop_server();
    world.serve();
    eventually("the start of Herdr forgets it", LONG, || world.records().is_empty());
}

#[test]
fn a_provider_that_cannot_be_asked_hides_nothing_of_the_others() {
    let mut world = World::new();
    let (id, _) = world.start();
    // The same box, mapped as one of the local provider.
    world.edit_state(|state| state["records"][0]["provider"] = json!("local"));
    let name = world.box_name();
    let down = json!([{ "verb": "list", "code": "server_error", "message": "the moon is down" }]);
    world.script("fail", down);
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(listed.stdout.contains(&name), "{listed:?}");
    assert!(listed.stderr.contains("createos boxes cannot be listed") && listed.stderr.contains("the moon"));
    let mut pty = Pty::spawn(world.home.command(&["herdr", "boxes"]), 24, 100);
    pty.expect(&name, LONG);
    pty.expect("createos boxes cannot be listed", LONG);
    pty.send("q");
    assert!(pty.wait(LONG).success());

    std::fs::remove_file(world.home.path().join("bin/createos")).unwrap();
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(listed.stdout.contains(&name) && listed.stderr.contains("createos was not found"), "{listed:?}");
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains("\"unasked\":[\"createos\"]"), "{pruned:?}");
    assert!(pruned.stderr.contains("createos boxes are not looked at"), "{pruned:?}");
    assert_eq!(world.boxes()[0]["id"], json!(id));
    std::os::unix::fs::symlink(
        crate::support::stand_in("createos-stand-in"),
        world.home.path().join("bin/createos"),
    )
    .unwrap();
}

#[test]
fn a_box_of_a_session_that_does_not_run_is_shown_as_such_and_never_pruned() {
    let world = World::new();
    let (id, _) = world.start();
    world.edit_state(|state| {
        state["records"][0]["socket"] = json!("/nonexistent/sessions/work/herdr.sock");
    });
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(listed.stdout.contains("session not running"), "{listed:?}");
    let pruned = world.home.run(&["herdr", "prune", "--orphans", "--yes"]).success();
    let name = world.box_name();
    assert!(pruned.stdout.contains(&format!("createos-sandbox herdr delete {name}")), "{pruned:?}");
    assert_eq!(world.boxes()[0]["id"], json!(id));
}

#[test]
fn a_state_file_that_is_a_fifo_is_refused_and_not_waited_for() {
    let world = World::new();
    let (_, _) = world.start();
    let file = world.state_folder().join("state.json");
    let (fifo, kept) = (world.state_folder().join("fifo"), std::fs::read(&file).unwrap());
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::fs::rename(&fifo, &file).unwrap();
    let _ = world.home.run(&["herdr", "boxes"]).fails(1, "a FIFO");
    let doctor = world.home.run(&["setup", "herdr", "--doctor", "--provider", "local"]);
    assert!(doctor.stdout.contains("it is a FIFO"), "{doctor:?}");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, kept).unwrap();
}
