//! The project's own box: `up`, `run`, `pause`, `resume`, `fork`, `down`, on real local boxes.

use super::Cos;
use crate::support::{Outcome, eventually};
use serde_json::{Value, json};
use std::process::Child;
use std::time::Duration;

fn ended(child: Child) -> Outcome {
    let output = child.wait_with_output().expect("it ends");
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn id(cos: &Cos) -> String {
    let own = cos.own().expect("a record");
    own["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_box_is_made_once_and_what_was_done_in_it_stays() {
    let cos = Cos::local();
    let (one, two) = (cos.start(&["up"]), cos.start(&["up"]));
    let (one, two) = (ended(one).success(), ended(two).success());
    assert_eq!(cos.boxes().len(), 1, "{one:?} {two:?}");
    assert!(one.stderr.contains("reusing") != two.stderr.contains("reusing"), "{one:?} {two:?}");
    let own = cos.own().unwrap();
    assert_eq!(
        (&own["owned"], &own["provider"], &own["shape"]),
        (&json!("1"), &json!("local"), &json!("s-2vcpu-2gb"))
    );
    assert_eq!(own["name"].as_str().unwrap().len(), "cos-proj-".len() + 12);

    let _ = cos.run(&["run", "pwd > where; echo kept > ~/here"]).success();
    assert_eq!(cos.run(&["run", "cat", "here", "where"]).success().stdout, "kept\n/home/agent\n");
    assert_eq!(cos.run(&["run", "exit 9"]).code, 9);
    // Another folder of the same worktree is the same project.
    let below = cos.repo().root().join("src");
    assert_eq!(cos.home().run_in(&below, &["cos", "run", "cat ~/here"]).success().stdout, "kept\n");

    let status = cos.run(&["status"]).success();
    assert!(status.stdout.contains("running") && status.stdout.contains("[created here]"), "{status:?}");
    // Flags that the box does not have are said.
    let again = cos.run(&["up", "-s", "s-1vcpu-1gb", "-e", "a.example.com"]).success();
    assert!(
        again.stderr.contains("keeps its shape s-2vcpu-2gb") && again.stderr.contains("may reach"),
        "{again:?}"
    );
    let _ = cos.run(&["up", "-n", "other"]).fails(1, "is already up — one project box per directory.");
    let _ = cos.run(&["up", "-n", "Not_A_Name"]).fails(2, "-n:");
    let _ = cos.run(&["down"]).success();
    assert_eq!(cos.own(), None);
    cos.has_nothing_left();
}

#[test]
fn several_commands_run_in_one_box_at_a_time() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let children: Vec<Child> =
        (0..4).map(|n| cos.start(&["run", &format!("sleep 1; echo {n}; exit {n}")])).collect();
    for (n, child) in children.into_iter().enumerate() {
        let done = ended(child);
        assert_eq!((done.code as usize, done.stdout.as_str()), (n, format!("{n}\n").as_str()));
    }
}

#[test]
fn a_signal_ends_the_command_and_leaves_the_box() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::{BufRead, BufReader};
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        // It does not heed TERM, nor does what it has started.
        let script =
            "trap '' TERM; (trap '' TERM; while :; do touch ~/alive; sleep 0.1; done) & echo begun; wait";
        let mut child = cos.start(&["run", script]);
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        eventually("the command ends", Duration::from_secs(30), || {
            let said = cos.run(&["run", "rm -f alive; sleep 1; test -e alive && echo alive || echo over"]);
            said.stdout == "over\n"
        });
    }
    assert_eq!(cos.boxes().len(), 1);
}

#[test]
fn a_paused_box_is_not_run_in_and_comes_back() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let _ = cos.run(&["run", "echo 1 > ~/n"]).success();
    let _ = cos.run(&["pause"]).success();
    let again = cos.run(&["pause"]).success();
    assert!(again.stderr.contains("paused already"), "{again:?}");
    let _ = cos.run(&["run", "true"]).fails(1, "cos resume");
    let _ = cos.run(&["resume"]).success();
    let again = cos.run(&["resume"]).success();
    assert!(again.stderr.contains("runs already"), "{again:?}");
    assert_eq!(cos.run(&["run", "cat ~/n"]).success().stdout, "1\n");
    // Defect: a paused box blocked `up` by its name.
    let _ = cos.run(&["pause"]).success();
    let up = cos.run(&["up"]).success();
    assert!(up.stderr.contains("reusing"), "{up:?}");
}

#[test]
fn a_fork_is_a_copy_that_goes_its_own_way() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let _ = cos.run(&["run", "echo same > ~/f"]).success();
    let fork = cos.run(&["fork"]).success().stdout.trim().to_owned();
    assert_eq!(cos.own().unwrap()["fork_ids"], json!(fork));
    // The box runs again, and both have gone apart.
    let _ = cos.run(&["run", "echo changed > ~/f"]).success();
    let there = cos.home().run(&["local", "sandbox", "exec", &fork, "--", "cat", "/home/agent/f"]).success();
    assert_eq!(there.stdout, "same\n");
    let status = cos.run(&["status"]).success();
    assert!(status.stdout.contains(&format!("fork      {fork}")), "{status:?}");
    // A paused box stays paused.
    let _ = cos.run(&["pause"]).success();
    let second = cos.run(&["fork"]).success().stdout.trim().to_owned();
    let _ = cos.run(&["run", "true"]).fails(1, "is paused");
    let down = cos.run(&["down"]).success();
    assert!(down.stderr.contains(&fork) && down.stderr.contains(&second), "{down:?}");
    assert_eq!(cos.boxes().len(), 2, "forks survive");
    assert_eq!(cos.own(), None);
}

