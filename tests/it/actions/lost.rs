//! What must not be lost: the state, a box whose answer nobody understood, the account that made it.

use super::races::packing;
use super::world::{LONG, World, typed};
use crate::support::{eventually, outcome, program};
use serde_json::json;
use std::process::Stdio;

/// Loses the state file.
fn lose_state(world: &World) {
    std::fs::remove_file(world.state_folder().join("state.json")).expect("a state file");
}

fn now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().expect("a clock").as_secs()
}

#[test]
fn a_box_whose_create_answer_nobody_understood_is_not_forgotten_when_the_listing_is_refused() {
    let mut world = World::new();
    world.script("create_json", json!("text"));
    world.script("fail", json!([{ "verb": "list", "code": "rate_limited", "message": "slow down" }]));
    world.invoke("start").fails("slow down");
    assert_eq!(world.boxes().len(), 1);
    world.script("fail", json!([]));
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn a_state_that_is_lost_during_a_start_takes_no_box_with_it() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("push"));
    let start = world.begin("start");
    eventually("it uploads", LONG, || !world.calls_of("push").is_empty());
    world.script("times", json!({ "rm_fails": 4 }));
    lose_state(&world);
    world.script("hold", json!(null));
    let _ = world.wait(&start).fails("");
    let tried = || world.calls_of("rm").len() >= 4 && !world.runs("cleanup");
    eventually("it was tried to delete it", LONG, tried);
    let id = world.boxes()[0]["id"].clone();
    assert_eq!((&world.records()[0]["phase"], &world.records()[0]["boxId"]), (&json!("leftover"), &id));
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains(id.as_str().unwrap()), "{pruned:?}");
    assert!(world.boxes().is_empty() && world.records().is_empty());
}

#[test]
fn a_pane_that_is_closed_after_the_state_was_lost_still_cleans_up() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("push"));
    let _ = world.begin("start");
    eventually("it uploads", LONG, || !world.calls_of("push").is_empty());
    let pane = world.box_pane();
    world.kill("start");
    lose_state(&world);
    world.herdr(&["pane", "close", &pane]);
    eventually("its process is gone", LONG, || !world.runs("provision"));
    world.script("hold", json!(null));
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn a_start_that_has_asked_for_no_box_waits_for_none() {
    let world = packing();
    world.settles();
    let start = world.begin("start");
    eventually("it packs", LONG, || world.runs("provision") && world.runs("ls-files"));
    let pane = world.box_pane();
    lose_state(&world);
    std::fs::remove_file(world.home.path().join("slow")).expect("the file");
    world.sees(&pane, "the record of this start is gone");
    assert!(!world.screen(&pane).contains("may still come"), "{}", world.screen(&pane));
    let _ = world.wait(&start).fails("");
    assert!(world.calls_of("create").is_empty() && !world.runs("cleanup"));
}

#[test]
fn a_pane_keeps_its_box_when_the_state_is_lost() {
    let world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "it ", "runs");
    let record = world.records()[0].clone();
    lose_state(&world);
    world.types(&pane, "exit 7");
    world.sees(&pane, "the agent has ended, exit code 7");
    eventually("its mapping is there", LONG, || world.records().first() == Some(&record));
    // A file that nobody can read is moved aside, whoever reads it first.
    let file = world.state_folder().join("state.json");
    std::fs::write(&file, "{").expect("a file");
    eventually("its mapping is there again", LONG, || {
        std::fs::read(&file).is_ok_and(|text| text != b"{") && world.records().first() == Some(&record)
    });
    world.comes_back(&pane);
    world.answers(&pane, "back", "again");
    assert!(!world.screen(&pane).contains("deleted"), "{}", world.screen(&pane));
    let name = record["box"].as_str().expect("a name");
    assert_eq!(world.state()["installation"], name[name.len() - 9..name.len() - 5], "it is still ours");
    assert_eq!(world.boxes()[0]["id"], id.as_str());
}

