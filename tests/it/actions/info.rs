//! What an action tells of a box, and of a Herdr that does not answer.

use super::world::{World, typed};
use crate::support::{eventually, outcome, program, real_herdr, stand_in};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn info_tells_everything_of_a_box_in_a_popup_and_in_its_line() {
    let mut world = World::new();
    let (id, pane) = world.start();
    let record = world.records()[0].clone();
    let text = |key: &str| record[key].as_str().unwrap_or_else(|| panic!("{key}: {record}")).to_owned();
    assert!(text("bin").ends_with("/bash"), "{record}");
    let info = world.press("info").ok();
    let says = |label: &str, value: &str| world.popup_says(&format!("{label:<11}   {value}"));
    for (label, value) in [
        ("agent", "Shell"),
        ("box", &format!("{} ({id})", text("box"))),
        ("status", "running"),
        ("not applied", "nothing"),
        ("worktree", "~/shop"),
        ("remote root", "/workspace"),
    ] {
        says(label, value);
    }
    // The rest is below the edge of a low popup; where all fits, an arrow would close it.
    for _ in 0..10 {
        if world.popup().is_some_and(|shown| shown.contains("arrows scroll")) {
            world.types_in_popup("\u{1b}[B");
        }
    }
    for (label, value) in [
        ("auto-pause", "30m"),
        ("provider", "createos"),
        ("program", &text("bin")),
        ("process", &text("processId")),
    ] {
        says(label, value);
    }
    world.types_in_popup("x");
    world.popup_closes();
    let shop = world.repo.root().display().to_string();
    let expected = json!({
        "schemaVersion": 1, "action": "info", "ok": true, "agent": "shell", "bin": text("bin"),
        "box": text("box"), "boxId": id, "status": "running", "local": shop, "remote": "/workspace",
        "processId": text("processId"), "pane": pane, "provider": "createos",
        "unattended": false, "environment": [], "notApplied": [], "elsewhere": [],
    });
    assert_eq!(info, expected);

    // What was changed since the start is shown as it is.
    let changes = json!({ "auto_pause_after_seconds": 5_400, "egress": ["github.com", "*.example.com"] });
    world.script("view", changes);
    let changed = world.invoke("info");
    let shown = "  auto-pause    1h30m\n  egress        github.com, *.example.com\n";
    assert!(changed.stdout.contains(shown), "{changed:?}");
    world.script("view", json!({ "auto_pause_after_seconds": null }));
    let changed = world.invoke("info");
    assert!(changed.stdout.contains("  auto-pause    off\n  egress        everything\n"), "{changed:?}");
    world.script("view", json!({}));

    world.script("hide_from_get", json!(true));
    let missing = world.invoke("info");
    assert!(missing.stdout.contains("  status        missing\n"), "{missing:?}");
    assert_eq!(missing.ok()["status"], Value::from("missing"));
    world.script("hide_from_get", json!(false));
}

#[test]
fn a_herdr_that_is_down_or_hangs_is_named_within_its_limit() {
    let mut world = World::new();
    let (_, pane) = world.start();
    world.stop_server();
    let down = outcome(typed(&world, &pane, &["herdr", "info"])).fails(1, "no Herdr server is running");
    assert!(down.stderr.contains("start Herdr with: herdr"), "{down:?}");

    let herdr = world.home.path().join("bin/herdr");
    std::fs::remove_file(&herdr).expect("it was there");
    program(&world.home, "bin/herdr", "#!/bin/sh\nexec sleep 100\n");
    let began = Instant::now();
    let hangs = outcome(typed(&world, &pane, &["herdr", "info"]));
    std::fs::remove_file(&herdr).expect("it was there");
    std::os::unix::fs::symlink(real_herdr().unwrap_or_else(|| stand_in("herdr-stand-in")), &herdr)
        .expect("a link");
    let hangs = hangs.fails(1, "herdr did not finish within 15 s and was stopped");
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}: {hangs:?}", began.elapsed());
    assert!(hangs.stdout.contains("\"ok\":false"), "{hangs:?}");
    world.serve();
    eventually("it answers again", super::world::LONG, || !world.panes().is_empty());
}
