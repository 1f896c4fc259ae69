//! The same with the official CLI, which a stand-in plays, and with what a service does to a connection.

use super::{Cos, mixed};
use crate::support::eventually;
use serde_json::json;
use std::time::Duration;

#[test]
fn the_story_with_the_official_program() {
    let cos = Cos::service();
    let done = cos.run(&["offload", "-o", "made", ".", "cat README.md; pwd; echo x > made; exit 5"]);
    assert_eq!((done.code, done.stdout.as_str()), (5, "hello\n/work\n"), "{done:?}");
    assert_eq!(cos.repo().read("made"), "x\n");
    cos.has_nothing_left();
    let _ = cos.run(&["up", "-v", "A=b"]).success();
    assert_eq!(cos.run(&["run", "echo $A; echo kept > ~/f"]).success().stdout, "b\n");
    let fork = cos.run(&["fork"]).success().stdout.trim().to_owned();
    assert!(fork.starts_with("sb-"), "{fork}");
    let _ = cos.run(&["pause"]).success();
    let _ = cos.run(&["run", "true"]).fails(1, "is paused");
    let _ = cos.run(&["resume"]).success();
    assert_eq!(cos.run(&["run", "cat ~/f"]).success().stdout, "kept\n");
    let _ = cos.run(&["down", "-f"]).success();
    cos.has_nothing_left();
    // Everything is told to pause by itself, and nothing reads stdin.
    let created: Vec<_> =
        cos.calls().into_iter().filter(|call| call.contains(&"create".to_owned())).collect();
    assert!(
        created.iter().all(|call| call.windows(2).any(|pair| pair == ["--auto-pause", "30m"])),
        "{created:?}"
    );
}

#[test]
fn output_is_complete_and_there_once_however_often_the_stream_is_cut() {
    let mut cos = Cos::service();
    let bytes = mixed(3_000_000);
    cos.repo().write("blob.bin", &bytes);
    for seed in [1_u64, 977] {
        let cuts: Vec<u64> = (1..=12).map(|n| (seed * 104_729 * n * n) % 700_000 + n).collect();
        cos.script("cuts", json!(cuts));
        let _ = std::fs::remove_dir_all(cos.home().path().join(".createos-stand-in/cut"));
        let output = cos.command(&["offload", ".", "cat blob.bin; exit 3"]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == bytes, "seed {seed}: {} of {} bytes", output.stdout.len(), bytes.len());
        cos.script("cuts", json!([]));
    }
    cos.has_nothing_left();
}

#[test]
fn a_refused_sign_in_says_what_to_do_and_makes_nothing() {
    let mut cos = Cos::service();
    cos.script("fail", json!([{ "verb": "*", "code": "unauthorized", "message": "invalid api key" }]));
    let refused = cos.run(&["offload", ".", "true"]).fails(1, "createos login");
    assert!(refused.stderr.contains("never paste"), "{refused:?}");
    let _ = cos.run(&["up"]).fails(1, "createos login");
    assert_eq!(cos.own(), None);
    cos.script("fail", json!([]));
    cos.has_nothing_left();
}

#[test]
fn a_shape_that_the_plan_refuses_is_named_with_those_that_it_has() {
    let mut cos = Cos::service();
    let words = "shape is not allowed on your plan, choices: [s-1vcpu-1gb s-2vcpu-2gb]";
    cos.script("fail", json!([{ "verb": "create", "code": "bad_request", "message": words }]));
    let line = "shape 's-8vcpu-16gb' not allowed on your plan. Allowed: s-1vcpu-1gb, s-2vcpu-2gb";
    let _ = cos.run(&["offload", "-s", "s-8vcpu-16gb", ".", "true"]).fails(1, line);
    let _ = cos.run(&["up", "-s", "s-8vcpu-16gb"]).fails(1, line);
    cos.has_nothing_left();
}

#[test]
fn a_taken_name_is_replaced_by_another() {
    let mut cos = Cos::service();
    cos.script("times", json!({ "name_taken": 2 }));
    let _ = cos.run(&["offload", ".", "true"]).success();
    cos.has_nothing_left();
}

#[test]
fn a_box_that_comes_slowly_is_waited_for() {
    let mut cos = Cos::service();
    cos.script("slow", json!(3));
    assert_eq!(cos.run(&["offload", ".", "echo up"]).success().stdout, "up\n");
    cos.has_nothing_left();
}

