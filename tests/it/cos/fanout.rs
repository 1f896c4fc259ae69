//! `cos fanout`: a box for each command.

use super::Cos;
use crate::support::eventually;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn five_commands_in_two_boxes_at_a_time_one_of_which_fails() {
    let cos = Cos::local();
    let done = cos.run(&[
        "fanout",
        "-j",
        "2",
        ".",
        "cat README.md; sleep 1; echo one",
        "echo two",
        "echo three; exit 6",
        "echo four",
        "echo five",
    ]);
    assert_eq!(done.code, 1, "{done:?}");
    assert_eq!(done.stdout, "hello\none\ntwo\nthree\nfour\nfive\n");
    for line in ["[1/5] exit 0", "[3/5] exit 6", "[5/5] exit 0"] {
        assert!(done.stderr.contains(line), "{line} in {done:?}");
    }
    assert!(done.stderr.contains("3.log: echo three; exit 6"), "{done:?}");
    cos.has_nothing_left();
    let all = cos.run(&["fanout", ".", "true", "true"]).success();
    assert!(all.stdout.is_empty());
    cos.has_nothing_left();
}

#[test]
fn a_signal_ends_all_of_them() {
    use rustix::process::{Pid, Signal, kill_process};
    let cos = Cos::local();
    let child = cos.start(&["fanout", "-j", "3", ".", "sleep 100", "sleep 100", "sleep 100", "sleep 100"]);
    eventually("three commands run", Duration::from_secs(60), || {
        cos.records().iter().filter(|record| record["process"].is_string()).count() == 3
    });
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    let began = Instant::now();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(30));
    cos.has_nothing_left();
}

#[test]
fn a_cap_that_is_reached_lowers_how_many_run_at_once_and_is_said() {
    let mut cos = Cos::service();
    cos.script("cap", json!(1));
    let done = cos.run(&["fanout", "-j", "3", ".", "echo 1; sleep 1", "echo 2", "echo 3"]).success();
    assert_eq!(done.stdout, "1\n2\n3\n");
    assert!(done.stderr.contains("the account has no more boxes: going on with 1 at once"), "{done:?}");
    cos.has_nothing_left();
}

#[test]
fn a_box_that_cannot_be_made_is_127_and_an_upload_that_fails_is_1() {
    let mut cos = Cos::service();
    cos.script("fail", json!([{ "verb": "create", "code": "bad_request", "message": "rootfs is unknown" }]));
    let done = cos.run(&["fanout", ".", "true", "true"]).fails(1, "[1/2] exit 127");
    assert!(done.stderr.contains("[2/2] exit 127"), "{done:?}");
    cos.has_nothing_left();
    cos.script("fail", json!([{ "verb": "push", "code": "bad_request", "message": "disk is full" }]));
    let _ = cos.run(&["fanout", ".", "true"]).fails(1, "[1/1] exit 1");
    cos.has_nothing_left();
}

#[test]
fn the_logs_of_the_last_twenty_calls_are_kept() {
    let cos = Cos::local();
    for number in 0..25 {
        cos.home().write(&format!(".cache/createos-sandbox/runs/old{number}/1.log"), "x");
    }
    let _ = cos.run(&["fanout", ".", "true"]).success();
    assert_eq!(std::fs::read_dir(cos.state().join("runs")).unwrap().count(), 20);
}
