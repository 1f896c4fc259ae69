//! Where the programs that the actions call are found.

use super::world::World;
use crate::support::{program, stand_in};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

/// What setup records of the programs that it has checked, beside the manifest.
const RECORDED: &str = ".local/share/createos-sandbox/herdr-plugin/programs.json";

#[test]
fn a_program_is_called_where_setup_recorded_it_then_from_path_then_from_the_usual_folders() {
    let world = World::new();
    let _ = world.start();
    let place = |folder: &str| world.home.path().join(folder).join("createos");
    let places = [place("recorded"), place("bin"), place(".local/bin")];
    for missing in [&places[0], &places[2]] {
        std::fs::create_dir_all(missing.parent().expect("a folder")).expect("a folder");
        symlink(stand_in("createos-stand-in"), missing).expect("a link");
    }
    world.home.write(RECORDED, json!({ "createos": places[0] }).to_string());
    for place in &places {
        assert_eq!(world.invoke("info").ok()["status"], "running");
        let asked = |call: &Value| call["argv"].as_array().is_some_and(|argv| argv.contains(&json!("get")));
        let call = world.calls().into_iter().rfind(asked).expect("a call");
        assert_eq!(call["program"], json!(place), "{call}");
        std::fs::remove_file(place).expect("a link");
    }
    let failed = world.invoke("info").fails("createos was not found");
    let error = failed["error"].as_str().expect("an error");
    for place in &places {
        let looked = if *place == places[1] { place.parent().expect("a folder") } else { place };
        assert!(error.contains(&looked.display().to_string()), "{} is not in: {error}", looked.display());
    }
    assert!(failed["fix"].as_str().expect("a fix").contains("--doctor"), "{failed}");
}

#[test]
fn every_call_of_git_is_of_the_one_that_setup_recorded() {
    // As of a server that a desktop has started: its PATH has no git.
    let world = World::with(json!({ "agent": "shell" }), |home| {
        let bin = home.path().join("bin").display().to_string();
        home.var("PATH", bin)
    });
    let (git, calls) = (which::which("git").expect("git"), world.home.path().join("git-calls"));
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n", calls.display(), git.display());
    let recorded = program(&world.home, "recorded/git", &script);
    world.home.write(RECORDED, json!({ "git": recorded }).to_string());
    world.repo.write("list.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    let (id, _) = world.start();
    world.in_box(&id, "cd /workspace && sed -i s/1/one/ list.txt && echo new > new.txt");
    world.repo.write("list.txt", "1\n2\n3\n4\n5\n6\n7\neight\n");
    let asked = std::fs::read_to_string(&calls).expect("the calls of start");
    assert!(asked.contains("rev-parse") && asked.contains("ls-files"), "{asked}");
    std::fs::remove_file(&calls).expect("calls");
    assert_eq!(world.invoke("apply").ok()["result"], "applied");
    assert_eq!(world.repo.read("list.txt"), "one\n2\n3\n4\n5\n6\n7\neight\n");
    let calls = std::fs::read_to_string(calls).expect("calls");
    for words in ["ls-files", "check-ignore", "merge-file"] {
        assert!(calls.contains(words), "{words} was asked of another git:\n{calls}");
    }
}
