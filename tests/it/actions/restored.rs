//! Panes that Herdr brought back: fresh shells, in which a person may have begun something.

use super::world::{LONG, World};
use crate::support::eventually;

#[test]
fn attach_leaves_a_restored_pane_open_in_which_something_runs() {
    let mut world = World::new();
    let (id, pane) = world.start();
    let terminal = world.records()[0]["terminal"].clone();
    world.stop_server();
    world.serve();
    eventually("the mapping is bound again", LONG, || world.records()[0]["terminal"] != terminal);
    world.types(&pane, "sleep 1000");
    let foreground = || {
        let info = world.herdr(&["pane", "process-info", "--pane", &pane]);
        info["process_info"]["foreground_processes"][0]["name"].clone()
    };
    eventually("the person's program runs", LONG, || foreground() == "sleep");
    let attached = world.invoke("attach").ok();
    assert_eq!(attached["box"], world.records()[0]["box"]);
    let shown = world.records()[0]["pane"].as_str().expect("a pane").to_owned();
    assert_ne!(shown, pane);
    world.answers(&shown, "still", "here");
    assert_eq!(foreground(), "sleep", "the person's work goes on");
    assert_eq!(world.boxes()[0]["id"], id.as_str());
}
