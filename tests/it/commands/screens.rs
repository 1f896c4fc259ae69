//! The commands that popups and panes show are typed where they are shown: the state is better then, or the thing is
//! done. A screen of any test that shows another command fails there ([`printed::ON_SCREENS`]).

use crate::actions::world::{LONG, World};
use crate::support::{Pty, Repo, binary, eventually, outcome, printed, real_herdr};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Commands that are not typed here.
const NOT_TYPED: [(&str, &str); 4] = [
    ("createos login", "opens a browser"),
    ("createos upgrade", "downloads a release"),
    (" BOX", "is a blank that only a person can fill; actions/delete.rs does"),
    (" BRANCH", "is a blank that only a person can fill; apply/again.rs does"),
];

struct State {
    name: &'static str,
    config: fn() -> Value,
    /// Brings the world into the state; the text that is shown there, and the pane in which somebody types.
    show: fn(&mut World) -> (String, String),
    /// Asserts that the command did what was said of it.
    did: fn(&mut World, &str),
}

fn shell() -> Value {
    json!({ "agent": "shell" })
}

/// A box that did this, and the pane that shows it.
fn boxed(world: &World, script: &str) -> String {
    let (id, pane) = world.start();
    world.in_box(&id, &format!("cd /workspace; {script}"));
    pane
}

/// What the popup of a key says, once it says this; it is closed then.
fn popup(world: &World, text: &str) -> String {
    world.popup_says(text);
    let shown = world.popup().expect("it is open");
    world.types_in_popup("x");
    world.popup_closes();
    shown
}

/// What the pane of a failed start says, once it says this; no popup says it again.
fn in_its_pane(world: &World, text: &str) -> String {
    let pane = world.pane_ids().pop().expect("its pane");
    world.sees(&pane, text);
    assert_eq!(world.popup(), None, "the pane has the focus and shows it");
    world.screen(&pane)
}

fn readme(world: &World, text: &str) {
    assert_eq!(world.repo.read("README.md"), text);
}

fn shows(_: &mut World, _: &str) {}

