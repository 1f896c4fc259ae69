//! File sync: what it is told to leave alone, and where it is refused.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

#[test]
fn sync_leaves_out_everything_that_the_upload_keeps_home() {
    let world = World::with_config(json!({
        "agent": "shell", "excludes": ["fixtures/", "*.mp4"], "syncExcludes": ["node_modules"],
    }));
    world
        .repo
        .write(".gitignore", "build,1/\n")
        .write("build,1/out.o", "x")
        .write("notes.txt", private_key());
    let (id, _) = world.start();
    let refused = world.invoke("sync").fails("~/.ssh has none");
    assert!(refused["fix"].as_str().unwrap().contains("ssh-keygen"), "{refused}");
    world.home.write(".ssh/id_ed25519.pub", "ssh-ed25519 AAAA me\n");
    let synced = world.invoke("sync").ok();
    assert_eq!(synced["box"], world.records()[0]["box"]);
    eventually("the provider's sync runs", LONG, || !world.calls_of("sync").is_empty());
    let argv = world.calls_of("sync").remove(0);
    let excluded: Vec<_> =
        argv.windows(2).filter(|pair| pair[0] == "--exclude").map(|pair| pair[1].as_str()).collect();
    for pattern in [".git", "node_modules", "/fixtures/", "*.mp4", ".env", "*.pem", "/notes.txt"] {
        assert!(excluded.contains(&pattern), "{pattern} is not in {excluded:?}");
    }
    assert!(excluded.contains(&"/build?1/"), "a comma would split a pattern in two: {excluded:?}");
    assert_eq!(argv.last(), Some(&id), "flags first, the full id last");
    assert!(argv.windows(2).any(|pair| pair == ["--mode", "two-way"]), "{argv:?}");
}

#[test]
fn there_is_one_sync_at_a_time() {
    let mut world = World::new();
    let _ = world.start();
    world.home.write(".ssh/id_ed25519.pub", "ssh-ed25519 AAAA me\n");
    world.script("hold", json!("sync"));
    let _ = world.invoke("sync").ok();
    eventually("the provider's sync runs", LONG, || world.calls_of("sync").len() == 1);
    let second = world.invoke("sync").ok();
    world.sees(second["pane"].as_str().expect("its pane"), "another file sync runs");
    assert_eq!(world.calls_of("sync").len(), 1);
    world.script("hold", json!(null));
}

#[test]
fn boxes_on_this_machine_start_the_same_way_and_have_no_sync() {
    let world = World::with_config(json!({ "agent": "shell", "provider": "local" }));
    let (_, pane) = world.start();
    world.answers(&pane, "in", "side");
    let refused = world.invoke("sync").fails("boxes on this machine have no file sync");
    assert!(refused["fix"].as_str().unwrap().contains("herdr apply"), "{refused}");
    assert!(world.calls().is_empty(), "the official program is not needed");
}

/// A private key's shape, built here so that no scanner finds one in this file.
fn private_key() -> String {
    let body = "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun";
    let edge = |word: &str| format!("-----{word} RSA PRIVATE {}-----\n", "KEY");
    format!("{}{body}\n{body}\n{}", edge("BEGIN"), edge("END"))
}
