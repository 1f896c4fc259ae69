//! What passes between the box and its pane: how an attach ends, and what is shown a second time.

use super::narrow::start_in_a_small_pane;
use super::world::{CALM, LONG, World};
use crate::support::{Pty, eventually};
use serde_json::json;
use std::time::{Duration, Instant};

/// How often the attach child was started.
fn attaches(world: &World) -> usize {
    world.calls_of("process").iter().filter(|argv| argv.contains(&"attach".to_owned())).count()
}

fn times(pty: &Pty, text: &str) -> usize {
    pty.text().matches(text).count()
}

/// Types a line until it was seen so often: what is typed before an attach reads is dropped.
#[track_caller]
fn types_until(pty: &mut Pty, line: &str, text: &str, count: usize) {
    let began = Instant::now();
    while times(pty, text) < count {
        assert!(began.elapsed() < LONG, "{text:?} was not seen {count} times:\n{}", pty.text());
        pty.send(format!("{line}\r"));
        std::thread::sleep(Duration::from_millis(700));
    }
}

#[test]
fn the_words_of_a_detach_count_only_while_the_agent_runs() {
    let mut world = World::new();
    world.script("times", json!({ "attach_says_detached": 1 }));
    let (_, pane) = world.start();
    world.sees(&pane, "this pane is detached, the agent runs on in the box");
    assert_eq!(attaches(&world), 1);
    world.comes_back(&pane);
    world.answers(&pane, "at", "work");
    // A box can print them as well.
    world.types(&pane, "printf 'Detached. The shell is still running. Reattach with:\\n'; exit 7");
    world.sees(&pane, "the agent has ended, exit code 7.");
    assert_eq!(attaches(&world), 2, "an agent that has ended is not attached to again");
}

#[test]
fn words_of_a_detach_before_the_end_are_the_boxs_own() {
    let world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    world.types(&pane, "printf 'Detached. The shell is still running. Reattach with:\\n'");
    world.answers(&pane, "still", "here");
    world.kill("attach");
    world.sees(&pane, "the connection to the box was lost; trying again at once");
    world.answers(&pane, "back", "again");
    assert!(!world.screen(&pane).contains("this pane is detached"), "{}", world.screen(&pane));
}

#[test]
fn what_was_shown_before_acts_no_second_time_and_what_is_new_does() {
    const CLIPBOARD: &str = "\u{1b}]52;c;b2xk\u{7}";
    const QUERY: &str = "\u{1b}[6n";
    const NOTE: &str = "\u{1b}]9;done\u{7}";
    let world = World::new();
    let mut pane = start_in_a_small_pane(&world, (40, 100));
    pane.expect("Ctrl-]", LONG);
    let acts = "printf '\\033]52;c;b2xk\\007\\033[6n\\033]9;done\\007\\007'; echo sh''own";
    types_until(&mut pane, acts, "shown", 1);
    let before = [CLIPBOARD, QUERY, NOTE].map(|text| times(&pane, text));
    assert!(before.iter().all(|count| *count > 0), "what is new passes: {before:?}");
    let typed_for = times(&pane, "shown");
    pane.send("\u{1d}");
    pane.expect("this pane is detached", LONG);
    std::thread::sleep(CALM);
    pane.send("\r");
    pane.expect("bringing it back", LONG);
    eventually("it is shown again", LONG, || times(&pane, "shown") > typed_for);
    types_until(&mut pane, "echo a''gain", "again", 1);
    assert_eq!([CLIPBOARD, QUERY, NOTE].map(|text| times(&pane, text)), before, "{:?}", pane.text());
    let live = before[0] + 1;
    types_until(&mut pane, acts, CLIPBOARD, live);
    assert!(times(&pane, QUERY) >= live && times(&pane, NOTE) >= live, "{:?}", pane.text());
}

#[test]
fn what_the_pane_says_after_a_detach_does_not_stand_between_the_lines_of_an_inline_screen() {
    let world = World::with_config(json!({ "agent": "shell", "provider": "local" }));
    let (_, pane) = world.start();
    world.answers(&pane, "at", "work");
    // As an agent does: a few lines, and the cursor in the first of them.
    world.types(&pane, "printf 'on''e\\nsec''ond\\nthi''rd\\033[2A\\r'; sleep 1000");
    world.sees(&pane, "third");
    world.herdr(&["pane", "send-keys", &pane, "ctrl+]"]);
    world.sees(&pane, "this pane is detached, the agent runs on in the box");
    let screen = world.screen(&pane);
    assert!(!screen.contains("second") && !screen.contains("third"), "{screen}");
    // The box still has them, and shows them when the pane comes back.
    world.comes_back(&pane);
    world.sees(&pane, "third");
    assert!(!world.screen(&pane).contains("detached"), "{}", world.screen(&pane));
}
