//! `reconcile`: mappings stay true when panes move, after a restart of Herdr, and however often it runs.

use super::world::{LONG, World, typed};
use crate::support::{eventually, outcome};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};

/// The socket of a session of Herdr that nobody runs: what is bound there is nobody's but ours.
const ELSEWHERE: &str = "/nonexistent/herdr.sock";

/// `reconcile` as Herdr runs it, at its start or when a pane has moved.
fn hook(world: &World, socket: &str, moved: Option<(&str, &str)>) -> Command {
    let mut command = world.home.command(&["herdr", "reconcile"]);
    command.env("HERDR_PLUGIN_CONTEXT_JSON", "{}").env("HERDR_SOCKET_PATH", socket);
    match moved {
        Some((terminal, pane)) => {
            let shown = json!({ "pane_id": pane, "terminal_id": terminal, "workspace_id": "w9" });
            let data = json!({ "type": "pane_moved", "previous_pane_id": "w1:p9", "pane": shown });
            let event = json!({ "event": "pane_moved", "data": data }).to_string();
            command.env("HERDR_PLUGIN_EVENT", "pane.moved").env("HERDR_PLUGIN_EVENT_JSON", event)
        }
        None => command.env("HERDR_PLUGIN_EVENT", "startup"),
    };
    command
}

/// The socket of the session that runs.
fn own_socket(world: &World) -> String {
    world.records()[0]["socket"].as_str().expect("a socket").to_owned()
}

/// Runs `reconcile` and gives the state file's bytes.
#[track_caller]
fn after(world: &World, command: Command) -> String {
    let _ = outcome(command).success();
    std::fs::read_to_string(world.state_folder().join("state.json")).expect("a state")
}

#[test]
fn once_more_changes_nothing_and_a_move_asks_nobody() {
    let world = World::new();
    let (_, pane) = world.start();
    world.settles();
    let socket = own_socket(&world);
    let terminal = world.records()[0]["terminal"].as_str().expect("a terminal").to_owned();
    world.edit_state(|state| {
        let mut lost = state["records"][0].clone();
        lost["id"] = json!("0badcafe");
        lost["terminal"] = json!("term_0");
        state["records"].as_array_mut().expect("records").push(lost);
    });
    let startup = || after(&world, hook(&world, &socket, None));
    let once = startup();
    let records = world.records();
    assert_eq!((&records[0]["terminal"], &records[0]["pane"]), (&json!(terminal), &json!(pane)));
    // A stored pane id is believed once, and never of a pane that another mapping is shown in.
    assert_eq!((&records[1]["terminal"], &records[1]["pane"]), (&Value::Null, &Value::Null));
    let file = || {
        std::fs::metadata(world.state_folder().join("state.json"))
            .expect("a state")
            .modified()
            .expect("a time")
    };
    let written = file();
    assert_eq!(startup(), once);
    assert_eq!(startup(), once);
    assert_eq!(file(), written, "what does not change is not written again");

    let calls = world.calls().len();
    let moved = |terminal: &str| after(&world, hook(&world, &socket, Some((terminal, "w9:p1"))));
    let followed = moved(&terminal);
    assert_eq!(world.records()[0]["pane"], "w9:p1");
    assert_eq!(moved(&terminal), followed);
    assert_eq!(moved("term_of_somebody_else"), followed);
    let elsewhere = after(&world, hook(&world, ELSEWHERE, Some((&terminal, "w9:p2"))));
    assert_eq!(elsewhere, followed, "the same terminal id of another session");
    assert_eq!(world.calls().len(), calls, "no provider is asked for a move");
}

#[test]
fn twenty_moves_and_actions_at_once_lose_nothing() {
    let mut world = World::new();
    let _ = world.start();
    let socket = own_socket(&world);
    let first = world.pane_ids()[0].clone();
    // Nothing is proven of their boxes, so that nothing is forgotten.
    world.script("fail", json!([{ "verb": "list", "code": "server_error", "message": "the moon is down" }]));
    let name = |n: usize| format!("hd-shop-aaaa{n:05}");
    world.edit_state(|state| {
        let record = state["records"][0].clone();
        let more = (0..10).map(|n| {
            let mut record = record.clone();
            record["id"] = json!(format!("{n:08x}"));
            record["socket"] = json!(ELSEWHERE);
            record["terminal"] = json!(format!("term_{n}"));
            record["box"] = json!(name(n));
            record["boxId"] = json!(format!("sb-{n:026}"));
            record
        });
        state["records"].as_array_mut().expect("records").extend(more);
    });
    for round in 0..3 {
        let pane = |n: usize| format!("w{}:p{n}", round + 1);
        let mut commands: Vec<Command> = (0..10)
            .flat_map(|n| {
                let moved = hook(&world, ELSEWHERE, Some((&format!("term_{n}"), &pane(n))));
                [moved, typed(&world, &first, &["herdr", "delete", &name(n)])]
            })
            .collect();
        commands.push(hook(&world, &socket, None));
        let start = |mut command: Command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let children: Vec<Child> =
            commands.into_iter().map(|command| start(command).expect("it runs")).collect();
        for child in children {
            let ended = child.wait_with_output().expect("it ends");
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        for record in &world.records()[1..] {
            let n: usize = record["terminal"].as_str().expect("a terminal")[5..].parse().expect("a number");
            assert_eq!(
                (&record["pane"], record["deleteArmedAt"].is_u64()),
                (&json!(pane(n)), true),
                "{record}"
            );
        }
        assert_eq!(world.records().len(), 11);
        world.edit_state(|state| {
            for record in state["records"].as_array_mut().expect("records") {
                record["deleteArmedAt"] = Value::Null;
            }
        });
    }
}

#[test]
fn after_a_restart_panes_are_bound_before_a_provider_is_asked() {
    let mut world = World::new();
    let _ = world.start();
    let terminal = world.records()[0]["terminal"].clone();
    world.stop_server();
    let asked = world.calls_of("list").len();
    world.script("hold", json!("list"));
    world.serve();
    eventually("the provider is asked what is gone", LONG, || world.calls_of("list").len() > asked);
    let bound = world.records()[0]["terminal"].clone();
    assert!(bound.is_string() && bound != terminal, "a provider that hangs keeps no pane waiting: {bound}");
    world.script("hold", json!(null));
    world.settles();
}

#[test]
fn an_id_that_came_back_to_another_owner_is_not_bound_and_what_is_missing_is_an_orphan() {
    let mut world = World::new();
    let (_, pane) = world.start();
    let (missing, _) = world.start();
    let panes = world.pane_ids();
    let name = world.box_name();
    world.stop_server();
    let other = world.home.write("other/a.txt", "x").parent().expect("a folder").display().to_string();
    world.edit_state(|state| {
        // The pane of this id comes back in the worktree of another mapping.
        state["records"][0]["local"] = json!(other);
        state["records"][1]["pane"] = json!("w9:p9");
    });
    world.serve();
    let orphan = |record: &Value| record["terminal"].is_null() && record["pane"].is_null();
    eventually("nothing is bound", LONG, || world.records().iter().all(orphan));
    world.settles();
    assert_eq!(world.pane_ids(), panes, "no pane was closed, none opened");
    assert_eq!(world.boxes().len(), 2, "and no box deleted");
    let listed = world.home.run(&["herdr", "boxes"]).success().stdout;
    assert_eq!(listed.matches("orphan").count(), 2, "{listed}");
    let told = outcome(typed(&world, &pane, &["herdr", "info"])).success();
    assert!(
        told.stdout.contains(&missing) && !told.stdout.contains(&name),
        "the only box of this worktree: {told:?}"
    );
}
