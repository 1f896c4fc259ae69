//! What of a box is not here is named before it is deleted, wherever that is asked for.

use super::delete::ask_delete;
use super::world::{CALM, LONG, World, typed};
use crate::support::{Outcome, Pty, eventually, outcome, result_line};
use serde_json::{Value, json};

/// Commits on another branch, a stash, work in a linked worktree, and a file.
const WORK: &str = "cd /workspace; git checkout -qb feat; echo x > f; git add f; git commit -qm f; git commit -q --allow-empty -m g
    git checkout -q -; echo x >> README.md; git stash -q; git worktree add -q .claude/worktrees/agent-1 -b agent-1 2> /dev/null
    touch .claude/worktrees/agent-1/{1,2,3}; echo .claude >> .git/info/exclude; echo new > new";

fn elsewhere() -> Value {
    json!([".claude/worktrees/agent-1: 3 files", "a stash", "branch feat: 2 commits"])
}

/// The members that tell what is not home, in an order of their own.
fn told(result: &Value) -> (Value, Value) {
    let mut named = result["elsewhere"].as_array().cloned().unwrap_or_default();
    named.sort_by_key(ToString::to_string);
    (json!(named), result["notApplied"].clone())
}

fn run(world: &World, pane: &str, args: &[&str]) -> Outcome {
    outcome(typed(world, pane, &[&["herdr"][..], args].concat()))
}

#[test]
fn the_first_delete_names_what_is_not_home_and_the_second_deletes_what_was_named() {
    let world = World::new();
    let (id, pane) = world.start();
    world.in_box(&id, WORK);
    let first = world.invoke("delete").ok();
    assert_eq!(first["result"], "confirmation-required");
    assert_eq!(told(&first), (elsewhere(), json!(["new"])), "{first}");
    // What was added since was not named: it asks anew.
    world.in_box(
        &id,
        "cd /workspace; git checkout -q feat; git commit -q --allow-empty -m h; git checkout -q -",
    );
    let more = run(&world, &pane, &["delete"]).success();
    assert!(
        more.stdout.contains("more than was named") && more.stdout.contains("branch feat: 3 commits"),
        "{more:?}"
    );
    assert_eq!(world.boxes().len(), 1);
    // What was named may change, and less is not more.
    world.in_box(&id, "cd /workspace; echo more >> new; git stash drop -q");
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
    assert!(world.boxes().is_empty());
}

#[test]
fn one_call_deletes_only_what_is_proven_to_be_home_or_what_is_to_be_discarded() {
    let world = World::new();
    let (id, pane) = world.start();
    world.in_box(&id, "cd /workspace; git checkout -qb feat; git commit -q --allow-empty -m f; echo x > f; git add f; git commit -qm f; git checkout -q -");
    let kept = run(&world, &pane, &["delete", "--yes"]).success();
    assert_eq!(result_line(&kept.stdout)["result"], "confirmation-required", "{kept:?}");
    assert!(kept.stdout.contains("elsewhere     branch feat: 2 commits"), "{kept:?}");
    world.in_box(&id, "cd /workspace; git branch -qD feat");
    let (_, second) = world.start();
    for (pane, left) in [(&pane, 1), (&second, 1)] {
        if left == 1 && pane == &second {
            let id = world.records()[0]["boxId"].as_str().expect("an id").to_owned();
            world.in_box(&id, WORK);
            let gone = run(&world, pane, &["delete", "--discard"]).success();
            assert_eq!(result_line(&gone.stdout)["result"], "deleted", "{gone:?}");
        } else {
            // It was armed a moment ago: the first word is forgotten, so that one call has to do it alone.
            world.edit_state(|state| state["records"][0]["deleteArmedAt"] = Value::Null);
            let gone = run(&world, pane, &["delete", "--yes"]).success();
            assert_eq!(result_line(&gone.stdout)["result"], "deleted", "{gone:?}");
            assert_eq!(world.boxes().len(), left);
        }
    }
    assert!(world.boxes().is_empty());
}

#[test]
fn what_cannot_be_looked_at_is_said_to_be_unknown_and_hinders_nobody() {
    let world = World::new();
    let (id, pane) = world.start();
    world.in_box(&id, WORK);
    let _ = world.invoke("pause").ok();
    let first = run(&world, &pane, &["delete", "--yes"]).success();
    assert_eq!(result_line(&first.stdout)["result"], "confirmation-required");
    assert!(first.stdout.contains("not applied   unknown, the box is paused"), "{first:?}");
    let name = world.box_name();
    assert!(
        first.stdout.contains(&format!("which resumes it: createos-sandbox herdr review {name}")),
        "{first:?}"
    );
    assert_eq!(world.boxes()[0]["status"], "paused", "to look resumes nothing");
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
    // git in the box does not work: nothing is proven.
    let (id, _) = world.start();
    world.in_box(&id, "cd /workspace; echo nonsense > .git/HEAD");
    let first = world.invoke("delete").ok();
    assert!(first["unknown"].as_str().unwrap().contains("the workspace's own repository"), "{first}");
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
}

