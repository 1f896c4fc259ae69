//! What a pane does when its attach has ended: it tries again by itself, or it holds and asks.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

/// How often the attach child was started.
fn attaches(world: &World) -> usize {
    world.calls_of("process").iter().filter(|argv| argv.contains(&"attach".to_owned())).count()
}

#[test]
fn a_connection_that_stays_lost_is_tried_at_longer_intervals() {
    let mut world = World::new();
    world.script("times", json!({ "attach_loses": 3 }));
    let (_, pane) = world.start();
    let name = world.box_name();
    let lost = format!("Shell in {name}: the connection to the box was lost; trying again in");
    world.sees(&pane, &format!("Shell in {name}: the connection to the box was lost; trying again at once"));
    for wait in ["1 s", "2 s"] {
        world.sees(&pane, &format!("{lost} {wait} (q closes this pane)"));
    }
    world.answers(&pane, "once", "more");
    assert_eq!(attaches(&world), 4);
}

#[test]
fn while_it_tries_again_words_do_nothing_and_q_closes_the_pane() {
    let mut world = World::new();
    world.script("times", json!({ "attach_loses": 99 }));
    let (_, pane) = world.start();
    world.sees(&pane, "trying again in 4 s");
    world.types(&pane, "quit this please");
    world.sees(&pane, "trying again in 8 s");
    let screen = world.screen(&pane);
    assert!(!screen.contains("shell on THIS machine") && !screen.contains("runs on THIS"), "{screen}");
    world.key(&pane, "q");
    eventually("q closes the pane", LONG, || !world.pane_ids().contains(&pane));
    assert_eq!((world.boxes().len(), world.records().len()), (1, 1), "the box stays, and its mapping");
}

#[test]
fn a_provider_that_cannot_be_asked_is_asked_before_the_next_attach() {
    let mut world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.script("fail", json!([{ "verb": "get", "code": "server_error", "message": "the moon is down" }]));
    world.kill("attach");
    world.sees(&pane, "the moon is down; trying again in 4 s");
    assert_eq!(attaches(&world), 1, "an attach that waits for it would count as a connection");
    world.script("fail", json!([]));
    world.answers(&pane, "back", "again");
}

#[test]
fn a_box_that_is_being_deleted_is_not_called_deleted_before_it_is() {
    let mut world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.script("status", json!("destroying"));
    world.kill("attach");
    world.sees(&pane, "its box is being deleted; looking again in 1 s (q closes this pane)");
    assert!(!world.screen(&pane).contains("was deleted"), "{}", world.screen(&pane));
    assert_eq!(world.records().len(), 1, "nothing is proven yet");
    let refused = world.invoke("attach").fails("is being deleted");
    assert!(refused["fix"].as_str().expect("a fix").contains("start a new one"), "{refused}");
    world.remove_box();
    world.script("status", json!(null));
    world.sees(&pane, "its box was deleted.");
    assert!(world.records().is_empty());
}

#[test]
fn what_has_become_of_the_box_is_said_and_enter_tells_what_is_left_to_do() {
    let mut world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.script("status", json!("failed"));
    world.kill("attach");
    world.sees(&pane, "the box has failed.");
    world.comes_back(&pane);
    world.sees(&pane, "help: look at it with: createos sandbox get");
    world.script("status", json!(null));
    world.comes_back(&pane);
    world.answers(&pane, "back", "again");
    // On its way from one state to another: it is looked at again by itself.
    world.script("status", json!("resuming"));
    world.kill("attach");
    world.sees(&pane, "the box is resuming; trying again in");
    world.script("status", json!(null));
    world.answers(&pane, "third", "time");
    assert_eq!(world.records().len(), 1);
}

#[test]
fn s_opens_a_shell_of_this_machine_in_the_worktree_that_is_no_agent() {
    // Herdr itself may have been started by an agent.
    let world = World::with(json!({ "agent": "shell" }), |home| home.var("HERDR_AGENT", "codex"));
    let (_, pane) = world.start();
    world.types(&pane, "exit 7");
    world.sees(&pane, "q       close this pane (the box stays: createos-sandbox herdr boxes)");
    // Meant for the agent that has just ended.
    world.types(&pane, "squash the last commits please");
    world.key(&pane, "s");
    world.sees(&pane, "This shell runs on THIS machine. Leave it with exit.");
    let shop = world.repo.root().display().to_string();
    world.types(&pane, "echo \"<$PWD:$HERDR_AGENT:$CREATEOS_SANDBOX_RECORD:$HERDR_PANE_ID>\"");
    world.sees(&pane, &format!("<{shop}:::{pane}>"));
    let before = world.screen(&pane);
    assert_eq!(before.matches("runs on THIS machine").count(), 1, "only its key opens it: {before}");
    world.types(&pane, "exit");
    world.sees(&pane, "Back from the shell on this machine.");
    let again = || {
        let screen = world.screen(&pane);
        let (_, after) = screen.rsplit_once("Back from the shell").expect("it says so");
        ["Enter   resume and reattach", "s       a shell on THIS machine", "q       close this pane"]
            .iter()
            .all(|line| after.contains(line))
    };
    eventually("the holding screen is there again", LONG, again);
    world.comes_back(&pane);
    world.answers(&pane, "back", "again");
}

#[test]
fn the_screen_of_a_failed_start_stays_and_offers_a_shell_only_by_its_key() {
    let mut world = World::new();
    world.script("fail", json!([{ "verb": "create", "code": "rate_limited", "message": "slow down" }]));
    world.invoke("start").fails("slow down");
    let pane = world.pane_ids().last().expect("a pane").clone();
    world.sees(&pane, "q       close this pane");
    assert_eq!(world.label(&pane), "NOT in a box: the start failed · shop");
    world.types(&pane, "squash the last commits please");
    world.key(&pane, "enter");
    world.key(&pane, "x");
    let screen = world.screen(&pane);
    assert!(screen.contains("slow down") && !screen.contains("runs on THIS machine"), "{screen}");
    assert!(!screen.contains("Enter   resume"), "there is nothing to resume: {screen}");
    world.key(&pane, "s");
    world.sees(&pane, "This shell runs on THIS machine.");
    world.types(&pane, "echo \"<$PWD>\"; exit");
    world.sees(&pane, &format!("<{}>", world.repo.root().display()));
    world.sees(&pane, "Back from the shell on this machine.");
    world.key(&pane, "q");
    eventually("q closes the pane", LONG, || !world.pane_ids().contains(&pane));
}