#[test]
fn a_pane_whose_opening_herdr_could_not_tell_keeps_its_record() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("push"));
    // It opens, and the answer is lost.
    let herdr = world.home.path().join("bin/herdr");
    let real = std::fs::read_link(&herdr).expect("a link");
    std::fs::remove_file(&herdr).expect("the link");
    let real = real.display();
    let waits = "until [ -e \"$HOME/opened\" ]; do sleep 0.05; done; exit 1";
    let opens = format!("case $* in *'--entrypoint agent'*) {real} \"$@\" >/dev/null; {waits};; esac");
    let script = format!("#!/bin/sh\n{opens}\nexec {real} \"$@\"\n");
    program(&world.home, "bin/herdr", &script);
    let mut start = typed(&world, &world.pane_ids()[0], &["herdr", "start"]);
    let mut start = start.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    eventually("it uploads", LONG, || !world.calls_of("push").is_empty());
    world.home.write("opened", "");
    assert_eq!(start.wait().expect("its end").code(), Some(1));
    assert_eq!(world.records()[0]["phase"], "starting");
    world.script("hold", json!(null));
    eventually("it comes up all the same", LONG, || world.records()[0]["phase"] == "ready");
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn a_clock_that_was_set_back_is_no_second_word() {
    let world = World::new();
    let _ = world.start();
    world.edit_state(|state| state["records"][0]["deleteArmedAt"] = json!(now() + 3_000));
    assert_eq!(world.invoke("delete").ok()["result"], "confirmation-required");
    assert_eq!(world.boxes().len(), 1);
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
}

#[test]
fn a_box_that_stays_although_its_deletion_was_answered_is_not_called_deleted() {
    let mut world = World::with_config(json!({ "agent": "codex" }));
    // This build knows no rm, and ends well (docs/measured/createos-cli.md 3.11).
    world.script("banner", json!(["rm"]));
    world.script("fail", json!([{ "verb": "process start", "code": "forbidden", "message": "not today" }]));
    let failed = world.invoke("start").fails("could not be deleted");
    assert!(!failed["error"].as_str().unwrap().contains("nothing is billed"), "{failed}");
    let tried = || world.calls_of("rm").len() >= 2 && !world.runs("cleanup");
    eventually("it was tried again", 2 * LONG, tried);
    assert_eq!((world.boxes().len(), &world.records()[0]["phase"]), (1, &json!("leftover")));

    let name = world.box_name();
    let pane = world.pane_ids()[0].clone();
    let delete = || outcome(typed(&world, &pane, &["herdr", "delete", &name]));
    let _ = delete().success();
    let refused = delete();
    assert!(refused.stdout.contains("it said yes, and the box is running"), "{refused:?}");
    assert_eq!(world.records().len(), 1);
    // Made in the future, as it seems: the clock was set back since.
    world.edit_state(|state| state["records"][0]["createdAt"] = json!(now() + 1_000_000));
    world.script("banner", json!([]));
    // It fails with the start that failed, or without a box: the clean-up that it begins may be quicker.
    let _ = world.invoke("info").fails("");
    eventually("the next action finishes it", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn another_account_proves_nothing_about_our_boxes() {
    let mut world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "it ", "runs");
    world.script("other_account", json!(true));
    world.script("other_rows", json!(3));
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains("\"forgotten\":0"), "{pruned:?}");
    let failed = world.invoke("attach").fails("no sandbox matching");
    assert!(failed["fix"].as_str().unwrap().contains("createos whoami"), "{failed}");
    let _ = world.invoke("delete").ok();
    let failed = world.invoke("delete").fails("no sandbox matching");
    assert!(failed["fix"].as_str().unwrap().contains("createos whoami"), "{failed}");
    world.stop_server();
    world.serve();
    world.settles();
    assert_eq!(world.records()[0]["boxId"], id.as_str());
    world.script("other_account", json!(false));
    let _ = world.invoke("attach").ok();
    let _ = world.invoke("apply").ok();
}

