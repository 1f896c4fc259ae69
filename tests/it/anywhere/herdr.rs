//! A box in a terminal and in a pane of Herdr: whichever made it, the other can show it.

use super::{DETACH, LONG, types_until};
use crate::actions::world::{World, typed};
use crate::support::{Pty, eventually, outcome};
use serde_json::json;

fn terminal(world: &World, args: &[&str]) -> Pty {
    let mut command = world.home.command(args);
    command.current_dir(world.repo.root());
    Pty::spawn(command, 30, 120)
}

#[test]
fn a_box_of_a_terminal_opens_in_a_pane_and_one_of_a_pane_in_a_terminal() {
    let world = World::with_config(json!({ "agent": "shell", "provider": "local" }));
    let mut pty = terminal(&world, &["start"]);
    pty.expect("attached. Ctrl-]", LONG);
    types_until(&mut pty, "echo one > on''e; echo ma''de", "made");
    pty.send(DETACH);
    assert!(pty.wait(LONG).success());
    let name = world.box_name();

    // Here, in a pane beside this one.
    let pane = world.pane_ids().remove(0);
    let _ = outcome(typed(&world, &pane, &["herdr", "attach", &name])).success();
    let shown = world.box_pane();
    assert_ne!(shown, pane);
    world.answers(&shown, "in a ", "pane");
    assert_ne!(world.records()[0]["socket"], "", "it is this session's now");

    // And in a terminal at the same time: both show the same.
    let mut pty = terminal(&world, &["attach"]);
    types_until(&mut pty, "echo bo''th", "both");
    eventually("the pane shows it, too", LONG, || world.screen(&shown).contains("both"));
    pty.send(DETACH);
    assert!(pty.wait(LONG).success());
    world.answers(&shown, "still ", "here");
    assert_eq!(world.boxes().len(), 1);
}
