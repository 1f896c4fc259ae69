//! pause, resume, auto-pause, process stop and resize.

use super::{Sandbox, on_a_full_disk};
use crate::support::{Home, Pty, User, eventually};
use std::time::{Duration, SystemTime};

const LONG: Duration = Duration::from_secs(60);

/// A program that counts in a file: stopped, it does not.
const COUNTER: &str = "echo began; i=0; while :; do i=$((i+1)); echo $i > /tmp/count; sleep 0.05; done";

/// The counter on the host's side, read without entering the box: a paused one refuses that.
fn count(made: &Sandbox) -> String {
    let file = folder(made).join("root/tmp/count");
    std::fs::read_to_string(file).unwrap_or_default()
}

fn folder(made: &Sandbox) -> std::path::PathBuf {
    made.home().path().join(".local/share/createos-sandbox/boxes").join(made.id())
}

#[test]
fn a_paused_box_stands_still_and_goes_on_where_it_was() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let id = made.start(&["--pty", "@", "--", "sh", "-c", COUNTER]);
        eventually("it counts", LONG, || !count(&made).is_empty());
        let mut pty = Pty::spawn(made.command(&["process", "attach", "--after", "0", "@", &id]), 24, 80);
        pty.expect("began", LONG);

        let paused = made.run(&["pause", "@"]).success().json();
        assert_eq!((&paused["action"], &paused["status"]), (&"paused".into(), &"paused".into()));
        let stopped_at = count(&made);
        assert_eq!(pty.wait(LONG).code(), Some(0), "whoever is attached is let go");
        let view = made.run(&["get", "@"]).success().json();
        assert_eq!(view["status"], "paused");
        assert!(view["paused_at"].is_string());
        assert_eq!(made.process(&id)["state"], "running", "stopped is not ended");
        for refused in [
            &["exec", "@", "--", "true"][..],
            &["push", "@", "/etc/hostname", "/tmp/x"],
            &["pull", "@", "/etc/hostname", "-"],
            &["process", "start", "@", "--", "true"],
            &["process", "attach", "@", &id],
            &["process", "stop", "@", &id],
            &["pause", "@"],
        ] {
            let mut args = vec!["-o", "json"];
            args.extend(refused);
            let is_exec = args[2] == "exec";
            let refused = made.run(&args);
            assert_eq!(refused.code, 1, "{args:?}");
            if is_exec {
                // It prints no document, whatever it was told.
                assert_eq!(refused.stdout, "", "{refused:?}");
                assert!(refused.stderr.contains("is paused"), "{refused:?}");
            } else {
                assert_eq!(refused.json()["error"]["code"], "conflict", "{args:?}");
            }
        }
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(count(&made), stopped_at, "{user:?}");

        let resumed = made.run(&["resume", "@"]).success().json();
        assert_eq!((&resumed["action"], &resumed["status"]), (&"resumed".into(), &"running".into()));
        eventually("it counts again", LONG, || count(&made) != stopped_at);
        assert_eq!(made.run(&["resume", "@"]).json()["error"]["code"], "conflict");
        let _done = made.run(&["pause", "@"]).success();
        let _done = made.run(&["rm", "--yes", "@"]).success();
    }
}

#[test]
fn a_box_can_neither_pause_itself_nor_keep_itself_awake() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let flood = "fork; fork; while (1) { kill 10, 1; kill 12, 1; kill 18, 1; $i++ == 1000 and mkdir q(/tmp/asked) }";
        let script = format!(
            "({COUNTER}) & for f in /proc/1/fd/*; do printf p > $f; done 2>/dev/null; exec perl -e '{flood}'"
        );
        made.start(&["@", "--", "sh", "-c", &script]);
        let asked = folder(&made).join("root/tmp/asked");
        eventually("it has asked to be paused", LONG, || asked.exists());
        let before = count(&made);
        eventually("it counts all the same", LONG, || count(&made) != before);

        let _done = made.run(&["pause", "@"]).success();
        let stopped_at = count(&made);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(count(&made), stopped_at, "{user:?}");
        let _done = made.run(&["resume", "@"]).success();
        eventually("it counts again", LONG, || count(&made) != stopped_at);
    }
}