#[test]
fn the_question_names_it_and_resumes_a_paused_box_only_when_told() {
    let world = World::new();
    let (id, pane) = world.start();
    world.in_box(&id, WORK);
    let mut question = ask_delete(&world, &pane, (24, 100));
    question.expect("elsewhere     ", LONG);
    question.expect("branch feat: 2 commits", LONG);
    question.expect("any other key", LONG);
    std::thread::sleep(CALM);
    question.send("n");
    assert!(question.wait(LONG).success());
    let _ = world.invoke("pause").ok();
    let mut question = ask_delete(&world, &pane, (24, 100));
    question.expect("unknown, the box is paused", LONG);
    question.expect("resume it, and look into it first", LONG);
    assert_eq!(world.boxes()[0]["status"], "paused");
    std::thread::sleep(CALM);
    question.send("l");
    question.expect("branch feat: 2 commits", LONG);
    assert_eq!(world.boxes()[0]["status"], "running");
    assert!(question.text().contains(".claude/worktrees/agent-1: 3 files"), "{}", question.text());
    std::thread::sleep(CALM);
    question.send("y");
    assert!(question.wait(LONG).success(), "{}", question.text());
    eventually("the box is deleted", LONG, || world.boxes().is_empty());
}

#[test]
fn info_and_the_list_of_boxes_name_it() {
    let world = World::new();
    let (id, _) = world.start();
    world.in_box(&id, WORK);
    let info = world.invoke("info");
    assert!(
        info.stdout.contains("not applied   new\n") && info.stdout.contains("branch feat: 2 commits"),
        "{info:?}"
    );
    assert_eq!(told(&info.result), (elsewhere(), json!(["new"])));
    let mut boxes = Pty::spawn(world.home.command(&["herdr", "boxes"]), 24, 100);
    boxes.expect("1 box   Enter attach", LONG);
    boxes.send("d");
    boxes.expect("not here: new is not applied, ", LONG);
    boxes.expect("branch feat: 2 commits", LONG);
    boxes.expect("for ever?", LONG);
    // Two keys in one go are one answer.
    let closed = |boxes: &Pty| boxes.text().matches("1 box   Enter attach").count();
    let before = closed(&boxes);
    boxes.send("n");
    eventually("the question is gone", LONG, || closed(&boxes) > before);
    boxes.send("q");
    assert!(boxes.wait(LONG).success());
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn prune_leaves_boxes_with_work_and_names_them() {
    let world = World::new();
    let (work, _) = world.start();
    let name = world.box_name();
    let (done, _) = world.start();
    let (edited, _) = world.start();
    world.in_box(
        &work,
        "cd /workspace; git checkout -qb feat; echo x > f; git add f; git commit -qm f; git checkout -q -",
    );
    world.in_box(&edited, "echo x > /workspace/README.md");
    // The mappings are lost; the boxes themselves tell what they were started from. A pane would bring its own back.
    let first = world.pane_ids()[0].clone();
    for pane in world.pane_ids().iter().filter(|pane| **pane != first) {
        world.herdr(&["pane", "close", pane]);
    }
    eventually("the panes are closed", LONG, || world.panes().len() == 1 && !world.runs("provision"));
    world.edit_state(|state| state["records"] = json!([]));
    let left = || {
        let mut ids: Vec<_> =
            world.boxes().iter().map(|listed| listed["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert_eq!(left(), sorted(vec![work.clone(), edited.clone()]), "{done} goes: {pruned:?}");
    assert!(pruned.stdout.contains("not here: branch feat: 1 commit"), "{pruned:?}");
    assert!(pruned.stdout.contains("1 file of its workspace is not applied"), "{pruned:?}");
    let kept = result_line(&pruned.stdout);
    assert_eq!((&kept["deleted"], kept["kept"].as_array().map(Vec::len)), (&json!(1), Some(2)), "{kept}");
    assert!(kept["kept"].to_string().contains(&name));
    let _ = world.home.run(&["local", "sandbox", "pause", &work]).success();
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains("not here: the box is paused"), "{pruned:?}");
    assert_eq!(left().len(), 2);
    let asked = Pty::spawn(world.home.command(&["herdr", "prune"]), 40, 120);
    asked.expect("not here: 1 file of its workspace", LONG);
    asked.expect("Delete 2 boxes for ever?", LONG);
    drop(asked);
    let _ = world.home.run(&["herdr", "prune", "--yes", "--discard"]).success();
    assert!(left().is_empty());
}
