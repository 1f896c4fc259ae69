//! Panes that went through something: a restart of Herdr, a killed child, a program that was away.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

/// After a restart of Herdr the shells that it restores stay as they are.
fn where_shells_stay() -> World {
    World::with_config(json!({ "agent": "shell", "restorePanes": false }))
}

#[test]
fn panes_come_back_by_themselves_and_a_restart_bills_nobody() {
    let mut world = World::new();
    let first = world.pane_ids()[0].clone();
    let (running, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.focus_left(&first);
    let (paused, other) = world.start();
    let _ = world.invoke("pause").ok();
    world.sees(&other, "the box is paused");
    world.focus_left(&first);
    let before = world.records();

    world.stop_server();
    world.serve();
    world.settles();
    let now = |id: &str| world.records().into_iter().find(|record| record["boxId"] == id).expect("a record");
    let shown = |id: &str| now(id)["pane"].as_str().expect("a pane").to_owned();
    assert_eq!(world.pane_ids().len(), 3, "each in the place of its shell: {:?}", world.pane_ids());
    assert!(!world.pane_ids().contains(&pane) && !world.pane_ids().contains(&other));
    world.answers(&shown(&running), "still", "here");
    assert_eq!(now(&running)["processId"], before[0]["processId"], "the agent was never started anew");
    world.sees(&shown(&paused), "the box is paused");
    let focused = world.panes().into_iter().find(|pane| pane["focused"] == true).expect("one has it");
    assert_eq!(focused["pane_id"], first.as_str(), "the focus stays");
    let status =
        |id: &str| world.boxes().into_iter().find(|one| one["id"] == id).expect("it")["status"].clone();
    assert_eq!(status(&paused), "paused");
    world.comes_back(&shown(&paused));
    world.answers(&shown(&paused), "wide ", "awake");
    assert_eq!(status(&paused), "running");
}

#[test]
fn attach_leaves_a_restored_pane_open_in_which_something_runs() {
    let mut world = where_shells_stay();
    let (id, pane) = world.start();
    let terminal = world.records()[0]["terminal"].clone();
    world.stop_server();
    world.serve();
    eventually("the mapping is bound again", LONG, || world.records()[0]["terminal"] != terminal);
    world.types(&pane, "sleep 1000");
    let foreground = || {
        let info = world.herdr(&["pane", "process-info", "--pane", &pane]);
        info["process_info"]["foreground_processes"][0]["name"].clone()
    };
    eventually("the person's program runs", LONG, || foreground() == "sleep");
    let attached = world.invoke("attach").ok();
    assert_eq!(attached["box"], world.records()[0]["box"]);
    let shown = world.shown_elsewhere(&pane);
    world.answers(&shown, "still", "here");
    assert_eq!(foreground(), "sleep", "the person's work goes on");
    assert_eq!(world.boxes()[0]["id"], id.as_str());
}

#[test]
fn a_pane_that_got_the_stored_id_is_left_alone() {
    let mut world = where_shells_stay();
    let (_, pane) = world.start();
    let first = world.pane_ids()[0].clone();
    world.focus_left(&first);
    world.herdr(&["pane", "close", &pane]);
    eventually("its process is gone", LONG, || !world.runs("provision"));
    // An idle shell in the same worktree, while Herdr runs: nobody looks for it by its id.
    world.edit_state(|state| state["records"][0]["pane"] = json!(first));
    let _ = world.invoke("attach").ok();
    let shown = world.shown_elsewhere(&first);
    world.answers(&shown, "be", "side");

    // After a restart an id is believed, yet not that of a pane which is elsewhere.
    let elsewhere = world.home.path().join("tmp").display().to_string();
    let made = world.herdr(&["workspace", "create", "--cwd", &elsewhere, "--no-focus"]);
    let foreign = made["root_pane"]["pane_id"].as_str().expect("an id").to_owned();
    world.stop_server();
    world.edit_state(|state| state["records"][0]["pane"] = json!(foreign));
    world.serve();
    world.settles();
    assert!(world.records()[0]["pane"].is_null(), "{:?}", world.records());
    let _ = world.invoke("attach").ok();
    let shown = world.shown_elsewhere(&foreign);
    world.answers(&shown, "be", "sides");
    assert!(
        [&first, &foreign].iter().all(|other| world.pane_ids().contains(other)),
        "{:?}",
        world.pane_ids()
    );
    let closed = world.asked_of_herdr().into_iter().filter(|call| call.contains("pane close"));
    assert_eq!(closed.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_pane_outlives_the_end_of_its_child_and_a_program_that_is_away_for_a_moment() {
    let world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "it ", "runs");
    let (there, away) = (world.home.path().join("bin/createos"), world.home.path().join("bin/away"));
    std::fs::rename(&there, &away).expect("a rename");
    world.kill("attach");
    world.sees(&pane, "createos was not found; trying again in");
    std::fs::rename(&away, &there).expect("a rename");
    world.answers(&pane, "back", "again");
    assert_eq!((world.boxes().len(), &world.boxes()[0]["id"]), (1, &id.into()));
}

#[test]
fn an_attach_while_the_agent_is_shown_wakes_nothing_later() {
    let world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "it ", "runs");
    let _ = world.invoke("attach").ok();
    world.types(&pane, "exit 7");
    world.sees(&pane, "the agent has ended, exit code 7");
    world.key(&pane, "q");
    eventually("q closes the pane, which holds", LONG, || !world.pane_ids().contains(&pane));
}

#[test]
fn attach_keys_at_once_start_one_agent_in_one_pane() {
    let mut world = where_shells_stay();
    let (_, pane) = world.start();
    world.types(&pane, "exit 7");
    world.sees(&pane, "the agent has ended, exit code 7");
    let terminal = world.records()[0]["terminal"].clone();
    world.stop_server();
    world.serve();
    eventually("the mapping is bound again", LONG, || world.records()[0]["terminal"] != terminal);
    let keys: Vec<_> = (0..6).map(|_| world.begin("attach")).collect();
    for key in &keys {
        let _ = world.wait(key).ok();
    }
    assert_eq!(world.agent_starts().len(), 2, "one by the start, one by all the keys");
    eventually("the restored shell is closed", LONG, || !world.pane_ids().contains(&pane));
    assert_eq!(world.pane_ids().len(), 2, "{:?}", world.pane_ids());
}

#[test]
fn what_the_agent_said_is_shown_again_once_in_a_new_pane_and_in_its_own() {
    let mut world = where_shells_stay();
    let (_, pane) = world.start();
    let terminal = world.records()[0]["terminal"].clone();
    world.answers(&pane, "at", "work");
    world.types(&pane, "echo o''nly on''ce");
    world.sees(&pane, "only once");
    let shown = |text: &str| text.lines().filter(|line| line.trim_end() == "only once").count();
    assert_eq!(shown(&world.screen(&pane)), 1);
    world.herdr(&["pane", "send-keys", &pane, "ctrl+]"]);
    world.sees(&pane, "this pane is detached");
    world.comes_back(&pane);
    let again =
        || world.screen(&pane).rsplit_once("bringing it back").is_some_and(|(_, new)| shown(new) == 1);
    eventually("its own pane shows it below", LONG, again);

    world.stop_server();
    world.serve();
    eventually("the mapping is bound again", LONG, || world.records()[0]["terminal"] != terminal);
    let _ = world.invoke("attach").ok();
    let new = world.shown_elsewhere(&pane);
    world.sees(&new, "only once");
    world.answers(&new, "still", "here");
    assert_eq!(shown(&world.screen(&new)), 1, "{}", world.screen(&new));
}

#[test]
fn a_pane_is_called_by_what_it_shows_and_after_a_restart_that_it_is_in_no_box() {
    let mut world = where_shells_stay();
    let (_, pane) = world.start();
    let name = world.box_name();
    let short = &name[name.len() - 5..];
    assert_eq!(world.label(&pane), format!("Shell · shop · {short}"));
    world.types(&pane, "exit 7");
    world.sees(&pane, "the agent has ended, exit code 7");
    world.key(&pane, "s");
    world.sees(&pane, "This shell runs on THIS machine.");
    assert_eq!(world.label(&pane), "THIS machine, not a box · shop");
    world.types(&pane, "exit");
    world.sees(&pane, "Back from the shell on this machine.");
    eventually("it is called as before", LONG, || world.label(&pane) == format!("Shell · shop · {short}"));
    world.comes_back(&pane);
    world.answers(&pane, "back", "again");

    world.stop_server();
    world.serve();
    world.settles();
    assert_eq!(world.label(&pane), format!("NOT in a box · prefix+shift+c brings Shell back · {short}"));
    let _ = world.invoke("attach").ok();
    let shown = world.shown_elsewhere(&pane);
    world.answers(&shown, "in a ", "new one");
    assert_eq!(world.label(&shown), format!("Shell · shop · {short}"));
    eventually("the restored shell is closed", LONG, || !world.pane_ids().contains(&pane));

    world.stop_server();
    world.serve();
    world.settles();
    let _ = world.invoke("delete").ok();
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
    eventually("it says so", LONG, || {
        world.label(&shown) == format!("NOT in a box: {short} was deleted · shop")
    });
}

#[test]
fn a_pane_that_its_person_has_named_keeps_that_name() {
    let mut world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.herdr(&["pane", "rename", &pane, "mine"]);
    world.stop_server();
    world.serve();
    world.settles();
    let shown = world.shown_elsewhere(&pane);
    assert_eq!(world.label(&shown), "mine");
}