#[test]
fn a_box_whose_programs_wake_each_other_is_called_paused_only_when_it_is() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let wakers = "fork; fork; open my $f, '>', '/tmp/count'; while (1) { kill 'CONT', -1; \
                      if ($i++ % 100 == 0) { seek $f, 0, 0; syswrite $f, $i } }";
        made.start(&["@", "--", "perl", "-e", wakers]);
        eventually("they are at it", LONG, || !count(&made).is_empty());
        let paused = made.run(&["-o", "json", "pause", "@"]);
        let status = made.run(&["get", "@"]).success().json()["status"].clone();
        let before = count(&made);
        if paused.code == 0 {
            std::thread::sleep(Duration::from_millis(300));
            assert_eq!((status, count(&made)), ("paused".into(), before), "{user:?}");
        } else {
            assert!(paused.stdout.contains("do not stay stopped"), "{paused:?}");
            assert_eq!(status, "running");
            eventually("they go on", LONG, || count(&made) != before);
            assert_eq!(made.say("echo entered"), "entered\n", "the box can be used as before");
        }
    }
}

#[test]
fn a_job_that_was_stopped_by_hand_stays_stopped() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["--pty", "@", "--", "bash", "--norc"]);
    let mut pty = Pty::spawn(made.command(&["process", "attach", "--after", "0", "@", &id]), 24, 80);
    pty.expect("bash", LONG);
    pty.send("sleep 1000\n");
    eventually("sleep is in the foreground", LONG, || made.process(&id)["foreground"]["cmd"] == "sleep");
    pty.send("\x1a");
    pty.expect("Stopped", LONG);
    pty.send("cat\n");
    eventually("cat is in the foreground", LONG, || made.process(&id)["foreground"]["cmd"] == "cat");
    let _done = made.run(&["pause", "@"]).success();
    pty.wait(LONG);
    let _done = made.run(&["resume", "@"]).success();
    let mut pty = Pty::spawn(made.command(&["process", "attach", "@", &id]), 24, 80);
    pty.send("still-here\n");
    pty.expect("still-here\r\nstill-here", LONG);
    assert_eq!(made.process(&id)["foreground"]["cmd"], "cat", "the shell has not seen its job stop");
    pty.send("\x03");
    eventually("the shell is back", LONG, || made.process(&id)["foreground"]["cmd"] == "bash");
    pty.send("jobs\n");
    pty.expect("Stopped                 sleep 1000", LONG);
}

#[test]
fn an_idle_box_pauses_by_itself() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &["--network", "none", "--auto-pause", "1h"]);
        made.start(&["--pty", "@", "--", "sh", "-c", COUNTER]);
        eventually("it counts", LONG, || !count(&made).is_empty());
        let age = |hours: u64| {
            let file = std::fs::File::options().append(true).open(folder(&made).join("activity")).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
        };
        let status = || made.run(&["get", "@"]).success().json()["status"].clone();
        age(0);
        assert_eq!(status(), "running");
        age(2);
        assert_eq!(status(), "paused");
        let stopped_at = count(&made);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(count(&made), stopped_at);
        let _done = made.run(&["resume", "@"]).success();
        assert_eq!(status(), "running", "resuming is activity");

        // A program in the foreground is activity too, however silent.
        let mut exec =
            made.command(&["exec", "--stream", "@", "--", "sh", "-c", "touch /tmp/in; sleep 1000"]);
        let mut exec = exec.spawn().unwrap();
        eventually("it runs", LONG, || folder(&made).join("root/tmp/in").exists());
        age(2);
        assert_eq!(status(), "running");
        exec.kill().unwrap();
        exec.wait().unwrap();
    }
}