const STATES: &[State] = &[
    State {
        name: "an apply with something to look at",
        config: shell,
        show: |world| {
            let pane = boxed(world, "echo agent >> README.md; mkdir .vscode; echo x > .vscode/tasks.json");
            let _ = world.press("apply").ok();
            (popup(world, "take it back with"), pane)
        },
        did: |world, _| readme(world, "hello\n"),
    },
    State {
        name: "a clash",
        config: shell,
        show: |world| {
            let pane = boxed(world, "echo theirs > README.md");
            world.repo.write("README.md", "mine\n");
            let _ = world.press("apply").fails("clash");
            (popup(world, "or take the box's there"), pane)
        },
        did: |world, command| match command.rsplit(' ').next().unwrap_or_default() {
            "mine" => readme(world, "mine\n"),
            "theirs" => readme(world, "theirs\n"),
            "mark" => assert!(world.repo.read("README.md").contains("<<<<<<<")),
            _ => readme(world, "mine\n"),
        },
    },
    State {
        name: "most files deleted in the box",
        config: shell,
        show: |world| {
            for number in 0..20 {
                world.repo.write(&format!("f{number}"), "x");
            }
            let pane = boxed(world, "rm f*");
            let _ = world.press("apply").fails("more than half");
            (popup(world, "if that is meant"), pane)
        },
        did: |world, command| {
            let is_there = world.repo.root().join("f1").exists();
            assert_eq!(is_there, !command.contains("--allow-deletions"), "{command}");
        },
    },
    State {
        name: "work that came home and was put back",
        config: shell,
        show: |world| {
            let pane = boxed(world, "echo agent >> README.md");
            let _ = world.invoke("apply").ok();
            world.repo.write("README.md", "hello\n");
            let _ = world.press("apply").ok();
            (popup(world, "bring it again with"), pane)
        },
        did: |world, _| readme(world, "hello\nagent\n"),
    },
    State {
        name: "an undo of files that were changed since",
        config: shell,
        show: |world| {
            let pane = boxed(world, "echo agent >> README.md; echo new > new");
            let _ = world.invoke("apply").ok();
            world.repo.write("README.md", "mine\n");
            let _ = world.press("undo").fails("changed");
            (popup(world, "undo --keep-changed"), pane)
        },
        did: |world, command| {
            readme(world, "mine\n");
            let is_there = world.repo.root().join("new").exists();
            assert_eq!(is_there, !command.contains("--keep-changed"), "{command}");
        },
    },
    State {
        name: "a delete that the provider refuses",
        config: shell,
        show: |world| {
            let pane = boxed(world, "true");
            world.script("times", json!({ "rm_fails": 9 }));
            let _ = world.press("delete").ok();
            world.popup_says("keep it");
            world.types_in_popup("y");
            let shown = popup(world, "the service is busy");
            world.script("times", json!({}));
            (shown, pane)
        },
        // The clean-up of the start may be at it, too.
        did: |world, _| eventually("the box is gone", LONG, || world.boxes().is_empty()),
    },
    State {
        name: "a pane without a box",
        config: shell,
        show: |world| {
            let _ = world.press("info").fails("no box");
            (popup(world, "this pane has no box"), world.pane_ids().remove(0))
        },
        did: |world, _| assert_eq!(world.records()[0]["phase"], "ready"),
    },
    State {
        name: "a delete in a pane without a box",
        config: shell,
        show: |world| {
            let _ = world.press("delete").fails("nothing was deleted");
            (popup(world, "close the tab with"), world.pane_ids().remove(0))
        },
        did: |world, _| eventually("the tab is closed", LONG, || world.pane_ids().is_empty()),
    },
    State {
        name: "a worktree with two boxes",
        config: shell,
        show: |world| {
            let left = world.pane_ids().remove(0);
            for _ in 0..2 {
                let _ = world.start();
                world.herdr(&["stand-in", "focus", &left]);
            }
            let _ = world.press("info").fails("2 boxes belong to its worktree");
            (popup(world, "or name the box"), left)
        },
        did: shows,
    },
    State {
        name: "an agent that has ended",
        config: shell,
        show: |world| {
            let (_, pane) = world.start();
            world.types(&pane, "exit");
            world.sees(&pane, "close this pane");
            (world.screen(&pane), pane)
        },
        did: shows,
    },
    State {
        name: "a box that is being deleted",
        config: shell,
        show: |world| {
            let (_, pane) = world.start();
            world.script("status", json!("destroying"));
            let _ = world.press("attach").fails("is being deleted");
            let shown = popup(world, "start a new one");
            world.remove_box();
            world.script("status", json!(null));
            (shown, pane)
        },
        did: |world, _| {
            assert_eq!(world.boxes().len(), 1);
            assert!(world.records().iter().any(|record| record["phase"] == "ready"));
        },
    },
    State {
        name: "a box that has failed",
        config: shell,
        show: |world| {
            let (_, pane) = world.start();
            world.script("status", json!("failed"));
            let _ = world.press("attach").fails("has failed");
            (popup(world, "look at it with"), pane)
        },
        did: shows,
    },
    State {
        name: "a start of nothing",
        config: || json!({ "agent": "shell", "excludes": ["src/", "README.md"] }),
        show: |world| {
            let _ = world.press("start").fails("no file of this worktree");
            (in_its_pane(world, "see why with"), world.pane_ids().remove(0))
        },
        did: shows,
    },
    State {
        name: "a shape that the plan does not have",
        config: shell,
        show: |world| {
            let left = world.pane_ids().remove(0);
            let words = "shape s-2vcpu-4gb is not allowed, choices: [s-1vcpu-1gb]";
            world.script("fail", json!([{ "verb": "create", "code": "bad_request", "message": words }]));
            let _ = world.press("start").fails("not allowed");
            (in_its_pane(world, "pick a shape of your plan"), left)
        },
        did: shows,
    },
    State {
        name: "no room for another box",
        config: shell,
        show: |world| {
            let words = "sandbox limit reached (2 of 2)";
            world.script("fail", json!([{ "verb": "create", "code": "forbidden", "message": words }]));
            let _ = world.press("start").fails(words);
            (in_its_pane(world, "paused boxes count too"), world.pane_ids().remove(0))
        },
        did: shows,
    },
    State {
        name: "a start whose box cannot be deleted",
        config: || json!({ "agent": "codex" }),
        show: |world| {
            let left = world.pane_ids().remove(0);
            let refused = json!([{ "verb": "process start", "code": "forbidden", "message": "not today" }]);
            world.script("fail", refused);
            world.script("times", json!({ "rm_fails": 40 }));
            let _ = world.press("start").fails("could not be deleted");
            let shown = in_its_pane(world, "delete it with");
            world.script("times", json!({}));
            (shown, left)
        },
        // The clean-up of the start may be at it, too.
        did: |world, _| eventually("the box is gone", LONG, || world.boxes().is_empty()),
    },
    State {
        name: "the box of such a start",
        config: || json!({ "agent": "codex" }),
        show: |world| {
            let refused = json!([{ "verb": "process start", "code": "forbidden", "message": "not today" }]);
            world.script("fail", refused);
            world.script("times", json!({ "rm_fails": 4 }));
            let _ = world.invoke("start").fails("could not be deleted");
            eventually("it was tried again", LONG, || !world.runs("cleanup"));
            let pane = world.pane_ids().pop().expect("its pane");
            let _ = world.press("info").fails("its box may be left");
            (popup(world, "delete it with"), pane)
        },
        // The first invocation arms, the same again deletes.
        did: |world, command| {
            let again = outcome(in_a_shell(world, "", command));
            assert_eq!(again.code, 0, "{again:?}");
            assert!(world.boxes().is_empty());
        },
    },
    State {
        name: "a sync of a box on this machine",
        config: || json!({ "agent": "shell", "provider": "local" }),
        show: |world| {
            let pane = boxed(world, "echo agent >> README.md");
            let _ = world.press("sync").fails("no file sync");
            (popup(world, "bring its work home"), pane)
        },
        did: |world, _| readme(world, "hello\nagent\n"),
    },
    State {
        name: "a worktree that is gone",
        config: shell,
        show: |world| {
            let pane = boxed(world, "echo agent >> README.md");
            let aside = world.home.path().join("aside");
            std::fs::rename(world.repo.root(), &aside).expect("it moves");
            world.repo = Repo::at(&aside);
            let _ = world.press("apply").fails("is gone");
            (popup(world, "or keep the work as a patch"), pane)
        },
        did: |world, _| {
            let patch = world.repo.root().join(format!("{}.patch", world.box_name()));
            assert!(std::fs::read_to_string(patch).expect("the patch").contains("+agent"));
        },
    },
    State {
        name: "a sign-in that is over",
        config: shell,
        show: |world| {
            world.script(
                "fail",
                json!([{ "verb": "create", "code": "unauthorized", "message": "invalid api key" }]),
            );
            let _ = world.press("start").fails("invalid api key");
            (in_its_pane(world, "sign in with"), world.pane_ids().remove(0))
        },
        did: shows,
    },
    State {
        name: "a createos that cannot pause",
        config: shell,
        show: |world| {
            let pane = boxed(world, "true");
            let words = "Content-Length is required";
            world.script("fail", json!([{ "verb": "pause", "code": "api_error", "message": words }]));
            let _ = world.press("pause").fails("Content-Length");
            (popup(world, "upgrade it with"), pane)
        },
        did: shows,
    },
    State {
        name: "a toast about a box that was deleted",
        config: shell,
        show: |world| {
            let pane = boxed(world, "echo agent >> README.md");
            let _ = world.invoke("apply").ok();
            world.configure("[ui.toast]\ndelivery = \"herdr\"\n");
            let _ = world.press("delete").ok();
            world.popup_says("keep it");
            world.types_in_popup("y");
            world.toasts("can still be taken back");
            let toasts = world.home.path().join(".herdr-stand-in/toasts");
            (std::fs::read_to_string(toasts).expect("the toasts"), pane)
        },
        did: |world, _| readme(world, "hello\n"),
    },
    State {
        name: "a provider that is not there",
        config: shell,
        show: |world| {
            let pane = boxed(world, "true");
            std::fs::remove_file(world.home.path().join("bin/createos")).expect("it goes");
            let _ = world.press("info");
            (popup(world, "check the setup with"), pane)
        },
        did: shows,
    },
];

