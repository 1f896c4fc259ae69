//! An apply that is killed, or that somebody races with: all or nothing, and nothing through a link.
#![cfg(debug_assertions)]

use super::{Pair, Table, result};
use crate::actions::world::{LONG, typed};
use crate::support::{Outcome, Pty, outcome};

fn apply_with(pair: &Pair<'_>, variable: &str, value: &str) -> Outcome {
    let mut command = typed(pair.world, &pair.pane, &["herdr", "apply"]);
    command.env(variable, value).current_dir(pair.repo.root());
    outcome(command)
}

#[test]
fn killed_between_any_two_steps_it_is_finished_or_taken_back_by_the_next() {
    let table = Table::new();
    let pair = table.pair("echo 1 > edited; mkdir old; echo r > old/removed");
    let before = pair.here();
    pair.agent("echo 2 > edited; rm -r old; mkdir new; echo n > new/n; git commit -qam work");
    let after = pair.there();
    let (mut at, mut kills, mut committed) = (0, 0, 0);
    loop {
        at += 1;
        let killed = apply_with(&pair, "CREATEOS_SANDBOX_KILL_AT", &at.to_string());
        if killed.code != 0 {
            kills += 1;
            continue;
        }
        // It ran to its end, or it finished what the one before had committed.
        let word = result(&killed)["result"].as_str().unwrap().to_owned();
        assert_eq!(pair.here(), after, "after {at}: {killed:?}");
        let _ = pair.herdr(&["undo"]).success();
        assert_eq!(pair.here(), before, "after {at}");
        if word == "applied" {
            break;
        }
        assert_eq!(word, "no-changes", "{killed:?}");
        committed += 1;
        at -= 1;
    }
    assert!(kills > 15 && committed > 2, "{kills} kills, {committed} after the commit");
}

#[test]
fn a_folder_that_becomes_a_link_at_any_step_is_not_written_through() {
    let table = Table::new();
    for point in [
        "apply prepared",
        "journal written",
        "one staged",
        "all staged",
        "one exchanged",
        "one taken out",
        "one step done",
        "committed",
        "one put away",
    ] {
        let pair = table.pair("mkdir d; echo 1 > d/edited; echo r > d/removed; echo k > d/kept; echo a > a");
        let outside = pair.repo.root().with_extension("outside");
        let state = || {
            let listed = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = listed.map(|path| (std::fs::read(&path).unwrap(), path)).collect();
            files.sort();
            files
        };
        std::fs::create_dir(&outside).unwrap();
        for name in ["edited", "removed", "new"] {
            std::fs::write(outside.join(name), "outside").unwrap();
        }
        let before = state();
        pair.agent("echo 2 > d/edited; rm d/removed; echo n > d/new; echo b > a");
        let wish = format!("{point}={}={}", pair.repo.root().join("d").display(), outside.display());
        let raced = apply_with(&pair, "CREATEOS_SANDBOX_DISTURB", &wish);
        pair.user("test -L d -a -d d.away");
        assert_eq!(state(), before, "{point}: {raced:?}");
        // Nothing of the user's is gone: what he had is there, or where the message says.
        let edited = pair.repo.read("d.away/edited");
        assert!(edited == "1\n" || edited == "2\n", "{point}: {edited}");
        assert_eq!(pair.repo.read("d.away/kept"), "k\n");
        // And the next apply says what is in the way, or that all is done.
        let next = pair.apply();
        assert_eq!(state(), before, "{point}: {next:?}");
        if next.code != 0 {
            assert!(
                next.stderr.contains("d is a link here") || next.stderr.contains("deleted here"),
                "{point}: {next:?}"
            );
        }
    }
}

#[test]
fn links_made_between_review_and_yes_are_judged_again() {
    let table = Table::new();
    let pair = table.pair("mkdir -p p/q; echo f > p/q/f; echo x > x");
    pair.agent("ln -s p/q/../../x log");
    let before = pair.here();
    let mut command = typed(pair.world, &pair.pane, &["herdr", "review"]);
    command.current_dir(pair.repo.root());
    let mut terminal = Pty::spawn(command, 30, 100);
    terminal.expect("y apply", LONG);
    pair.user("mv p/q p/r; ln -s / p/q");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    terminal.send("y");
    assert!(!terminal.wait(LONG).success(), "{}", terminal.text());
    terminal.expect("the links here were changed meanwhile, nothing was changed", LONG);
    pair.user("test ! -L log; rm p/q; mv p/r p/q");
    assert_eq!(pair.here(), before);
    let _ = pair.apply().success();
    assert_eq!(pair.here(), pair.there());
}

#[test]
fn a_link_of_the_base_that_is_not_here_leads_nobody() {
    let table = Table::new();
    let pair = table.pair("echo x > x; ln -s . up; mkdir d; echo f > d/f");
    pair.user("rm up");
    pair.agent("ln -s up/x log; ln -s d/f fine");
    let applied = pair.apply().success();
    assert_eq!(result(&applied)["dropped"], serde_json::json!(["log"]), "{applied:?}");
    let shown = pair.herdr(&["review"]).success();
    assert!(
        shown.stdout.contains("a link that leads through up, a link that is not here: up/x"),
        "{shown:?}"
    );
    pair.user("test ! -L log -a -L fine; git checkout -q up");
    let _ = pair.apply().success();
    assert_eq!(pair.here(), pair.there());
}
