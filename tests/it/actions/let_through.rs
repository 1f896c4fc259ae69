//! What a start and a sync let through on purpose, and what the start says of the rest.

use super::world::screens::unbroken;
use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;
use std::time::Instant;

fn configure(world: &World, settings: serde_json::Value) {
    world.home.write(".config/herdr/plugins/config/createos.sandbox/config.json", settings.to_string());
}

#[test]
fn a_start_names_what_stayed_and_a_sync_carries_what_is_allowed() {
    let world = World::new();
    let root = world.repo.root().display().to_string();
    configure(&world, json!({ "agent": "shell", "allowFiles": { root.as_str(): [".npmrc", ".azure/x"] } }));
    for name in [".env", ".netrc", "a.p12", "b.p12", "c.p12", "d.p12", ".npmrc", ".azure/x", ".azure/y"] {
        world.repo.write(name, "x\n");
    }
    let started = world.invoke("start");
    let result = &started.result;
    assert_eq!((&result["ok"], &result["stayed"]), (&json!(true), &json!(7)), "{started:#?}");
    assert_eq!(result["stayedFiles"], json!([".azure/y", ".env", ".netrc", "a.p12", "b.p12"]));
    let all = "b.p12 and 2 more; all: createos-sandbox herdr upload --dry-run";
    assert!(started.stdout.contains(all), "{}", started.stdout);
    let id = result["boxId"].as_str().expect("an id").to_owned();
    let there = |name: &str| world.in_box(&id, &format!("cat '/workspace/{name}' 2>/dev/null || true"));
    assert_eq!((there(".npmrc").trim(), there(".azure/x").trim(), there(".azure/y").trim()), ("x", "x", ""));

    let synced = world.invoke("sync").ok();
    world.sees(synced["pane"].as_str().expect("its pane"), "Sync running");
    world
        .repo
        .write(".npmrc", "later\n")
        .write(".azure/x", "later\n")
        .write(".azure/y", "later\n")
        .write("z.txt", "x");
    for name in [".npmrc", ".azure/x"] {
        eventually("the allowed file travels", LONG, || there(name).trim() == "later");
    }
    eventually("everything travelled", LONG, || there("z.txt").trim() == "x");
    assert_eq!(there(".azure/y").trim(), "");
}

#[test]
fn the_pane_of_a_start_asks_once_about_an_include() {
    let world = World::new();
    world
        .repo
        .write(".gitignore", "*.local\n")
        .write(".worktreeinclude", "*.local\n")
        .write("mine.local", "x");
    let left = world.pane_ids().remove(0);
    let start = |key: &str| {
        let (before, log) = (world.pane_ids(), world.begin("start"));
        let began = Instant::now();
        let mut asked = false;
        while !world.has_ended(&log) {
            assert!(began.elapsed() < 2 * LONG, "the start does not end");
            let own = world.pane_ids().into_iter().find(|pane| !before.contains(pane));
            if let Some(pane) = own
                && unbroken(&world.screen(&pane)).contains(&unbroken("names 1 file that git ignores"))
            {
                asked = true;
                world.key(&pane, key);
            }
        }
        (world.wait(&log).ok()["boxId"].as_str().expect("an id").to_owned(), asked)
    };
    let has = |id: &str| world.in_box(id, "ls /workspace").contains("mine.local");
    let (id, asked) = start("n");
    assert!(asked && !has(&id));
    world.focus_left(&left);
    let (id, asked) = start("y");
    assert!(!asked && !has(&id), "a no is not asked again");
    world.repo.write(".worktreeinclude", "# again\n*.local\n");
    world.focus_left(&left);
    let (id, asked) = start("y");
    assert!(asked && has(&id));
}

#[test]
fn after_a_key_a_popup_asks_about_an_include_before_anything_is_made() {
    let world = World::new();
    world
        .repo
        .write(".gitignore", "*.local\n")
        .write(".worktreeinclude", "*.local\n")
        .write("mine.local", "x");
    let left = world.pane_ids().remove(0);
    let has = |id: &str| world.in_box(id, "ls /workspace").contains("mine.local");
    let started = |log: &str| world.wait(log).ok()["boxId"].as_str().expect("an id").to_owned();
    let asked = || {
        let log = world.begin_press("start");
        world.popup_says("names 1 file that git ignores");
        world.popup_says("mine.local");
        log
    };
    let log = asked();
    assert_eq!((world.pane_ids(), world.boxes().len()), (vec![left.clone()], 0));
    world.types_in_popup("n");
    assert!(!has(&started(&log)));
    world.focus_left(&left);
    assert!(!has(&started(&world.begin_press("start"))), "a no is not asked again");
    world.repo.write(".worktreeinclude", "# again\n*.local\n");
    world.focus_left(&left);
    let log = asked();
    world.types_in_popup("y");
    assert!(has(&started(&log)));

    // A popup that is gone has answered nothing: then the pane asks.
    world.repo.write(".worktreeinclude", "# once more\n*.local\n");
    world.focus_left(&left);
    let before = world.pane_ids();
    let log = asked();
    world.kill("ask-trust");
    let own = || world.pane_ids().into_iter().find(|pane| !before.contains(pane));
    eventually("the pane opens", LONG, || own().is_some());
    let pane = own().expect("it is open");
    world.sees(&pane, "names 1 file that git ignores");
    world.key(&pane, "y");
    assert!(has(&started(&log)));
}
