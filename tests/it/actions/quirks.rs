//! The official program's quirks (docs/measured/createos-cli.md 3), each by its switch.

use super::world::{LONG, World};
use crate::support::{Home, Pty, Terminal, eventually, program};
use serde_json::json;
use std::path::Path;

#[test]
fn every_call_has_its_flags_first_a_neutral_folder_and_a_full_id() {
    // Folder and environment of every call are looked at when a world ends.
    let world = World::with(json!({ "agent": "shell" }), |home| home.var("CREATEOS_OUTPUT", "json"));
    let (id, _) = world.start();
    let started = &world.agent_starts()[0];
    let at = |word: &str| {
        started.iter().position(|own| own == word).unwrap_or_else(|| panic!("{word}: {started:?}"))
    };
    assert!(at("--cwd") < at(&id) && at("--rows") < at(&id) && at(&id) < at("--"), "{started:?}");
    assert_eq!(started[..3], ["-o", "json", "sandbox"], "{started:?}");
    // Data travels behind a guard, so that no word of it can be one that the program looks for.
    for exec in world.calls_of("exec") {
        let command = exec.iter().position(|word| word == "--").unwrap();
        let data = &exec[command + 5..];
        assert!(data.iter().all(|word| word.starts_with('=')), "{exec:?}");
    }
}

#[test]
fn every_answer_of_create_is_understood_and_a_taken_name_is_replaced() {
    for form in ["object", "action", "merged", "decorated", "text"] {
        let mut world = World::new();
        world.script("create_json", json!(form));
        world.script("times", json!({ "name_taken": 1 }));
        let _ = world.start();
        assert_eq!(world.calls_of("create").len(), 2, "{form}");
        assert_eq!(world.boxes().len(), 1, "{form}");
    }
}

#[test]
fn a_box_beyond_the_first_200_rows_is_not_taken_for_gone() {
    let mut world = World::new();
    let _ = world.start();
    world.script("other_rows", json!(1_200));
    world.script("hide_from_get", json!(true));
    world.invoke("attach").fails("no sandbox matching");
    assert_eq!(world.records().len(), 1, "it is in the listing");
    assert_eq!(world.invoke("info").ok()["status"], "missing");
    // A build that knows no pages proves nothing. The pane asks too, when its stream ends.
    world.script("offset_ignored", json!(true));
    world.remove_box();
    world.invoke("attach").fails("no sandbox matching");
    assert_eq!(world.records().len(), 1, "an incomplete listing drops nothing");
    world.script("offset_ignored", json!(false));
    let _ = world.invoke("attach");
    eventually("a complete listing without it does", LONG, || world.records().is_empty());
}

#[test]
fn a_lost_stream_is_attached_again_by_itself() {
    let mut world = World::new();
    world.script("times", json!({ "attach_loses": 1 }));
    let (_, pane) = world.start();
    world.sees(&pane, "the connection to the box was lost; trying again at once");
    eventually("it attaches again", LONG, || {
        world.calls_of("process").iter().filter(|argv| argv.contains(&"attach".to_owned())).count() == 2
    });
    world.answers(&pane, "once", "more");
}

#[test]
fn errors_of_every_generation_are_shown_in_the_programs_own_words() {
    let mut world = World::new();
    let _ = world.start();
    world.script("fail", json!([{ "verb": "get", "code": "server_error", "message": "the moon is down" }]));
    for errors in ["envelope", "stdout", "stderr"] {
        world.script("errors", json!(errors));
        let failed = world.invoke("info").fails("the moon is down");
        assert!(!failed["error"].as_str().unwrap().contains("ERROR"), "{failed}");
    }
    assert_eq!(world.records().len(), 1);
}

#[test]
fn an_answer_without_a_document_is_no_success_whatever_its_exit_code() {
    let mut world = World::new();
    let _ = world.start();
    world.script("banner", json!(["get"]));
    world.invoke("info").fails("the answer is not JSON");
    world.script("banner", json!(["process get"]));
    world.invoke("attach").fails("the answer is not JSON");
    assert_eq!(world.records().len(), 1);
    let down = |code: &str, words: &str| json!([{ "verb": "process get", "code": code, "message": words }]);
    world.script("banner", json!([]));
    world.script("fail", down("server_error", "the moon is down"));
    world.invoke("attach").fails("the moon is down");
    // Not found is no proof either: the agent is in the list of the box's processes.
    world.script("fail", down("not_found", "process not found"));
    assert_eq!(world.invoke("attach").ok()["processId"], world.records()[0]["processId"]);
    assert_eq!(world.agent_starts().len(), 1, "nothing has proven that the agent is gone");
}

#[test]
fn what_runs_in_a_box_stands_behind_two_dashes_and_reads_nothing() {
    let world = World::new();
    let (id, _) = world.start();
    let mut calls = world.calls_of("exec");
    calls.extend(world.calls_of("process").into_iter().filter(|argv| argv.contains(&"start".to_owned())));
    assert!(calls.len() > 3, "{calls:?}");
    for argv in calls {
        let at = argv.iter().position(|word| *word == id).expect("the full id");
        assert_eq!(argv[at + 1], "--", "a flag of the box's program would be the CLI's: {argv:?}");
    }
    let read = std::fs::read_to_string(world.home.path().join(".createos-stand-in/stdin")).unwrap();
    assert!(!read.is_empty() && read.lines().all(|bytes| bytes == "0"), "stdin is /dev/null: {read}");
}

