//! Boxes that the earlier plugin started: its calls, its file, and real work in them.

use super::world::{World, typed};
use crate::support::{outcome, result_line};
use serde_json::json;

/// What the earlier plugin does with a box after its upload.
const BASELINE: &str =
    "mkdir -p /workspace/src; cd /workspace; echo hello > README.md; echo 'fn main() {}' > src/main.rs
    git init -q -b main; git config user.name agent; git config user.email agent@example.com; git add -A
    git -c user.name=herdr -c user.email=herdr@createos.local commit -qm herdr-baseline";

/// A box of the earlier plugin, with its line in that one's file under this pane; its id.
fn earlier(world: &World, name: &str, pane: &str) -> String {
    let id = world.local_box(name);
    world.in_box(&id, BASELINE);
    let file = world.state_folder().join("panes.json");
    let mut panes: serde_json::Value = std::fs::read_to_string(&file)
        .map_or_else(|_| json!({}), |text| serde_json::from_str(&text).expect("JSON"));
    panes[pane] = json!({
        "box": name, "boxId": id, "agent": "shell", "bin": "/bin/bash", "processId": "proc_1",
        "local": world.repo.root(), "remote": "/workspace",
    });
    std::fs::create_dir_all(world.state_folder()).expect("a folder");
    std::fs::write(&file, panes.to_string()).expect("it is written");
    id
}

#[test]
fn work_in_a_box_that_the_earlier_plugin_started_comes_home_and_is_named_before_a_delete() {
    let world = World::new();
    let pane = world.pane_ids()[0].clone();
    let id = earlier(&world, "hd-old-abc123", &pane);
    world.in_box(
        &id,
        "cd /workspace; echo agent >> README.md; git commit -qam work; rm -r src; echo n > new; chmod +x new",
    );
    let asked = world.invoke("delete").ok();
    assert_eq!(asked["notApplied"], json!(["README.md", "new", "src/main.rs"]), "{asked}");
    let applied = world.invoke("apply").ok();
    assert_eq!(
        (&applied["result"], &applied["files"], &applied["deletedFiles"]),
        (&json!("applied"), &json!(3), &json!(1))
    );
    assert_eq!(
        (world.repo.read("README.md"), world.repo.read("new")),
        ("hello\nagent\n".into(), "n\n".into())
    );
    assert!(!world.repo.root().join("src").exists() && world.repo.root().join(".env").exists());
    assert_eq!(world.invoke("apply").ok()["result"], "no-changes");
    // The next work comes by itself, merged from what the box keeps.
    world.repo.write("README.md", "hello\nagent\n\n\nmine\n");
    world.in_box(&id, "cd /workspace; sed -i 's/hello/hi/' README.md");
    assert_eq!(world.invoke("apply").ok()["result"], "applied");
    assert_eq!(world.repo.read("README.md"), "hi\nagent\n\n\nmine\n");
    assert_eq!(world.invoke("undo").ok()["result"], "undone");
}

#[test]
fn a_box_that_the_earlier_plugin_starts_later_is_seen_and_belongs_to_its_pane() {
    let world = World::new();
    let (own, shown) = world.start();
    let first = world.pane_ids().into_iter().find(|pane| *pane != shown).expect("the first pane");
    let info = |pane: &str| result_line(&outcome(typed(&world, pane, &["herdr", "info"])).success().stdout);
    assert_eq!(info(&first)["boxId"], json!(own), "the only box of this worktree");
    let told = outcome(typed(&world, &first, &["herdr", "info"])).success();
    assert!(told.stdout.contains("the only box of this worktree"), "{told:?}");
    let id = earlier(&world, "hd-old-abc123", &first);
    assert_eq!(info(&first)["boxId"], json!(id), "its pane shows it");
    assert_eq!(info(&shown)["boxId"], json!(own));
    // Of a pane that no session here has: it can be named, and nobody takes it for his.
    let other = earlier(&world, "hd-old-def456", "w9:p9");
    let named = outcome(typed(&world, &first, &["herdr", "info", "hd-old-def456"])).success();
    assert_eq!(result_line(&named.stdout)["boxId"], json!(other));
    let record =
        |id: &str| world.records().into_iter().find(|record| record["boxId"] == id).expect("a record");
    assert_eq!(record(&other)["socket"], "");
    assert_eq!(record(&id)["socket"], record(&own)["socket"]);
    // What was deleted here does not come again with the next change of that file.
    let _ = outcome(typed(&world, &first, &["herdr", "delete", "--discard", "hd-old-def456"])).success();
    let _ = earlier(&world, "hd-old-ghi789", "w8:p8");
    let _ = info(&first);
    let names: Vec<_> = world.records().iter().map(|record| record["box"].clone()).collect();
    assert_eq!(names[1..], [json!("hd-old-abc123"), json!("hd-old-ghi789")]);
}
