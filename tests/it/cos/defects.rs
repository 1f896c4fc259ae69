//! What the earlier driver did wrong, by name.

use super::Cos;
use serde_json::json;
use std::process::{Child, Stdio};

/// The exit code was polluted by what a login shell's profile prints.
#[test]
fn a_login_banner_is_no_output_and_no_exit_code() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let _ = cos.run(&["run", "echo 'echo 77; echo BANNER >&2' > ~/.bash_profile"]).success();
    let done = cos.run(&["run", "echo x; exit 3"]);
    assert_eq!((done.code, done.stdout.as_str()), (3, "x\n"), "{done:?}");
}

/// 7 of 50 writers survived.
#[test]
fn no_fork_is_lost_of_those_that_are_made_at_once() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let children: Vec<Child> = (0..5).map(|_| cos.start(&["fork"])).collect();
    let mut ids: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).expect("text").trim().to_owned()
        })
        .collect();
    let own = cos.own().expect("a record");
    let mut known: Vec<String> =
        own["fork_ids"].as_str().expect("text").split(' ').map(str::to_owned).collect();
    ids.sort();
    known.sort();
    assert_eq!(known, ids);
}

/// A fork that failed left the box paused, and a clone that nobody knew.
#[test]
fn a_box_is_resumed_when_its_fork_fails() {
    let mut cos = Cos::service();
    let _ = cos.run(&["up"]).success();
    cos.script("fail", json!([{ "verb": "fork", "code": "bad_request", "message": "no room for a copy" }]));
    let _ = cos.run(&["fork"]).fails(1, "no room for a copy");
    assert_eq!(cos.run(&["run", "echo runs"]).success().stdout, "runs\n");
}

/// `-n` was ignored.
#[test]
fn a_box_has_the_name_that_was_asked_for() {
    let cos = Cos::local();
    let _ = cos.run(&["up", "-n", "mine"]).success();
    assert_eq!(cos.boxes()[0]["name"], "mine");
    let again = cos.run(&["up", "-n", "mine"]).success();
    assert!(again.stderr.contains("reusing box mine"), "{again:?}");
}

/// The words of `-o` were not quoted; a failed pull was silent.
#[test]
fn a_name_with_blanks_comes_home() {
    let cos = Cos::local();
    let _ = cos.run(&["offload", "-o", "a b/-c", ".", "mkdir 'a b'; echo x > 'a b/-c'"]).success();
    assert_eq!(cos.repo().read("a b/-c"), "x\n");
}

/// A driver that reads stdin takes it from who called it, or hangs.
#[test]
fn stdin_is_never_read() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let mut command = cos.command(&["run", "cat; echo done"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // Held open, and nothing comes.
    let open = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(open);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
}

/// The egress list was wiped, or was never passed on.
#[test]
fn a_box_reaches_what_was_said_and_that_is_told() {
    let cos = Cos::local();
    let done = cos.run(&["offload", "-K", "-e", "a.example.com", "-p", "github", ".", "exit 1"]);
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("reaches only a.example.com, codeload.github.com"), "{done:?}");
    assert!(done.stderr.contains("about 30 s"), "{done:?}");
    let rules = cos.boxes()[0]["egress"].as_array().expect("rules").len();
    assert_eq!(rules, 5);
    let open = cos.run(&["offload", "-K", "-E", ".", "exit 1"]);
    assert!(!open.stderr.contains("reaches only"), "{open:?}");
}

/// A run that dies without its code was taken for one that goes on, or for one that passed.
#[test]
fn a_command_that_is_killed_with_its_wrapper_is_a_failure_and_its_box_is_kept() {
    let cos = Cos::local();
    let done = cos
        .run(&["offload", ".", "echo begun; sleep 1; kill -9 $PPID; sleep 1000"])
        .fails(1, "before it was done");
    assert_eq!(done.stdout, "begun\n");
    assert!(done.stderr.contains("no output for 60 s"), "{done:?}");
    assert!(done.stderr.contains("sandbox rm --yes sb-"), "{done:?}");
    assert_eq!((cos.boxes().len(), &cos.records()[0]["phase"]), (1, &json!("kept")));
}
