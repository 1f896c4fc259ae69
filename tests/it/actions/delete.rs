//! Deleting: twice from the command line, a question after a key.

use super::world::{CALM, LONG, World, typed};
use crate::support::{Pty, eventually};
use serde_json::json;

/// The question before a delete of the first record's box, on a terminal of its own.
pub fn ask_delete(world: &World, pane: &str, (rows, columns): (u16, u16)) -> Pty {
    let mut command = typed(world, pane, &["herdr", "ask-delete"]);
    command.env("CREATEOS_SANDBOX_RECORD", world.records()[0]["id"].as_str().expect("an id"));
    Pty::spawn(command, rows, columns)
}

#[test]
fn delete_needs_a_second_word_and_the_pane_tells_what_happened() {
    let world = World::new();
    let (_, pane) = world.start();
    assert_eq!(world.invoke("delete").ok()["result"], "confirmation-required");
    assert_eq!(world.boxes().len(), 1);
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
    assert!(world.boxes().is_empty());
    assert!(world.records().is_empty());
    world.sees(&pane, "its box was deleted");
    assert!(world.pane_ids().contains(&pane), "the pane is not dead, it holds");
    let refused = world.invoke("delete").fails("this pane has no box");
    assert!(refused["fix"].as_str().unwrap().contains("close_tab"), "{refused}");
    world.key(&pane, "q");
    eventually("q closes the pane", LONG, || !world.pane_ids().contains(&pane));
}

#[test]
fn a_pane_that_holds_says_at_once_that_its_box_was_deleted_and_offers_only_the_end() {
    let world = World::new();
    let (_, pane) = world.start();
    world.types(&pane, "exit 7");
    world.sees(&pane, "Enter   resume and reattach");
    let _ = world.invoke("delete").ok();
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
    world.sees(&pane, "its box was deleted");
    world.sees(&pane, "q       close this pane");
    let screen = world.screen(&pane);
    let (_, after) = screen.rsplit_once("its box was deleted").expect("it says so");
    assert!(!after.contains("Enter") && !after.contains("the box stays"), "{screen}");
    assert!(!after.contains("a shell on THIS machine"), "{screen}");
    world.key(&pane, "q");
    eventually("q closes the pane", LONG, || !world.pane_ids().contains(&pane));
}

#[test]
fn a_key_asks_in_a_popup_with_what_is_not_applied_yet() {
    let world = World::new();
    let (_, pane) = world.start();
    world.types(&pane, "echo x > unsaved.txt; echo do''ne");
    world.sees(&pane, "done");
    assert_eq!(world.press("delete").ok()["result"], "confirmation-required");
    world.popup_says("Delete this box for ever?");
    let name = world.box_name();
    world.popup_says(&format!("box           {name} (Shell)"));
    world.popup_says("worktree      ~/shop");
    world.popup_says("not applied   unsaved.txt");
    world.types_in_popup("n");
    world.popup_closes();
    assert_eq!(world.boxes().len(), 1, "any other key keeps it");

    let _ = world.press("delete").ok();
    world.popup_says("keep it");
    world.types_in_popup("y");
    eventually("the box is deleted", LONG, || world.boxes().is_empty());
    world.sees(&pane, "its box was deleted");
}

#[test]
fn the_delete_key_itself_is_the_second_word() {
    let world = World::new();
    let _ = world.start();
    let _ = world.press("delete").ok();
    world.popup_says("keep it");
    // While a popup is open the prefix and the key reach its program, and Herdr sees neither.
    world.types_in_popup("\u{2}X");
    eventually("the box is deleted", LONG, || world.boxes().is_empty());
    world.popup_closes();
}

#[test]
fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let world = World::new();
    let (_, pane) = world.start();
    for (early, late, left) in [("y", "n", 1), ("n", "y", 0)] {
        let mut question = ask_delete(&world, &pane, (24, 80));
        // It is there before the question is.
        question.send(early);
        question.expect("keep it", LONG);
        std::thread::sleep(CALM);
        assert_eq!(world.boxes().len(), 1, "{}", question.text());
        question.send(late);
        assert!(question.wait(LONG).success(), "{}", question.text());
        assert_eq!(world.boxes().len(), left, "{}", question.text());
    }
}

#[test]
fn a_first_word_counts_for_a_minute() {
    let world = World::new();
    let (_, pane) = world.start();
    let rearm = |seconds: u64| {
        world.edit_state(|state| {
            let armed = &mut state["records"][0]["deleteArmedAt"];
            *armed = json!(armed.as_u64().expect("it is armed") - seconds);
        });
    };
    let first = world.invoke("delete").ok();
    assert_eq!(first["result"], "confirmation-required");
    rearm(60);
    let late = world.invoke("delete").ok();
    assert_eq!(late["result"], "confirmation-required", "it is asked anew");
    assert_eq!(late["box"], world.records()[0]["box"]);
    assert_eq!(world.boxes().len(), 1);
    rearm(20);
    assert_eq!(world.invoke("delete").ok()["result"], "deleted");
    assert!(world.boxes().is_empty());
    world.sees(&pane, "its box was deleted");
}

#[test]
fn the_question_is_there_before_the_box_was_looked_into() {
    let mut world = World::new();
    let _ = world.start();
    world.script("hold", json!("exec"));
    let _ = world.press("delete").ok();
    world.popup_says(&format!("box           {} (Shell)", world.box_name()));
    world.popup_says("not applied   looking …");
    world.script("hold", json!(null));
    world.popup_says("not applied   nothing");
    world.types_in_popup("n");
    world.popup_closes();
    assert_eq!(world.boxes().len(), 1);
}

#[test]
fn a_refusal_of_the_provider_is_shown_in_the_popup_and_the_mapping_stays() {
    let mut world = World::new();
    let _ = world.start();
    world.script("times", json!({ "rm_fails": 9 }));
    let _ = world.press("delete").ok();
    world.popup_says("Delete this box for ever?");
    world.popup_says("keep it");
    world.types_in_popup("y");
    world.popup_says("the service is busy");
    let id = world.boxes()[0]["id"].as_str().expect("an id").to_owned();
    world.popup_says(&format!("createos sandbox rm --yes {id}"));
    world.types_in_popup("x");
    world.popup_closes();
    assert_eq!((world.boxes().len(), world.records().len()), (1, 1));
    world.script("times", json!({}));
}
