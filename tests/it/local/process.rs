//! Programs on a terminal of their own, and those who attach.

use super::Sandbox;
use crate::support::{Pty, User, eventually};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

fn attach(made: &Sandbox, process: &str, more: &[&str], rows: u16, cols: u16) -> Pty {
    let mut args = vec!["process", "attach"];
    args.extend(more);
    args.extend(["@", process]);
    Pty::spawn(made.command(&args), rows, cols)
}

fn ended(made: &Sandbox, process: &str) -> serde_json::Value {
    eventually("the process ends", LONG, || made.process(process)["state"] != "running");
    made.process(process)
}

#[test]
fn a_shell_has_job_control_and_survives_its_starter() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let id = made.start(&["--pty", "--rows", "30", "--cols", "100", "@", "--", "bash", "--norc"]);
        let view = made.process(&id);
        assert_eq!((view["kind"].as_str(), view["state"].as_str()), (Some("pty"), Some("running")));
        assert_eq!(view["foreground"]["cmd"], "bash");

        let mut pty = attach(&made, &id, &["--after", "0"], 33, 111);
        pty.expect("bash", LONG);
        pty.send("tty; stty size\n");
        pty.expect("/dev/pts/0", LONG);
        pty.expect("33 111", LONG);
        pty.send("sleep 1000\n");
        eventually("sleep is in the foreground", LONG, || made.process(&id)["foreground"]["cmd"] == "sleep");
        pty.send("\x1a");
        pty.expect("Stopped", LONG);
        pty.send("fg\n");
        eventually("sleep is back", LONG, || made.process(&id)["foreground"]["cmd"] == "sleep");
        pty.send("\x03");
        eventually("the shell is back", LONG, || made.process(&id)["foreground"]["cmd"] == "bash");
        pty.send("echo code-$((100+30))\n");
        pty.expect("code-130", LONG);
        pty.resize(20, 70);
        eventually("the program sees the new size", LONG, || {
            pty.send("stty size\n");
            pty.text().contains("20 70")
        });
        pty.send("\x1d");
        assert_eq!(pty.wait(LONG).code(), Some(0));
        assert_eq!(made.process(&id)["state"], "running", "detaching ends nothing");

        let mut pty = attach(&made, &id, &["--after", "0"], 20, 70);
        pty.expect("code-130", LONG);
        pty.send("exit 7\n");
        assert_eq!(pty.wait(LONG).code(), Some(0), "a terminal's attach ends with 0 whatever happened");
        let view = ended(&made, &id);
        assert_eq!((&view["exit_code"], &view["state"]), (&7.into(), &"exited".into()));
        let replay = made.run(&["process", "attach", "--after", "0", "@", &id]).success();
        assert!(replay.stdout.contains("code-130"), "kept after its end");
    }
}

#[test]
fn two_terminals_show_the_same_program() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["--pty", "@", "--", "bash", "--norc"]);
    let mut one = attach(&made, &id, &["--after", "0"], 24, 80);
    let mut two = attach(&made, &id, &["--after", "0"], 24, 80);
    // What is typed while a shell starts and a terminal attaches is not what this is about.
    one.expect("bash", LONG);
    two.expect("bash", LONG);
    one.send("echo from-$((1))-one\n");
    one.expect("from-1-one", LONG);
    two.expect("from-1-one", LONG);
    two.send("echo from-$((2))-two\n");
    one.expect("from-2-two", LONG);
    one.send("\x1d");
    assert_eq!(one.wait(LONG).code(), Some(0));
    two.send("echo still-$((3))\n");
    two.expect("still-3", LONG);
    two.send("exit\n");
    assert_eq!(two.wait(LONG).code(), Some(0));
}

#[test]
fn a_program_on_pipes_keeps_its_streams_and_its_code() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["@", "--", "sh", "-c", "echo out; echo err >&2; exit 3"]);
    assert_eq!(ended(&made, &id)["exit_code"], 3);
    let replay = made.run(&["process", "attach", "--after", "0", "@", &id]);
    assert_eq!((replay.code, replay.stdout.as_str()), (3, "out\n"));
    assert!(replay.stderr.contains("err\n") && replay.stderr.contains("Process exited with code 3."));
    let tail = made.run(&["process", "attach", "--after", "2", "@", &id]);
    assert_eq!(tail.stdout, "t\n");

    let id = made.start(&["@", "--", "cat"]);
    let echoed =
        made.run_with_input(&["process", "attach", "--stdin", "--after", "0", "@", &id], b"to and fro");
    assert_eq!((echoed.code, echoed.stdout.as_str()), (0, "to and fro"));

    let id = made.start(&["@", "--", "sh", "-c", "kill -KILL $$"]);
    let view = ended(&made, &id);
    assert_eq!(view["signal"], "SIGKILL");
    assert!(view.get("exit_code").is_none());
}

#[test]
fn a_supervisor_that_is_killed_takes_its_program_along_and_shows_as_ended() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let id = made.start(&["--pty", "@", "--", "sh", "-c", "echo began; sleep 1000"]);
        let pid = supervisor(&made, &id);
        let mut pty = attach(&made, &id, &["--after", "0"], 24, 80);
        pty.expect("began", LONG);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        pty.wait(LONG);
        let view = ended(&made, &id);
        assert_eq!((&view["signal"], &view["tree_exited"]), (&"SIGKILL".into(), &true.into()));
        assert_eq!(made.run(&["process", "list", "@"]).success().json()[0]["state"], "exited");
    }
}

