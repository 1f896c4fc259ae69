//! `prune`: which boxes it offers, and what an answer does.

use super::world::{LONG, World};
use crate::support::{Pty, eventually};
use serde_json::json;

#[test]
fn only_boxes_that_were_once_here_and_that_nothing_needs_are_offered() {
    let world = World::new();
    let (lost, pane) = world.start();
    let lost_name = world.box_name();
    let (used, _) = world.start();
    let installation = world.state()["installation"].as_str().expect("an id").to_owned();
    let ours = |end: &str| format!("hd-shop-{installation}{end}");
    // Never here; here under another id; here under another name; both as here, of another installation.
    let elsewhere = [ours("never"), ours("other"), ours("named"), "somebodys".to_owned()];
    let made = [
        None,
        Some((ours("other"), "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned())),
        Some((ours("elder"), String::new())),
        Some(("somebodys".to_owned(), String::new())),
    ];
    let ids = elsewhere.each_ref().map(|name| world.local_box(name));
    world.edit_state(|state| {
        state["records"].as_array_mut().expect("records").retain(|record| record["boxId"] != lost.as_str());
        for (made, own) in made.into_iter().zip(ids) {
            let Some((name, id)) = made else { continue };
            let id = if id.is_empty() { own } else { id };
            state["made"].as_array_mut().expect("made").push(json!({ "name": name, "id": id }));
        }
    });
    let listed = world.home.run(&["herdr", "boxes"]).success().stdout;
    let row = |name: &str| listed.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    for name in &elsewhere {
        assert!(row(name).contains("elsewhere"), "{name}: {listed}");
    }
    assert!(row(&lost_name).contains("not recorded"), "{listed}");

    let left = || world.boxes().iter().map(|listed| listed["id"].clone()).collect::<Vec<_>>();
    let everything = left();
    assert_eq!(everything.len(), 6);
    let ask = || {
        let asked = Pty::spawn(world.home.command(&["herdr", "prune", "--orphans"]), 40, 120);
        asked.expect("Delete 1 box for ever?", LONG);
        assert!(asked.text().contains(&lost_name) && !asked.text().contains(&used), "{}", asked.text());
        assert!(elsewhere.iter().all(|name| !asked.text().contains(name.as_str())), "{}", asked.text());
        assert!(asked.text().contains("made elsewhere, and never deleted from here: 4 boxes"));
        asked
    };
    for (answer, code, told) in [
        ("\x03", 130, "stopped at the question"),
        ("n", 0, "nothing was deleted"),
        ("\r", 0, "nothing was deleted"),
    ] {
        let mut asked = ask();
        asked.send(answer);
        asked.expect(told, LONG);
        assert_eq!(asked.wait(LONG).code(), Some(code), "{}", asked.text());
        assert_eq!(left(), everything, "{answer:?}");
    }
    let mut asked = ask();
    asked.send("y");
    assert!(asked.wait(LONG).success(), "{}", asked.text());
    assert_eq!(left(), everything.iter().filter(|id| **id != lost.as_str()).cloned().collect::<Vec<_>>());
    eventually("its pane says so", LONG, || world.screen(&pane).contains("its box was deleted"));
}
