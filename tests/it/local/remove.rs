//! rm: whatever the machine, the box or another rm is doing.

use super::{Sandbox, on_a_full_disk};
use crate::support::{Home, Pty, User, eventually, outcome};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

fn boxes(made: &Sandbox) -> PathBuf {
    made.home().path().join(".local/share/createos-sandbox/boxes")
}

/// The host's process ids of what runs in the box.
fn running(made: &Sandbox) -> Vec<String> {
    let mut ids = names(&boxes(made).join(made.id()).join("running"));
    ids.retain(|name| name.parse::<u32>().is_ok());
    ids
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect()
}

#[test]
fn a_full_disk_keeps_no_box_alive() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &["--network", "none", "--name", "filler"]);
        made.start(&["@", "--", "sh", "-c", "while :; do date >> /workspace/log; sleep 0.1; done"]);
        let pids = running(&made);
        assert_eq!(pids.len(), 1);
        let refused = on_a_full_disk(&made, &["create", "--shape", "s-1vcpu-1gb", "--network", "none"]);
        assert_ne!(refused.code, 0, "nothing can be written: {refused:?}");

        let removed = on_a_full_disk(&made, &["-o", "table", "rm", "--yes", "@"]).success();
        assert!(removed.stderr.contains("is deleted, but not remembered"), "{removed:?}");
        assert!(!Path::new("/proc").join(&pids[0]).exists(), "its process is gone");
        let left = names(&boxes(&made));
        assert!(!left.iter().any(|name| name.contains(made.id())), "{left:?}");
        let socket_folders = names(&made.home().path().join("run"));
        for folder in socket_folders {
            assert_eq!(names(&made.home().path().join("run").join(folder)), [""; 0]);
        }
    }
}

#[test]
fn a_box_that_fills_its_disk_is_deleted_and_remembered() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can mount a small disk.
    }
    let home = Home::new();
    let inner = home.command(&["local", "-o", "table", "sandbox"]);
    let script = r#"set -e
        mount --make-rprivate /
        mkdir -p "$HOME/.local"
        mount -t tmpfs -o size=1m small "$HOME/.local"
        "$@" create --shape s-1vcpu-1gb --network none --name filler
        wait='while [ ! -e /workspace/go ]; do sleep 0.05; done'
        "$@" process start filler -- sh -c "$wait; cat /dev/zero > /workspace/fill; exec sleep 1000"
        # Not before it is recorded that the program runs, and by no entry, whose own record would find no room.
        find "$HOME/.local" -type d -name workspace -exec touch '{}/go' ';'
        for i in $(seq 100); do
            test "$(df --output=avail "$HOME/.local" | tail -n 1)" -eq 0 && break
            sleep 0.1
        done
        test "$(df --output=avail "$HOME/.local" | tail -n 1)" -eq 0
        "$@" rm --yes filler
        "$@" list --all
        df --output=pcent "$HOME/.local""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(inner.get_program()).args(inner.get_args());
    command.env_clear().current_dir(home.path()).stdin(Stdio::null());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let done = outcome(command).success();
    assert!(done.stdout.contains("Deleted filler") && done.stdout.contains("destroyed"), "{done:?}");
    assert!(!done.stdout.contains("100%"), "{done:?}");
}

#[test]
fn several_may_delete_the_same_box_at_once() {
    let made = Sandbox::of(User::Me);
    made.start(&["@", "--", "sleep", "1000"]);
    made.say("i=0; while [ $i -lt 300 ]; do i=$((i+1)); mkdir -p /workspace/$i/a/b; done");
    let spawn = || {
        let mut command = made.command(&["rm", "--yes", "@"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..12).map(|_| spawn()).collect();
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let left = names(&boxes(&made));
    assert!(left.iter().all(|name| name == "lock" || name == "destroyed.json"), "{left:?}");
}

#[test]
fn what_a_killed_rm_has_left_goes_with_the_next_one() {
    let made = Sandbox::of(User::Me);
    let rest = "old-sb-01ARZ3NDEKTSV4RRFFQ69G5FAV";
    made.home().write(&format!(".local/share/createos-sandbox/boxes/{rest}/root/tmp/x"), "x");
    let _done = made.run(&["rm", "--yes", "@"]).success();
    assert!(!boxes(&made).join(rest).exists());
}

#[test]
fn the_socket_of_a_killed_supervisor_goes_with_its_box() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["@", "--", "sleep", "1000"]);
    let processes = boxes(&made).join(made.id()).join("processes");
    let record = std::fs::read_to_string(processes.join(format!("{id}.json"))).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let socket = PathBuf::from(record["socket"].as_str().unwrap());
    assert!(socket.exists());
    let pid = running(&made).remove(0);
    let supervisor = super::process::supervisor(&made, &id);
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    eventually("the box's process is gone with it", Duration::from_secs(60), || {
        !Path::new("/proc").join(&pid).exists()
    });
    let _done = made.run(&["rm", "--yes", "@"]).success();
    assert!(!socket.exists());
}

#[test]
fn ctrl_c_at_the_question_keeps_the_box() {
    let sandbox = Sandbox::of(User::Me);
    for (key, code) in [("\x03", 130), ("n", 1)] {
        let mut terminal = Pty::spawn(sandbox.command(&["rm", "@"]), 24, 80);
        terminal.expect("[y/N]", Duration::from_secs(60));
        terminal.send(key);
        assert_eq!(terminal.wait(Duration::from_secs(60)).code(), Some(code), "{}", terminal.text());
        assert_eq!(sandbox.run(&["get", "@"]).success().json()["status"], "running");
    }
}