#[test]
fn deleting_a_box_ends_what_runs_in_it() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let id = made.start(&[
            "--pty",
            "@",
            "--",
            "sh",
            "-c",
            "trap '' TERM HUP INT; echo began; while :; do sleep 1; done",
        ]);
        let pid = supervisor(&made, &id);
        let mut pty = attach(&made, &id, &["--after", "0"], 24, 80);
        pty.expect("began", LONG);
        let _done = made.run(&["rm", "--yes", "@"]).success();
        pty.wait(LONG);
        eventually("the supervisor is gone", LONG, || rustix::process::test_kill_process(pid).is_err());
        let sockets = made.home().path().join("run/createos-sandbox");
        assert_eq!(std::fs::read_dir(sockets).unwrap().count(), 0, "no socket is left");
    }
}

#[test]
fn a_program_that_cannot_be_started_leaves_no_process() {
    let made = Sandbox::of(User::Me);
    let failed = made.run(&["process", "start", "--pty", "@", "--", "no-such-program"]);
    assert_eq!(failed.code, 1);
    assert!(failed.json()["error"]["message"].as_str().unwrap().contains("no-such-program"));
    let failed = made.run(&["process", "start", "--cwd", "/no/such/folder", "@", "--", "true"]);
    assert!(failed.json()["error"]["message"].as_str().unwrap().contains("/no/such/folder"));
    assert_eq!(made.run(&["process", "list", "@"]).success().json(), serde_json::json!([]));
}

/// The host's process id of the supervisor: it holds the lock of its process.
pub(super) fn supervisor(made: &Sandbox, id: &str) -> rustix::process::Pid {
    let lock = made
        .home()
        .path()
        .join(".local/share/createos-sandbox/boxes")
        .join(made.id())
        .join("processes")
        .join(format!("{id}.lock"));
    let inode = std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(lock).expect("a lock"));
    let locks = std::fs::read_to_string("/proc/locks").expect("locks");
    let line = locks.lines().find(|line| line.contains(&format!(":{inode} "))).expect("the lock is held");
    let pid = line.split_whitespace().nth(4).and_then(|pid| pid.parse().ok()).expect("a process id");
    rustix::process::Pid::from_raw(pid).expect("a process id")
}

#[test]
fn a_hostile_name_of_a_program_is_shown_and_not_obeyed() {
    let made = Sandbox::of(User::Me);
    let bash = r"printf '\033[2J\302\2337m' > /proc/$$/comm; read forever";
    let id = made.start(&["--pty", "@", "--", "bash", "-c", bash]);
    eventually("it has its name", LONG, || {
        made.process(&id)["foreground"]["cmd"].as_str().is_some_and(|name| name.contains("[2J"))
    });
    for format in ["table", "json"] {
        let shown = made.run(&["-o", format, "process", "get", "@", &id]).success().stdout;
        assert!(shown.contains("[2J"), "{shown}");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
    }
}

#[test]
fn a_signal_reaches_what_has_the_terminal_whatever_mode_it_is_in() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let script = "stty -isig; echo began; sleep 1000; echo interrupted; trap 'exit 9' INT; sleep 1000";
        let id = made.start(&["--pty", "@", "--", "bash", "-c", script]);
        let mut pty = attach(&made, &id, &["--after", "0"], 24, 80);
        pty.expect("began", LONG);
        let signal = |name: &str| made.run(&["process", "signal", "@", &id, name]);
        pty.send("\x03");
        assert_eq!(made.process(&id)["state"], "running", "as a key it is a byte like any other");
        assert!(signal("SIGFOO").code == 2 && signal("9x").code == 2);
        let _sent = signal("SIGINT").success();
        assert_eq!(ended(&made, &id)["signal"], "SIGINT", "bash dies of what its program died of");
        assert_eq!(signal("INT").json()["error"]["code"], "conflict", "it has ended");

        let piped = made.start(&["@", "--", "sleep", "1000"]);
        let _sent = made.run(&["process", "signal", "@", &piped, "term"]).success();
        assert_eq!(ended(&made, &piped)["signal"], "SIGTERM");
    }
}

#[test]
fn an_attach_on_pipes_sleeps_while_nothing_comes() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["--pty", "@", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
    let mut command = made.command(&["process", "attach", "--after", "0", "--stdin", "@", &id]);
    let mut attached = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = [0; 5];
    attached.stdout.as_mut().expect("a pipe").read_exact(&mut line).expect("what was said");
    assert_eq!(&line, b"ready");
    let stat = format!("/proc/{}/stat", attached.id());
    let sleeps = || {
        let text = std::fs::read_to_string(&stat).expect("it runs");
        text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    };
    // What polls without end is never seen asleep for long.
    eventually("it sleeps, twenty times out of twenty", LONG, || {
        (0..20).all(|_| {
            std::thread::sleep(Duration::from_millis(2));
            sleeps()
        })
    });
    attached.kill().expect("it runs");
    attached.wait().expect("it ends");
}