#[test]
fn down_with_forks_deletes_them() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let _ = cos.run(&["fork"]).success();
    let _ = cos.run(&["down", "-f"]).success();
    assert_eq!(cos.own(), None);
    cos.has_nothing_left();
}

/// Defect: a box of somebody else with the same name was taken and later destroyed.
#[test]
fn a_box_of_that_name_that_is_nobodys_here_is_taken_only_when_told_and_never_deleted() {
    let cos = Cos::local();
    let args = ["local", "-o", "json", "sandbox", "create", "--name", "theirs", "--shape", "s-1vcpu-1gb"];
    let theirs = cos.home().run(&args).success().json()["id"].as_str().unwrap().to_owned();
    let refused = cos.run(&["up", "-n", "theirs"]).fails(1, "is there already");
    assert!(
        refused.stderr.contains("cos up -a -n theirs")
            && refused.stderr.contains(&format!("rm --yes {theirs}")),
        "{refused:?}"
    );
    assert_eq!(cos.own(), None);
    let adopted = cos.run(&["up", "-a", "-n", "theirs"]).success();
    assert!(adopted.stderr.contains("adopted existing box"), "{adopted:?}");
    assert_eq!(id(&cos), theirs);
    let status = cos.run(&["status"]).success();
    assert!(status.stdout.contains("[adopted — down will NOT destroy]"), "{status:?}");
    let down = cos.run(&["down"]).success();
    assert!(down.stderr.contains("it stays"), "{down:?}");
    assert_eq!((cos.own(), cos.boxes().len()), (None, 1));
}

#[test]
fn a_box_that_was_deleted_elsewhere_is_forgotten_once_that_is_proven() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let _ = cos.home().run(&["local", "sandbox", "rm", "--yes", &id(&cos)]).success();
    let gone = cos.run(&["run", "true"]).fails(1, "deleted elsewhere");
    assert!(gone.stderr.contains("cos up"), "{gone:?}");
    assert_eq!(cos.own(), None);
    let _ = cos.run(&["up"]).success();
    let first = id(&cos);
    let _ = cos.home().run(&["local", "sandbox", "rm", "--yes", &first]).success();
    let up = cos.run(&["up"]).success();
    assert!(up.stderr.contains("deleted elsewhere") && id(&cos) != first, "{up:?}");
}

#[test]
fn a_record_of_the_earlier_driver_is_used_and_what_it_has_more_is_kept() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let mut record = cos.own().unwrap();
    let key = record["name"].as_str().unwrap().trim_start_matches("cos-proj-").to_owned();
    record["sync_remote"] = json!("/tmp");
    record["cluster_net"] = json!("net-1");
    record["theirs"] = json!("kept");
    record.as_object_mut().unwrap().remove("owned");
    let path = cos.state().join(format!("{key}.json"));
    std::fs::write(&path, record.to_string()).unwrap();
    assert_eq!(cos.run(&["run", "pwd"]).success().stdout, "/tmp\n");
    let _ = cos.run(&["fork"]).success();
    let after = cos.own().unwrap();
    assert_eq!((&after["theirs"], &after["cluster_net"]), (&json!("kept"), &json!("net-1")));
    // Its lock counts while its process lives.
    std::fs::create_dir(cos.state().join(format!("{key}.lock"))).unwrap();
    std::fs::write(cos.state().join(format!("{key}.lock/pid")), "999999999").unwrap();
    let _ = cos.run(&["pause"]).success();
    let _ = cos.run(&["down", "-f"]).success();
    assert_eq!(cos.own(), None, "without the word it is owned");
}

#[test]
fn a_damaged_record_is_moved_aside_and_no_proof_that_there_is_no_box() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let name = cos.own().unwrap()["name"].as_str().unwrap().to_owned();
    let key = name.trim_start_matches("cos-proj-").to_owned();
    std::fs::write(cos.state().join(format!("{key}.json")), "{\n  \"id\": ").unwrap();
    let told = cos.run(&["status"]).fails(1, ":2:");
    assert!(told.stderr.contains("moved to") && told.stderr.contains(&name), "{told:?}");
    assert!(cos.state().join(format!("{key}.json.damaged-1")).exists());
    // And the box is not made a second time.
    let _ = cos.run(&["up"]).fails(1, "is there already");
    let _ = cos.run(&["up", "-a"]).success();
    assert_eq!(cos.boxes().len(), 1);
}

#[test]
fn an_unfinished_up_is_finished_by_the_next() {
    let cos = Cos::local();
    let _ = cos.run(&["up"]).success();
    let mut record = cos.own().unwrap();
    let key = record["name"].as_str().unwrap().trim_start_matches("cos-proj-").to_owned();
    let made = record["id"].take();
    record["id"] = json!("");
    std::fs::write(cos.state().join(format!("{key}.json")), record.to_string()).unwrap();
    let _ = cos.run(&["up"]).success();
    assert_eq!(cos.own().unwrap()["id"], made);
    record["id"] = json!("");
    std::fs::write(cos.state().join(format!("{key}.json")), record.to_string()).unwrap();
    let _ = cos.run(&["down"]).success();
    assert_eq!((cos.own(), cos.boxes()), (None, Vec::<Value>::new()));
}

#[test]
fn a_damaged_record_of_another_box_stops_nothing_and_is_told_by_its_name() {
    let cos = Cos::local();
    let path = cos.home().write(".cache/createos-sandbox/boxes/cos-o-1-abcdef.json", "{\"name\": 1}");
    let told = cos.run(&["offload", ".", "echo ok"]).success();
    assert_eq!(told.stdout, "ok\n");
    assert!(told.stderr.contains("the record of box cos-o-1-abcdef cannot be read"), "{told:?}");
    assert!(!path.exists() && path.with_extension("damaged-1").exists());
    cos.has_nothing_left();
}
