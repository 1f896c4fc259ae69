//! `.createos-sandbox.toml`: the repository's word, which counts after a yes to exactly it.

use super::{LONG, Machine, detaches, types_until};
use serde_json::json;

const PROJECT: &str = ".createos-sandbox.toml";

fn machine(text: &str) -> Machine {
    let config = json!({ "agent": "shell", "provider": "local", "environment": { "API_KEY": "x" } });
    let machine = Machine::new(config);
    machine.repo.write("web/index.html", "x").write(PROJECT, text).commit("project");
    machine
}

#[test]
fn commands_and_folder_count_after_a_yes_to_what_is_shown() {
    let machine = machine(
        "cwd = \"web\"\nonCreate = [\"echo made > made; pwd\", \"exit 7\"]\nonResume = [\"echo back > back\"]\n",
    );
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("They could read there: API_KEY", LONG);
    pty.expect("exit 7", LONG);
    pty.expect("Let it count?", LONG);
    pty.send("y");
    pty.expect("attached. Ctrl-]", LONG);
    assert!(pty.text().contains("exit code 7, ") && pty.text().contains("/workspace\r\n"), "{}", pty.text());
    types_until(&mut pty, "pwd | sed s/^/in-/", "in-/workspace/web");
    let _ = detaches(&mut pty);
    assert_eq!(machine.in_box("cat /workspace/made"), "made\n");
    let info = machine.run(&["info"]).success().stdout;
    assert!(info.contains("onCreate exit 7: exit code 7"), "{info}");

    let _ = machine.run(&["pause"]).success();
    let _ = machine.run(&["resume"]).success();
    assert_eq!(machine.in_box("cat /workspace/back"), "back\n");

    // It was asked once; what changes is asked anew, and a no is kept.
    let mut pty = machine.start(&["start", "--new"]);
    assert!(!pty.text().contains("Let it count?"), "{}", pty.text());
    let _ = detaches(&mut pty);
    machine.repo.write(PROJECT, "onCreate = [\"echo other > other\"]\n");
    for (round, asked) in [("first", true), ("second", false)] {
        let mut pty = machine.on_terminal(&["start", "--new"]);
        if asked {
            pty.expect("Let it count?", LONG);
            pty.send("n");
        }
        pty.expect("attached. Ctrl-]", LONG);
        assert_eq!(pty.text().contains("Let it count?"), asked, "{round}: {}", pty.text());
        assert!(pty.text().contains(&format!("{PROJECT} of this worktree is ignored")), "{}", pty.text());
        assert_eq!(machine.in_box("ls /workspace/other 2>/dev/null || true"), "");
        let _ = detaches(&mut pty);
    }
}

#[test]
fn trust_says_yes_and_takes_it_back() {
    let machine = machine("onCreate = [\"true\"]\n");
    machine.run(&["trust"]).fails(2, "there is nobody to ask");
    let said = machine.run(&["trust", "--yes"]).success().stdout;
    assert!(said.contains("onCreate   true") && said.contains("it counts from now on"), "{said}");
    let again = machine.run(&["trust"]).success().stdout;
    assert!(again.contains("nothing to ask"), "{again}");
    let _ = machine.run(&["trust", "--revoke"]).success();
    machine.run(&["trust"]).fails(2, "there is nobody to ask");
}

#[test]
fn the_users_own_settings_win_and_a_wrong_file_is_told_with_its_place() {
    let machine = machine("agent = \"codex\"\n");
    let _ = machine.run(&["trust", "--yes"]).success();
    let mut pty = machine.start(&["start"]);
    assert!(pty.text().contains("Shell in hd-"), "{}", pty.text());
    let _ = detaches(&mut pty);
    machine.repo.write(PROJECT, "agent = \"codex\"\negress = [\"*\"]\n");
    let mut pty = machine.on_terminal(&["start", "--new"]);
    pty.expect(&format!("{PROJECT}:2:1: unknown key \"egress\""), LONG);
    assert_eq!(pty.wait(LONG).code(), Some(2));
    assert_eq!(machine.boxes().len(), 1);
}

#[test]
fn a_folder_that_leads_out_of_the_worktree_is_none() {
    let machine = machine("cwd = \"out\"\n");
    std::os::unix::fs::symlink("/", machine.repo.root().join("out")).expect("a link");
    let _ = machine.run(&["trust", "--yes"]).success();
    let mut pty = machine.start(&["start"]);
    types_until(&mut pty, "pwd | sed s/^/in-/", "in-/workspace\r\n");
    let _ = detaches(&mut pty);
}
