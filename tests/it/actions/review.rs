//! Looking at the box's work before it comes home.

use super::world::{CALM, LONG, World, typed};
use crate::support::{Pty, eventually, outcome};

/// What an agent leaves: an edit, a hostile line, something that runs code here, a secret, a link out.
fn work(world: &World, id: &str) {
    world.in_box(
        id,
        "cd /workspace && echo agent >> README.md && printf 'x\\033[2Jy\\n' > evil.txt && echo use x > .envrc.example \
         && mkdir .vscode && echo '{}' > .vscode/tasks.json && ln -s /etc/passwd out && git add -A && git commit -qm w",
    );
}

#[test]
fn a_review_without_a_terminal_prints_the_patch_and_changes_nothing() {
    let world = World::new();
    let (id, pane) = world.start();
    work(&world, &id);
    let shown = outcome(typed(&world, &pane, &["herdr", "review"])).success();
    for text in [
        "changed  README.md",
        "RUNS CODE HERE",
        "stays    out   a link that leads out of the worktree: /etc/passwd",
        "diff --git a/README.md b/README.md",
        "+agent",
        "+x\\x1b[2Jy",
        "\"result\":\"shown\"",
        "\"would\":\"applied\"",
    ] {
        assert!(shown.stdout.contains(text), "[{text}] is not in:\n{}", shown.stdout);
    }
    assert!(!shown.stdout.contains('\u{1b}'), "no byte of the box reaches the terminal");
    assert_eq!(world.repo.read("README.md"), "hello\n");
}

#[test]
fn on_a_terminal_there_are_colours_and_pages_y_applies_and_q_leaves_it() {
    let world = World::new();
    let (id, pane) = world.start();
    work(&world, &id);
    world.in_box(&id, "cd /workspace; for n in $(seq 90); do echo line$n.; done > zzz.txt");
    for (key, said, text) in [("q", "", "hello\n"), ("y", "came home", "hello\nagent\n")] {
        let mut command = typed(&world, &pane, &["herdr", "review"]);
        if key == "y" {
            command.env("NO_COLOR", "1");
        }
        let mut terminal = Pty::spawn(command, 30, 100);
        terminal.expect("diff --git", LONG);
        // More than a screen: the rest comes when it is asked for.
        assert!(!terminal.text().contains("line90."), "{}", terminal.text());
        terminal.send("G");
        terminal.expect("+line90.", LONG);
        for colour in ["\u{1b}[32m+line90.", "\u{1b}[1mdiff --git", "\u{1b}[36m@@ "] {
            assert_eq!(terminal.text().contains(colour), key == "q", "{colour:?}: {}", terminal.text());
        }
        std::thread::sleep(CALM);
        terminal.send(key);
        assert!(terminal.wait(LONG).success(), "{}", terminal.text());
        eventually("it says what was done", LONG, || terminal.text().contains(said));
        assert!(!terminal.text().contains("CREATEOS_HERDR_RESULT"), "that line is for programs");
        assert!(!terminal.text().contains("\u{1b}[2Jy"), "no sequence of the box reaches the terminal");
        assert_eq!(world.repo.read("README.md"), text);
    }
}

#[test]
fn a_key_opens_a_pane_for_the_review() {
    let world = World::new();
    let (id, _pane) = world.start();
    work(&world, &id);
    let before = world.pane_ids();
    let opened = world.press("review").ok();
    assert_eq!(opened["result"], "opened");
    let pane = world.pane_ids().into_iter().find(|pane| !before.contains(pane)).expect("a new pane");
    world.sees(&pane, "y apply");
    world.key(&pane, "y");
    world.sees(&pane, "came home");
    assert_eq!(world.repo.read("README.md"), "hello\nagent\n");
}
