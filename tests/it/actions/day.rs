//! A day with an agent in a box, by keys: `cargo test -- --nocapture a_day_with_an_agent` prints its summary.

use super::agents::{image, listed};
use super::world::{LONG, World};
use crate::support::{eventually, real_herdr};
use serde_json::json;
use std::time::Instant;

/// What was done so far, and how long it took.
struct Day {
    began: Instant,
    lines: Vec<String>,
}

impl Day {
    fn did(&mut self, what: &str) {
        self.lines.push(format!("  ok  {:5.1} s  {what}", self.began.elapsed().as_secs_f64()));
        self.began = Instant::now();
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the summary is what is pasted")]
fn a_day_with_an_agent() {
    let mut world = World::with_config(json!({ "agent": "claude-code" }));
    world.script("image", json!(image("claude", "~/.local/bin", 0)));
    let mut day = Day { began: Instant::now(), lines: Vec::new() };

    let started = world.press("start").ok();
    assert_eq!(started["result"], "started", "{started}");
    let (pane, name) = (text(&started["pane"]), text(&started["box"]));
    day.did("start by key: five steps, installer, the agent's screen");
    eventually("Herdr lists the agent", LONG, || listed(&world, &pane).as_deref() == Some("claude"));
    day.did("status: herdr agent list says claude");

    world.types(&pane, "exit 7");
    world.sees(&pane, "the agent has ended, exit code 7");
    world.sees(&pane, "s       a shell on THIS machine");
    eventually("no agent is left", LONG, || listed(&world, &pane).is_none());
    // Words that were meant for the agent are no answer: neither a shell here nor the end.
    world.types(&pane, "squash the last commits please");
    assert!(!world.screen(&pane).contains("This shell runs on"), "{}", world.screen(&pane));
    day.did("the agent exits: holding screen, no longer listed, no host shell");
    let first = world.records()[0]["processId"].clone();
    world.key(&pane, "enter");
    eventually("another agent runs", LONG, || world.records()[0]["processId"] != first);
    world.answers(&pane, "back", "again");
    eventually("it is listed again", LONG, || listed(&world, &pane).as_deref() == Some("claude"));
    day.did("Enter: the agent runs again in the same box");

    let moved = world.herdr(&["pane", "move", &pane, "--new-workspace"]);
    let after = text(&moved["move_result"]["pane"]["pane_id"]);
    assert_ne!(after, pane);
    eventually("the mapping follows the pane", LONG, || world.records()[0]["pane"] == after);
    let info = world.press("info").ok();
    assert_eq!((&info["box"], &info["pane"]), (&json!(name), &json!(after)), "{info}");
    assert_eq!((&info["agent"], &info["status"]), (&json!("claude-code"), &json!("running")), "{info}");
    world.popup_says(&name);
    world.types_in_popup("x");
    world.popup_closes();
    assert_eq!(listed(&world, &after).as_deref(), Some("claude"));
    day.did("the pane moves to another workspace: it keeps its box, info by key says so");

    world.stop_server();
    world.serve();
    let process = world.records()[0]["processId"].clone();
    let shown = world.shown_elsewhere(&after);
    eventually("the restored shell is closed", LONG, || !world.pane_ids().contains(&after));
    world.answers(&shown, "third", "time");
    eventually("it is listed again", LONG, || listed(&world, &shown).as_deref() == Some("claude"));
    assert_eq!(world.records()[0]["processId"], process, "the agent was never started anew");
    assert_eq!(world.boxes().len(), 1);
    day.did("Herdr's server restarts: the pane comes back by itself, with the same agent");
    let attached = world.press("attach").ok();
    assert_eq!((&attached["processId"], world.pane_ids().contains(&shown)), (&process, true), "{attached}");
    day.did("attach by key: it is there already");

    assert_eq!(world.press("delete").ok()["result"], "confirmation-required");
    world.popup_says(&name);
    world.popup_says("keep it");
    world.types_in_popup("y");
    world.popup_closes();
    eventually("the box is deleted", LONG, || world.boxes().is_empty());
    world.sees(&shown, "its box was deleted");
    assert!(world.records().is_empty());
    world.key(&shown, "q");
    eventually("q closes the pane", LONG, || !world.pane_ids().contains(&shown));
    day.did("delete by key: a popup asks, y deletes, the pane says so");

    let version = world.home.command_of(&world.home.path().join("bin/herdr"), &["--version"]);
    let version = crate::support::outcome(version).stdout;
    let kind = if real_herdr().is_some() { "the real one" } else { "the stand-in" };
    println!("a day with an agent: {}, {kind}\n{}", version.trim(), day.lines.join("\n"));
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("text: {value}")).to_owned()
}
