//! What goes wrong before and after a box is paid for, and how a person hears of it.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

#[test]
fn what_cannot_work_is_refused_before_a_box_is_made() {
    let world = World::new();
    let config = ".config/herdr/plugins/config/createos.sandbox/config.json";
    for (settings, words) in [
        (json!({ "agent": "claude" }), "unknown agent"),
        (json!({ "remoteRoot": "work" }), "not an absolute path"),
        (json!({ "agnet": "shell" }), "agnet"),
    ] {
        world.home.write(config, settings.to_string());
        world.invoke("start").fails(words);
    }
    world.home.write(config, json!({ "agent": "shell", "excludes": ["src/", "README.md"] }).to_string());
    let empty = world.invoke("start").fails("no file of this worktree would be uploaded");
    assert!(empty["fix"].as_str().unwrap().contains("upload --dry-run"), "{empty}");
    // What leaves is packed before a box is made: only then are the contents known.
    let token = ["AKIA", "Q3EGUSXB", "4LKZT7PN"].concat();
    world.repo.write("README.md", format!("aws_access_key_id = {token}\n"));
    world.home.write(config, json!({ "agent": "shell", "excludes": ["src/"] }).to_string());
    world.invoke("start").fails("no file of this worktree may be uploaded");
    world.home.write(config, json!({ "agent": "shell" }).to_string());
    let elsewhere = world.home.path().join("tmp").display().to_string();
    world.herdr(&["workspace", "create", "--cwd", &elsewhere, "--focus"]);
    world.invoke("start").fails("git");
    assert!(world.calls_of("create").is_empty(), "nothing was asked of the provider");
    assert!(world.records().is_empty(), "{:?}", world.records());
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named_before_anything_is_paid_for() {
    let world = World::new();
    let folder = world.state_folder();
    world.settles();
    // A file where a folder has to be refuses root too, whom mode bits do not stop.
    let _not_made_yet = std::fs::remove_dir_all(folder.join("locks"));
    std::fs::write(folder.join("locks"), "").expect("a file");
    let refused = world.invoke("start").fails(&folder.display().to_string());
    assert!(refused["fix"].as_str().unwrap().contains("must be writable"), "{refused}");
    assert!(world.calls_of("create").is_empty());
}

#[test]
fn a_refusal_shows_the_providers_words_and_what_to_do() {
    let mut world = World::new();
    for (code, message, fix) in [
        ("forbidden", "sandbox limit reached (2 of 2)", "paused boxes count too"),
        (
            "bad_request",
            "shape s-2vcpu-4gb is not allowed, choices: [s-1vcpu-1gb]",
            "createos sandbox shapes",
        ),
        ("unauthorized", "invalid api key", "createos login"),
        ("api_error", "request failed with status 402", "no credit"),
        ("rate_limited", "too many requests, slow down", "wait a minute"),
    ] {
        world.script("fail", json!([{ "verb": "create", "code": code, "message": message }]));
        let refused = world.invoke("start").fails(message);
        assert!(refused["fix"].as_str().unwrap().contains(fix), "{refused}");
    }
    let pane = world.pane_ids().last().unwrap().clone();
    world.sees(&pane, "slow down");
    assert!(world.boxes().is_empty() && world.records().is_empty());
}

#[test]
fn at_the_cap_your_own_boxes_are_named() {
    let mut world = World::new();
    let _ = world.start();
    for (message, help) in [
        ("sandbox limit reached (1 of 1)", "paused boxes count too"),
        ("limit of 20 sandboxes per day reached", "try again tomorrow"),
    ] {
        world.script("fail", json!([{ "verb": "create", "code": "forbidden", "message": message }]));
        let refused = world.invoke("start").fails(message);
        assert!(refused["fix"].as_str().unwrap().contains(help), "{refused}");
        let pane = world.pane_ids().last().unwrap().clone();
        let name = world.box_name();
        world.sees(&pane, message);
        world.sees(&pane, &format!("{name} in ~/"));
        world.key(&pane, "q");
        eventually("q closes the failed pane", LONG, || !world.pane_ids().contains(&pane));
    }
}

#[test]
fn a_failure_after_the_box_was_made_deletes_it_or_says_how() {
    let mut world = World::with_config(json!({ "agent": "codex" }));
    let refused =
        json!([{ "verb": "process start", "code": "forbidden", "message": "no processes for you" }]);
    world.script("fail", refused);
    let failed = world.invoke("start").fails("no processes for you");
    assert!(failed["error"].as_str().unwrap().contains("was deleted, nothing is billed"), "{failed}");
    assert!(world.boxes().is_empty());
    let pane = world.pane_ids().last().unwrap().clone();
    world.sees(&pane, "nothing is billed");
    world.key(&pane, "q");
    eventually("q closes the failed pane", LONG, || !world.pane_ids().contains(&pane));

    world.script("times", json!({ "rm_fails": 4 }));
    let failed = world.invoke("start").fails("could not be deleted: the service is busy");
    let id = world.boxes()[0]["id"].as_str().unwrap().to_owned();
    assert!(failed["fix"].as_str().unwrap().contains(&format!("createos sandbox rm --yes {id}")), "{failed}");
    eventually("it was tried again", LONG, || world.calls_of("rm").len() >= 5 && !world.runs("cleanup"));
    assert_eq!(world.records()[0]["phase"], "leftover");
    let pruned = world.home.run(&["herdr", "prune", "--yes"]).success();
    assert!(pruned.stdout.contains(&id), "{pruned:?}");
    assert!(world.boxes().is_empty() && world.records().is_empty());
}

#[test]
fn a_box_that_a_failed_start_left_is_listed_and_an_hour_later_deleted() {
    let mut world = World::with_config(json!({ "agent": "codex" }));
    world.script("fail", json!([{ "verb": "process start", "code": "forbidden", "message": "not today" }]));
    world.script("times", json!({ "rm_fails": 4 }));
    let _ = world.invoke("start").fails("could not be deleted");
    let tries = || world.calls_of("rm").len();
    eventually("it was tried again", LONG, || tries() == 4 && !world.runs("cleanup"));
    let name = world.box_name();
    // Not at every key: its failure was told with the command to type.
    for _ in 0..2 {
        let _ = world.invoke("info").fails("failed, and its box may be left");
        let listed = world.home.run(&["herdr", "boxes"]).success();
        assert!(listed.stdout.contains(&name), "{listed:?}");
    }
    assert!(!world.runs("cleanup") && tries() == 4);
    assert_eq!((world.boxes().len(), &world.records()[0]["phase"]), (1, &json!("leftover")));

    world.edit_state(|state| {
        let made = &mut state["records"][0]["createdAt"];
        *made = json!(made.as_u64().expect("a time") - 3_600);
    });
    let _ = world.invoke("info");
    eventually("the box is gone", LONG, || world.boxes().is_empty());
    eventually("the record is gone", LONG, || world.records().is_empty());
    assert_eq!(tries(), 5);
}

#[test]
fn after_a_key_success_is_a_title_and_failure_a_popup() {
    let world = World::new();
    let _ = world.press("info").fails("no box");
    world.popup_says("this pane has no box");
    world.types_in_popup("x");
    world.popup_closes();

    let (_, pane) = world.start();
    world.herdr(&["pane", "rename", &pane, "mine"]);
    let _ = world.press("resume").ok();
    let shown = world.herdr(&["pane", "get", &pane])["pane"].clone();
    assert!(shown["title"].as_str().unwrap_or_default().contains("runs"), "{shown}");
    assert_eq!(shown["label"], "mine", "the user's own label stays");
    let title = || world.herdr(&["pane", "get", &pane])["pane"]["title"].clone();
    eventually("the title goes by itself", LONG, || title().as_str().unwrap_or_default().is_empty());
    let told: Vec<_> = world.asked_of_herdr().into_iter().filter(|call| call.contains("--title")).collect();
    assert!(told.iter().all(|call| call.ends_with("--ttl-ms 6000")), "after 6 s: {told:?}");
    assert_eq!(world.herdr(&["pane", "get", &pane])["pane"]["label"], "mine");

    world.configure("[ui.toast]\ndelivery = \"herdr\"\n");
    let _ = world.press("apply").ok();
    world.toasts("nothing new");
    let shown = world.herdr(&["pane", "get", &pane])["pane"].clone();
    assert!(!shown["title"].as_str().unwrap_or_default().contains("nothing new"), "not twice: {shown}");
}
