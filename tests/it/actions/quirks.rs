//! The official program's quirks (contract `createos-cli.md` 5), each by its switch.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

#[test]
fn every_call_has_its_flags_first_a_neutral_folder_and_a_full_id() {
    let world = World::new();
    let (id, _) = world.start();
    for call in world.calls() {
        assert_eq!(call["cwd"], "/", "{call}");
        assert_eq!(call["do_not_track"], "1", "{call}");
    }
    let started = &world.calls_of("process")[0];
    let at = |word: &str| {
        started.iter().position(|own| own == word).unwrap_or_else(|| panic!("{word}: {started:?}"))
    };
    assert!(at("--cwd") < at(&id) && at("--rows") < at(&id) && at(&id) < at("--"), "{started:?}");
    assert_eq!(started[..3], ["-o", "json", "sandbox"], "{started:?}");
    // Data travels behind a guard, so that no word of it can be one that the program looks for.
    for exec in world.calls_of("exec") {
        let command = exec.iter().position(|word| word == "--").unwrap();
        let data = &exec[command + 5..];
        assert!(data.iter().all(|word| word.starts_with('=')), "{exec:?}");
    }
}

#[test]
fn every_answer_of_create_is_understood_and_a_taken_name_is_replaced() {
    for form in ["old", "action", "decorated", "text"] {
        let mut world = World::new();
        world.script("create_json", json!(form));
        world.script("times", json!({ "name_taken": 1 }));
        let _ = world.start();
        assert_eq!(world.calls_of("create").len(), 2, "{form}");
        assert_eq!(world.boxes().len(), 1, "{form}");
    }
}

#[test]
fn a_box_beyond_the_first_200_rows_is_not_taken_for_gone() {
    let mut world = World::new();
    let _ = world.start();
    world.script("other_rows", json!(1_200));
    world.script("hide_from_get", json!(true));
    world.invoke("attach").fails("no sandbox matching");
    assert_eq!(world.records().len(), 1, "it is in the listing");
    assert_eq!(world.invoke("info").ok()["status"], "missing");
    // A build that knows no pages proves nothing. The pane asks too, when its stream ends.
    world.script("offset_ignored", json!(true));
    world.remove_box();
    world.invoke("attach").fails("no sandbox matching");
    assert_eq!(world.records().len(), 1, "an incomplete listing drops nothing");
    world.script("offset_ignored", json!(false));
    let _ = world.invoke("attach");
    eventually("a complete listing without it does", LONG, || world.records().is_empty());
}

#[test]
fn a_lost_stream_is_attached_again_by_itself() {
    let mut world = World::new();
    world.script("times", json!({ "attach_loses": 1 }));
    let (_, pane) = world.start();
    world.sees(&pane, "trying again in 1 s");
    eventually("it attaches again", LONG, || {
        world.calls_of("process").iter().filter(|argv| argv.contains(&"attach".to_owned())).count() == 2
    });
    world.answers(&pane, "once", "more");
}

#[test]
fn errors_of_every_generation_are_shown_in_the_programs_own_words() {
    let mut world = World::new();
    let _ = world.start();
    world.script("fail", json!([{ "verb": "get", "code": "server_error", "message": "the moon is down" }]));
    for errors in ["envelope", "stdout", "stderr"] {
        world.script("errors", json!(errors));
        let failed = world.invoke("info").fails("the moon is down");
        assert!(!failed["error"].as_str().unwrap().contains("ERROR"), "{failed}");
    }
    assert_eq!(world.records().len(), 1);
}
