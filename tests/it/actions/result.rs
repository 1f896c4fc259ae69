//! The one line for programs that every action prints.

use super::world::{Done, LONG, World, typed};
use crate::support::{Home, RESULT, eventually, outcome, result_line};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// Asserts that the action's last line is its only result line, and that it has these fields besides its own.
#[track_caller]
fn has(done: &Done, ok: bool, fields: &[&str]) {
    let marked: Vec<_> = done.stdout.lines().filter(|line| line.starts_with(RESULT)).collect();
    assert_eq!(marked, [done.stdout.lines().last().unwrap_or_default()], "{done:#?}");
    let found: BTreeSet<&str> =
        done.result.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected: BTreeSet<&str> = ["schemaVersion", "action", "ok"].iter().chain(fields).copied().collect();
    assert_eq!(found, expected, "{done:#?}");
    assert_eq!((done.result["ok"].as_bool(), done.exit_code), (Some(ok), i64::from(!ok)), "{done:#?}");
}

#[test]
fn an_action_without_a_herdr_has_a_result_too_and_names_where_it_was_looked_for() {
    let usual = ["/usr/local/bin/herdr", "/opt/homebrew/bin/herdr", "/usr/bin/herdr"];
    if usual.iter().any(|place| Path::new(place).exists()) {
        return;
    }
    let home = Home::new().var("HERDR_BIN_PATH", "/gone/herdr").var("PATH", "/nowhere");
    for action in ["start", "attach", "sync", "apply", "pause", "resume", "info", "delete"] {
        let outcome = home.run(&["herdr", action]);
        assert_eq!(outcome.code, 1, "{outcome:?}");
        let line = result_line(&outcome.stdout);
        assert_eq!((&line["ok"], &line["action"]), (&json!(false), &json!(action)), "{line}");
        let error = line["error"].as_str().expect("an error");
        assert!(error.starts_with("herdr was not found"), "{line}");
        let own = home.path().join(".local/bin/herdr").display().to_string();
        for place in ["/gone/herdr", "PATH=/nowhere", &own].iter().chain(&usual) {
            assert!(error.contains(place), "{place} is not in: {error}");
        }
        assert!(line["fix"].as_str().expect("a fix").contains("--doctor"), "{line}");
    }
}

#[test]
fn herdrs_log_holds_the_result_line_behind_however_much_there_is_to_read() {
    let world = World::new();
    let (id, _) = world.start();
    world.in_box(
        &id,
        "cd /workspace && seq 30000 > many.txt && for n in $(seq 900); do echo $n > name-$n; done",
    );
    let shown = world.invoke("review");
    assert_eq!(shown.result["result"], "shown");
    assert!(shown.stdout.contains("name-1") && !shown.stdout.contains("+29999"), "{}", shown.stdout.len());
    assert!(
        shown.stdout.contains("more lines, on a terminal: createos-sandbox herdr review hd-"),
        "{}",
        shown.stdout
    );
    let whole = outcome(typed(&world, &world.box_pane(), &["herdr", "review"])).success();
    assert!(whole.stdout.contains("+29999") && whole.stdout.contains("\"result\":\"shown\""));
    let applied = world.invoke("apply");
    assert_eq!(applied.result["result"], "applied");
    assert_eq!(world.repo.read("name-900"), "900\n");
}

#[test]
fn every_action_has_exactly_its_own_fields() {
    let mut world = World::new();
    let start = ["result", "box", "boxId", "pane", "agent", "stayed", "stayedFiles"];
    world.script("hold", json!("create"));
    let first = world.begin("start");
    eventually("the new pane has the focus", LONG, || {
        world.records().first().is_some_and(|record| record["pane"].is_string()) && world.panes().len() == 2
    });
    let again = world.invoke("start");
    assert_eq!(again.result["result"], "already-starting");
    // Its box has no id yet, and what is not known is left out.
    has(&again, true, &["result", "box", "pane", "agent"]);
    world.script("hold", json!(null));
    let started = world.wait(&first);
    assert_eq!(started.result["result"], "started");
    has(&started, true, &start);
    let record = world.records().remove(0);
    for (field, member) in [("box", "box"), ("boxId", "boxId"), ("pane", "pane"), ("agent", "agent")] {
        assert_eq!(started.result[field], record[member], "{field}");
    }

    has(&world.invoke("attach"), true, &["box", "processId"]);
    let info = world.invoke("info");
    let mapping = ["box", "boxId", "agent", "bin", "processId", "local", "remote", "pane", "provider"];
    has(
        &info,
        true,
        &[&mapping[..], &["status", "unattended", "environment", "notApplied", "elsewhere"]].concat(),
    );
    for member in mapping {
        assert_eq!(info.result[member], record[member], "{member}");
    }
    world.script("hold", json!("sync"));
    has(&world.invoke("sync"), true, &["box", "pane"]);
    eventually("the provider's sync runs", LONG, || !world.calls_of("sync").is_empty());
    world.script("hold", json!(null));
    has(&world.invoke("pause"), true, &["box"]);
    has(&world.invoke("resume"), true, &["box"]);
    let asked = world.invoke("delete");
    assert_eq!(asked.result["result"], "confirmation-required");
    has(&asked, true, &["result", "box", "notApplied", "elsewhere"]);
    let deleted = world.invoke("delete");
    assert_eq!(deleted.result["result"], "deleted");
    has(&deleted, true, &["result", "box"]);
    for action in ["attach", "sync", "pause", "resume", "info", "delete"] {
        has(&world.invoke(action), false, &["error", "fix"]);
    }
    world.script("fail", json!([{ "verb": "create", "code": "forbidden", "message": "no more" }]));
    has(&world.invoke("start"), false, &["error", "fix"]);
    // What shows a list has none, and an action that there is not is wrong use.
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(!listed.stdout.contains(RESULT), "{listed:?}");
    let unknown = world.home.run(&["herdr", "bogus"]).fails(2, "bogus");
    assert!(!unknown.stdout.contains(RESULT), "{unknown:?}");
}