#[test]
fn a_late_box_whose_search_was_cut_short_is_looked_for_by_the_next_action() {
    let mut world = World::new();
    world.script("times", json!({ "create_late": 1 }));
    let _ = world.invoke("start").fails("may still come");
    eventually("it is looked for", LONG, || world.runs("cleanup"));
    world.kill("cleanup");
    eventually("nobody looks for it", LONG, || !world.runs("cleanup"));
    world.late_boxes_come();
    let _ = world.invoke("info").fails("");
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}

#[test]
fn a_late_box_of_the_provider_of_before_is_listed_and_pruned() {
    let mut world = World::new();
    world.script("times", json!({ "create_late": 1 }));
    let _ = world.invoke("start").fails("may still come");
    let name = world.box_name();
    let pane = world.pane_ids()[0].clone();
    for _ in 0..2 {
        let _ = outcome(typed(&world, &pane, &["herdr", "delete", &name])).success();
    }
    world.kill("cleanup");
    let config = ".config/herdr/plugins/config/createos.sandbox/config.json";
    world.home.write(config, json!({ "agent": "shell", "provider": "local" }).to_string());
    world.late_boxes_come();
    let listed = world.home.run(&["herdr", "boxes"]).success();
    let ours = |line: &&str| line.contains(&name) && line.contains("not recorded");
    assert_eq!(listed.stdout.lines().filter(ours).count(), 1, "{listed:?}");
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains("\"deleted\":1"), "{pruned:?}");
    assert_eq!(world.calls_of("rm").len(), 1, "its own provider deleted it");
}

#[test]
fn our_boxes_are_in_the_list_of_a_provider_that_does_not_list_all() {
    let mut world = World::new();
    let _ = world.start();
    let name = world.box_name();
    world.script("other_rows", json!(1_200));
    world.script("offset_ignored", json!(true));
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(listed.stdout.contains(&name), "{}", listed.stderr);
    assert!(listed.stderr.contains("createos does not list all its boxes"), "{}", listed.stderr);
}

#[test]
fn a_restored_pane_that_no_hook_has_bound_yet_keeps_its_box_from_pruning() {
    let world = World::new();
    let _ = world.start();
    world.edit_state(|state| state["records"][0]["terminal"] = json!("term_before"));
    let pruned = world.home.run(&["herdr", "prune", "--orphans", "--yes"]).success();
    assert!(pruned.stdout.contains("nothing to prune"), "{pruned:?}");
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn one_bad_record_in_the_state_loses_no_other_box() {
    let world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "it ", "runs");
    let installation = world.state()["installation"].clone();
    world.edit_state(|state| {
        let mut bad = state["records"][0].clone();
        bad["phase"] = json!("hibernating");
        state["records"].as_array_mut().expect("records").insert(0, bad);
    });
    let _ = world.invoke("info").ok();
    assert_eq!((world.records().len(), &world.records()[0]["boxId"]), (1, &json!(id)));
    assert_eq!(world.state()["installation"], installation);
    assert!(world.state_folder().join("state.json.corrupt-0").exists());
}

#[test]
fn a_state_that_cannot_be_written_for_a_while_keeps_no_box_alive() {
    let mut world = World::new();
    world.settles();
    world.script("hold", json!("push"));
    let start = world.begin("start");
    eventually("it uploads", LONG, || !world.calls_of("push").is_empty());
    // A folder where a file has to be refuses root too.
    let (file, away) = (world.state_folder().join("state.json"), world.state_folder().join("away"));
    std::fs::rename(&file, &away).expect("a rename");
    std::fs::create_dir(&file).expect("a folder");
    world.script("times", json!({ "rm_fails": 2 }));
    world.script("hold", json!(null));
    eventually("it was tried to delete it", LONG, || world.calls_of("rm").len() == 2);
    world.kill("provision");
    let _ = world.wait(&start);
    assert_eq!(world.boxes().len(), 1);
    std::fs::remove_dir(&file).expect("the folder");
    std::fs::rename(&away, &file).expect("a rename");
    let _ = world.invoke("info").fails("");
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
}
