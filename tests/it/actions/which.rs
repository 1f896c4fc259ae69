//! Which box is meant when the pane has none: the only one of its worktree, in this session.

use super::world::{World, typed};
use crate::support::outcome;
use serde_json::json;

#[test]
fn a_box_that_is_meant_by_its_worktree_is_named() {
    let world = World::new();
    let first = world.pane_ids()[0].clone();
    let _ = world.start();
    let name = world.box_name();
    for (action, words) in [
        ("pause", format!("box {name} is paused (the only box of this worktree)")),
        ("resume", format!("box {name} runs (the only box of this worktree)")),
        ("attach", format!("Shell runs in box {name}, the only box of this worktree")),
    ] {
        let meant = outcome(typed(&world, &first, &["herdr", action])).success();
        assert!(meant.stdout.contains(&words), "{action}: {meant:?}");
        assert!(meant.stdout.contains(&format!("\"box\":\"{name}\"")), "{action}: {meant:?}");
    }
    let synced = outcome(typed(&world, &first, &["herdr", "sync"])).success();
    let words = format!("files of box {name} and ~/shop are kept in step (the only box of this worktree)");
    assert!(synced.stdout.contains(&words), "{synced:?}");
    // Said of the pane's own box, it would be too much.
    let own = world.invoke("resume");
    assert!(!own.stdout.contains("the only box"), "{own:?}");
    let _ = own.ok();
}

#[test]
fn boxes_of_another_session_or_worktree_are_never_meant() {
    let world = World::new();
    let first = world.pane_ids()[0].clone();
    let _ = world.start();
    let (_, pane) = world.start();
    let meant = || outcome(typed(&world, &first, &["herdr", "info"]));
    let _ = meant().fails(1, "2 boxes belong to its worktree");
    let name = world.records()[1]["box"].as_str().expect("a name").to_owned();
    world.edit_state(|state| state["records"][0]["socket"] = json!("/elsewhere/herdr.sock"));
    assert!(meant().success().stdout.contains(&name), "the only one of this session");
    world.edit_state(|state| state["records"][1]["local"] = json!("/elsewhere/shop"));
    let _ = meant().fails(1, "this pane has no box");
    for action in ["attach", "pause", "resume", "sync", "delete"] {
        let _ = outcome(typed(&world, &first, &["herdr", action])).fails(1, "this pane has no box");
    }
    // What a pane shows is its own, wherever the worktree is. The same pane of another session is another.
    let own = |pane: &str| outcome(typed(&world, pane, &["herdr", "info"]));
    assert!(own(&pane).success().stdout.contains(&name));
    world.edit_state(|state| state["records"][1]["socket"] = json!("/elsewhere/herdr.sock"));
    let _ = own(&pane).fails(1, "this pane has no box");
    assert_eq!(world.boxes().len(), 2, "nothing was deleted");
    assert!(world.boxes().iter().all(|listed| listed["status"] == "running"), "{:?}", world.boxes());
}