#[test]
fn a_process_is_stopped_gently_and_then_for_good() {
    let made = Sandbox::of(User::Me);
    let gentle = made.start(&[
        "@",
        "--",
        "sh",
        "-c",
        "trap 'exit 5' TERM; touch /tmp/set; while :; do sleep 0.1; done",
    ]);
    eventually("the trap is set", LONG, || made.sh("test -e /tmp/set").code == 0);
    let view = made.run(&["process", "stop", "--grace", "30s", "@", &gentle]).success().json();
    assert_eq!((&view["state"], &view["exit_code"]), (&"exited".into(), &5.into()));

    let stubborn = made.start(&[
        "--pty",
        "@",
        "--",
        "sh",
        "-c",
        "trap '' TERM HUP; touch /tmp/deaf; while :; do sleep 1; done",
    ]);
    eventually("it is deaf", LONG, || made.sh("test -e /tmp/deaf").code == 0);
    let view = made.run(&["process", "stop", "--grace", "100ms", "@", &stubborn]).success().json();
    assert_eq!((&view["state"], &view["signal"]), (&"exited".into(), &"SIGKILL".into()));
    let again = made.run(&["process", "stop", "@", &stubborn]).success().json();
    assert_eq!(again["state"], "exited", "once more is fine");
}

#[test]
fn a_terminal_is_resized_from_outside() {
    let made = Sandbox::of(User::Me);
    let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.1; done";
    let id = made.start(&["--pty", "@", "--", "bash", "-c", script]);
    let output = || made.run(&["process", "attach", "--no-follow", "@", &id]).success().stdout;
    eventually("it is ready", LONG, || output().contains("ready"));
    let _done = made.run(&["process", "resize", "--rows", "44", "--cols", "123", "@", &id]).success();
    eventually("the program sees it", LONG, || output().contains("44 123"));
    made.run(&["-o", "table", "process", "resize", "@", &id]).fails(2, "--rows");
}

#[test]
fn a_terminal_of_the_same_size_still_makes_the_program_repaint() {
    let made = Sandbox::of(User::Me);
    let script = "trap 'echo size-$(stty size)' WINCH; echo ready; while :; do sleep 0.05; done";
    let id = made.start(&["--pty", "--rows", "24", "--cols", "80", "@", "--", "bash", "-c", script]);
    let pty = Pty::spawn(made.command(&["process", "attach", "--after", "0", "@", &id]), 24, 80);
    pty.expect("ready", LONG);
    pty.expect("size-24 80", LONG);
}

#[test]
fn the_starter_s_open_files_do_not_live_on_in_the_supervisor() {
    let made = Sandbox::of(User::Me);
    let start = made.command(&["process", "start", "--pty", "@", "--", "sleep", "1000"]);
    let words: Vec<String> = std::iter::once(start.get_program())
        .chain(start.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    // `cat` ends when the last copy of descriptor 9 is closed.
    let script = format!("({}) 9>&1 | cat >/dev/null", words.join(" "));
    let mut shell = std::process::Command::new("timeout");
    shell.args(["60", "sh", "-c", &script]).env_clear();
    for (name, value) in start.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    assert_eq!(crate::support::outcome(shell).code, 0);
    assert_eq!(made.run(&["process", "list", "@"]).success().json()[0]["state"], "running");
}

#[test]
fn on_a_full_disk_a_box_is_neither_paused_nor_resumed_by_half() {
    for user in User::all() {
        let made = Sandbox::of(user);
        made.start(&["--pty", "@", "--", "sh", "-c", "i=0; while :; do i=$((i+1)); : > /tmp/at-$i; rm -f /tmp/at-*; sleep 0.05; ln -sfn $i /tmp/count; done"]);
        let count = || std::fs::read_link(folder(&made).join("root/tmp/count")).ok();
        eventually("it counts", LONG, || count().is_some());
        let status = || made.run(&["get", "@"]).success().json()["status"].clone();

        let refused = on_a_full_disk(&made, &["-o", "json", "pause", "@"]);
        assert_eq!(refused.code, 1, "the refusal bites: {refused:?}");
        assert_eq!(status(), "running");
        let before = count();
        eventually("it goes on", LONG, || count() != before);

        let _done = made.run(&["pause", "@"]).success();
        let refused = on_a_full_disk(&made, &["-o", "json", "resume", "@"]);
        assert_eq!((refused.code, status()), (1, "paused".into()), "{refused:?}");
        let stopped_at = count();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(count(), stopped_at, "what is called paused stands still");
        let _done = made.run(&["resume", "@"]).success();
        eventually("it counts again", LONG, || count() != stopped_at);
    }
}
