//! Boxes that no pane shows: named on the command line, or picked from the list.

use super::world::{LONG, World, typed};
use crate::support::{Pty, eventually, outcome};
use serde_json::Value;

/// Two boxes of one worktree whose panes were closed, the older first, and the pane that is left.
fn two_without_panes(world: &World) -> (String, [String; 2]) {
    let first = world.pane_ids()[0].clone();
    let _ = world.start();
    let _ = world.start();
    for pane in world.pane_ids().iter().filter(|pane| **pane != first) {
        world.herdr(&["pane", "close", pane]);
    }
    eventually("the panes are closed", LONG, || world.panes().len() == 1);
    let name = |record: &Value| record["box"].as_str().expect("a name").to_owned();
    let records = world.records();
    (first, [name(&records[0]), name(&records[1])])
}

/// The pane that the mapping of this box names.
fn pane_of(world: &World, name: &str) -> String {
    let records = world.records();
    let record = records.iter().find(|record| record["box"] == name).expect("its record");
    record["pane"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_box_is_attached_to_by_its_name_and_the_refusal_says_what_to_type() {
    let world = World::new();
    let (first, names) = two_without_panes(&world);
    let refused = outcome(typed(&world, &first, &["herdr", "attach"]));
    let refused = refused.fails(1, "2 boxes belong to its worktree");
    for name in &names {
        let command = format!("createos-sandbox herdr attach {name}");
        assert!(refused.stderr.contains(&command), "{command}: {refused:?}");
    }
    assert!(!refused.stderr.contains("pane w"), "only panes that live are named: {refused:?}");

    let attached = outcome(typed(&world, &first, &["herdr", "attach", &names[1]])).success();
    assert!(attached.stdout.contains(&names[1]), "{attached:?}");
    let pane = pane_of(&world, &names[1]);
    world.answers(&pane, "by", "name");
    // One of the two has a pane now, and it is named.
    let refused = outcome(typed(&world, &first, &["herdr", "info"])).fails(1, "2 boxes");
    assert!(refused.stderr.contains(&format!("in pane {pane}")), "{refused:?}");
    // Named again, its own pane gets the focus instead of a second one.
    world.focus_left(&first);
    let _ = outcome(typed(&world, &first, &["herdr", "attach", &names[1]])).success();
    assert_eq!(world.panes().len(), 2);
    let focused = world.panes().into_iter().find(|pane| pane["focused"] == true).expect("one has it");
    assert_eq!(focused["pane_id"], pane.as_str());

    let info = outcome(typed(&world, &first, &["herdr", "info", &names[0]])).success();
    assert!(info.stdout.contains(&names[0]), "{info:?}");
    let _ = outcome(typed(&world, &first, &["herdr", "pause", &names[0]])).success();
    let status = |name: &str| {
        world.boxes().iter().find(|listed| listed["name"] == name).map(|listed| listed["status"].clone())
    };
    assert_eq!(status(&names[0]).expect("it is there"), "paused");
    for (left, words) in [(true, "confirmation-required"), (false, "deleted")] {
        let deleted = outcome(typed(&world, &first, &["herdr", "delete", &names[0]])).success();
        assert!(deleted.stdout.contains(words), "{deleted:?}");
        assert_eq!(status(&names[0]).is_some(), left);
    }
    let unknown = outcome(typed(&world, &first, &["herdr", "delete", "hd-nobody"]));
    let _ = unknown.fails(1, "no box that was started here is called hd-nobody");
}

#[test]
fn enter_in_the_list_attaches_to_the_chosen_box() {
    let world = World::new();
    let (first, names) = two_without_panes(&world);
    let mut list = Pty::spawn(typed(&world, &first, &["herdr", "boxes"]), 24, 110);
    names.iter().for_each(|name| list.expect(name, LONG));
    list.expect("orphan", LONG);
    // Newest first: one down is the older.
    list.send("j");
    list.send("\r");
    assert!(list.wait(LONG).success(), "{}", list.text());
    eventually("a pane shows it", LONG, || world.panes().len() == 2);
    world.answers(&pane_of(&world, &names[0]), "from", "list");
}