#[test]
fn an_empty_list_may_be_null() {
    let mut world = World::new();
    world.script("null_lists", json!(true));
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(listed.stdout.contains("no boxes"), "{listed:?}");
}

#[test]
fn a_stream_that_ends_cleanly_is_a_lost_connection_and_what_else_ended_it_is_asked() {
    let mut world = World::new();
    world.script("times", json!({ "attach_ends": 1 }));
    let (id, pane) = world.start();
    world.sees(&pane, "the connection to the box was lost; trying again at once");
    let process = world.records()[0]["processId"].clone();
    world.answers(&pane, "same", "agent");
    assert!(!world.screen(&pane).contains("detached"), "nobody has detached: {}", world.screen(&pane));
    assert_eq!(world.records()[0]["processId"], process, "it was not started again");
    // The same exit code, and the agent has ended, the box is paused, or is gone: the provider tells.
    world.types(&pane, "exit 3");
    world.sees(&pane, "the agent has ended, exit code 3");
    world.comes_back(&pane);
    world.answers(&pane, "next", "agent");
    let _ = world.home.run(&["local", "sandbox", "pause", &id]).success();
    world.sees(&pane, "the box is paused");
    world.comes_back(&pane);
    world.answers(&pane, "third", "agent");
    world.remove_box();
    world.sees(&pane, "its box was deleted");
}

#[test]
fn ctrl_bracket_detaches_and_the_agent_runs_on() {
    let world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.herdr(&["pane", "send-keys", &pane, "ctrl+]"]);
    world.sees(&pane, "this pane is detached, the agent runs on in the box");
}

#[test]
fn the_terminal_in_the_box_has_the_panes_size_less_the_footer_of_the_official_program() {
    let world = World::new();
    let (_, pane) = world.start();
    let started = &world.agent_starts()[0];
    let value = |flag: &str| {
        let at = started.iter().position(|word| word == flag).expect("the flag");
        started[at + 1].parse::<u16>().expect("a number")
    };
    world.answers(&pane, "at", "work");
    let (rows, columns) = world.terminal_size("provision");
    assert_eq!((value("--rows"), value("--cols")), (rows - 1, columns), "{started:?}");
}

#[test]
fn the_footer_hides_nothing_in_a_pane_that_is_full_and_ctrl_c_arrives_as_a_signal() {
    let world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.types(&pane, "seq 300");
    world.sees(&pane, "300");
    world.herdr(&["pane", "send-keys", &pane, "ctrl+]"]);
    world.sees(&pane, "this pane is detached");
    // The cursor is on the last row now: below the region that the official program lets scroll.
    world.comes_back(&pane);
    world.answers(&pane, "still", "seen");
    // As a byte it would do nothing in this mode.
    world.types(&pane, "stty -isig; echo qui''et; sleep 1000");
    world.sees(&pane, "quiet");
    world.herdr(&["pane", "send-keys", &pane, "ctrl+c"]);
    world.answers(&pane, "inter", "rupted");
}

/// What is typed until the attach is there is echoed, and moves the cursor to the last row after all.
#[test]
fn the_footer_hides_nothing_where_something_was_typed_meanwhile() {
    let home = Home::new().with_bin();
    let official = program(
        &home,
        "bin/official",
        "#!/bin/sh\nset -- $(stty size)\n\
         paint() { printf '\\0337\\033[1;%sr\\033[%s;1Hfooter\\0338' $(($1 - 1)) $1; }\n\
         printf '  attached to proc_%026d (sb-%026d)\\n' 1 1\npaint $1\n\
         for n in 1 2 3; do printf \"line $n\\n\"; paint $1; done\n",
    );
    for columns in [80, 44, 25] {
        let mut command = home.command_of(Path::new("/bin/sh"), &[]);
        command.args(["-c", "seq 30; printf 'echo typed again'; exec \"$0\" herdr relay none \"$1\""]);
        command.arg(crate::support::binary()).arg(&official);
        let mut pane = Pty::spawn(command, 12, columns);
        assert!(pane.wait(LONG).success(), "{}", pane.text());
        let mut terminal = Terminal::new(12, columns, 0);
        terminal.process(&pane.bytes());
        let shown = terminal.screen().contents();
        for line in ["line 1", "line 2", "line 3", "footer"] {
            assert!(shown.contains(line), "{line} is hidden at {columns} columns:\n{shown}");
        }
    }
}

#[test]
fn what_the_http_library_says_meanwhile_disturbs_nothing() {
    let mut world = World::new();
    world.script("noise", json!(true));
    let (id, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.in_box(&id, "echo new > /workspace/new.txt");
    assert_eq!(world.invoke("apply").ok()["result"], "applied");
    let _ = world.invoke("pause").ok();
    world.sees(&pane, "the box is paused");
    let _ = world.invoke("resume").ok();
    assert_eq!(world.invoke("info").ok()["status"], "running");
    let listed = world.home.run(&["herdr", "boxes"]).success();
    assert!(listed.stdout.contains(&world.box_name()), "{listed:?}");
    world.script("fail", json!([{ "verb": "get", "code": "error", "message": "the moon is down" }]));
    let failed = world.invoke("info").fails("the moon is down");
    assert!(!failed["error"].as_str().unwrap().contains("RESTY"), "{failed}");
    world.script("fail", json!([]));
    let _ = world.invoke("delete").ok();
    let _ = world.invoke("delete").ok();
    assert!(world.boxes().is_empty());
}