#[test]
fn empty_lists_that_are_null_and_answers_without_an_id_are_understood() {
    let mut cos = Cos::service();
    cos.script("null_lists", json!(true));
    cos.script("create_json", json!("text"));
    assert_eq!(cos.run(&["offload", ".", "echo ok"]).success().stdout, "ok\n");
    cos.has_nothing_left();
}

#[test]
fn a_box_that_comes_after_its_call_has_failed_is_looked_for_and_deleted() {
    let mut cos = Cos::service();
    cos.script("times", json!({ "create_late": 1 }));
    let failed = cos.run(&["offload", ".", "true"]).fails(1, "may still come");
    assert_eq!(cos.records().len(), 1, "{failed:?}");
    // The service makes it now.
    let late = cos.home().read(".createos-stand-in/late");
    let words: Vec<String> = serde_json::from_str(late.lines().next().unwrap()).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let _ = cos.home().run(&words).success();
    eventually("it is found and deleted", Duration::from_secs(60), || {
        cos.boxes().is_empty() && cos.records().is_empty()
    });
}

/// Defect: a destroyed box whose `rm` failed still cleared the state.
#[test]
fn a_box_that_cannot_be_deleted_is_named_and_tried_again() {
    let mut cos = Cos::service();
    cos.script("times", json!({ "rm_fails": 2 }));
    let done = cos.run(&["offload", ".", "true"]).fails(1, "could not be deleted");
    assert!(done.stderr.contains("sandbox rm --yes sb-"), "{done:?}");
    eventually("the clean-up deletes it", Duration::from_secs(60), || {
        cos.boxes().is_empty() && cos.records().is_empty()
    });
    let _ = std::fs::remove_file(cos.home().path().join(".createos-stand-in/rm_fails.0"));
    let _ = std::fs::remove_file(cos.home().path().join(".createos-stand-in/rm_fails.1"));
    cos.script("times", json!({}));
    let _ = cos.run(&["up"]).success();
    cos.script("times", json!({ "rm_fails": 2 }));
    let _ = cos.run(&["down"]).fails(1, "could not be deleted");
    assert!(cos.own().is_some(), "the record goes only with the box");
    let _ = cos.run(&["down"]).success();
    cos.has_nothing_left();
}

/// Defects: status looked at 50 rows, and a box that is `creating` looked gone.
#[test]
fn status_asks_by_id_whatever_else_the_account_has() {
    let mut cos = Cos::service();
    let _ = cos.run(&["up"]).success();
    cos.script("other_rows", json!(60));
    cos.script("status", json!("creating"));
    let status = cos.run(&["status"]).success();
    assert!(status.stdout.contains("creating"), "{status:?}");
    let before = cos.calls().len();
    let _ = cos.run(&["status"]).success();
    let asked: Vec<_> = cos.calls().split_off(before);
    assert!(asked.iter().all(|call| call.iter().any(|word| word == "get")), "{asked:?}");
}

#[test]
fn a_box_that_another_account_does_not_see_is_not_forgotten() {
    let mut cos = Cos::service();
    let _ = cos.run(&["up"]).success();
    cos.script("other_account", json!(true));
    cos.script("other_rows", json!(3));
    let _ = cos.run(&["run", "true"]).fails(1, "");
    let _ = cos.run(&["down"]).fails(1, "");
    assert!(cos.own().is_some());
    cos.script("other_account", json!(false));
    cos.script("other_rows", json!(0));
    let _ = cos.run(&["down"]).success();
}

#[test]
fn running_a_command_takes_two_calls() {
    let cos = Cos::service();
    let _ = cos.run(&["up"]).success();
    let before = cos.calls().len();
    let _ = cos.run(&["run", "true"]).success();
    let calls = cos.calls().split_off(before);
    assert!(calls.len() <= 3, "{calls:?}");
}

#[test]
fn an_image_without_bash_is_named() {
    let mut cos = Cos::service();
    let words = "exec: \"bash\": executable file not found in $PATH";
    cos.script("fail", json!([{ "verb": "process start", "code": "error", "message": words }]));
    let _ = cos.run(&["offload", ".", "true"]).fails(1, "an image that has bash");
    cos.script("fail", json!([]));
    cos.has_nothing_left();
}