/// A command as somebody types it into a shell of the worktree, in a pane.
fn in_a_shell(world: &World, pane: &str, command: &str) -> Command {
    let mut shell = world.home.command_of(Path::new("/bin/sh"), &["-c", command]);
    shell.env("HERDR_PANE_ID", pane).current_dir(world.repo.root());
    if command.starts_with("createos ") {
        // Each call in the record is held to this.
        shell.env("CREATEOS_DO_NOT_TRACK", "1").current_dir("/");
    }
    shell
}

#[test]
fn what_a_screen_says_to_type_does_what_it_says() {
    if real_herdr().is_some() {
        return;
    }
    let next = AtomicUsize::new(0);
    let every = || {
        let mut keys = BTreeSet::new();
        while let Some(state) = STATES.get(next.fetch_add(1, Ordering::Relaxed)) {
            keys.extend(every_way_out(state));
        }
        keys
    };
    let shown: BTreeSet<String> = std::thread::scope(|scope| {
        let side_by_side: Vec<_> = (0..4).map(|_| scope.spawn(every)).collect();
        side_by_side.into_iter().flat_map(|thread| thread.join().expect("no state failed")).collect()
    });
    let listed: BTreeSet<String> = printed::ON_SCREENS.map(str::to_owned).into();
    assert_eq!(shown, listed, "what the states show, and printed::ON_SCREENS");
}

/// Types each command of a state, each in a world of its own; what they are.
fn every_way_out(state: &State) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for way in 0.. {
        if way > 0 && way == commands.len() {
            break;
        }
        let mut world = World::with_config((state.config)());
        symlink(binary(), world.home.path().join("bin/createos-sandbox")).expect("a link");
        let (shown, pane) = (state.show)(&mut world);
        // Names differ from world to world.
        commands = printed::on_screen(&shown);
        let command = commands.get(way).unwrap_or_else(|| panic!("{}: no command in\n{shown}", state.name));
        if NOT_TYPED.iter().any(|(part, _why)| command.contains(part)) {
            continue;
        }
        if command.ends_with(" boxes") {
            // A list that is looked at until somebody leaves it.
            let mut list = Pty::spawn(in_a_shell(&world, &pane, command), 24, 100);
            list.expect("box", LONG);
            list.send("q");
            assert!(list.wait(LONG).success(), "{}: [{command}]", state.name);
            continue;
        }
        let said = outcome(in_a_shell(&world, &pane, command));
        // A doctor that finds the fault has done its thing.
        let is_doctor = command.contains("--doctor") && said.stdout.contains("FAIL");
        assert!(said.code == 0 || is_doctor, "{}: [{command}] {said:?}\n{shown}", state.name);
        (state.did)(&mut world, command);
    }
    commands.iter().map(|command| printed::key(command)).filter(|key| !key.is_empty()).collect()
}
