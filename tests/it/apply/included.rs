//! Ignored files that were sent on purpose come home as any other file does.

use super::{Pair, Table, bash, result};
use crate::support::Repo;
use serde_json::json;

/// A box with two kinds of ignored files: named by `.worktreeinclude`, and tracked and let through by the settings.
fn sent(table: &Table) -> Pair<'_> {
    let world = &table.world;
    let repo = Repo::init(&world.home.path().join("sent"));
    repo.write(".gitignore", "*.local\n*.cfg\n").write(".worktreeinclude", "*.local\n").write("a.txt", "a\n");
    let made =
        "for name in mine same gone; do seq 9 > $name.local; done; seq 9 > kept.cfg; git add -f kept.cfg";
    let _ = bash(world, repo.root(), made).success();
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "start"]);
    let root = repo.root().display().to_string();
    let settings = json!({ "agent": "shell", "allowFiles": { root.as_str(): ["kept.cfg"] } });
    world.home.write(".config/herdr/plugins/config/createos.sandbox/config.json", settings.to_string());
    let mut trust = world.home.command(&["trust", "--yes"]);
    trust.current_dir(repo.root());
    let _ = crate::support::outcome(trust).success();
    table.upload(repo)
}

#[test]
fn what_was_sent_although_it_is_ignored_comes_home_and_can_be_taken_back() {
    let table = Table::new();
    let pair = sent(&table);
    pair.agent(
        "echo box >> mine.local; echo box > kept.cfg; rm gone.local; echo x > new.local; echo b > a.txt",
    );
    pair.user("sed -i 's/^1$/here/' mine.local");
    let before = pair.here();
    let applied = pair.apply().success();
    let told = result(&applied);
    assert_eq!(
        (&told["result"], &told["dropped"], &told["files"], &told["deletedFiles"]),
        (&json!("applied"), &json!([]), &json!(4), &json!(1)),
        "{applied:?}"
    );
    pair.user("test \"$(head -1 mine.local; tail -1 mine.local; cat kept.cfg a.txt)\" = \"$(printf 'here\\nbox\\nbox\\nb')\"");
    pair.user("test ! -e gone.local -a ! -e new.local");
    let info = result(&pair.herdr(&["info"]).success());
    assert_eq!(info["notApplied"], json!([]), "{info}");
    let _ = pair.herdr(&["undo"]).success();
    assert_eq!(pair.here(), before);
}

#[test]
fn both_sides_changes_of_an_ignored_file_clash_as_those_of_others() {
    let table = Table::new();
    let pair = sent(&table);
    pair.agent("sed -i 's/^5$/box/' mine.local");
    pair.user("sed -i 's/^5$/here/' mine.local");
    let before = pair.here();
    let applied = pair.apply().fails(1, "clash");
    assert_eq!(result(&applied)["files"], json!(["mine.local"]), "{applied:?}");
    assert_eq!(pair.here(), before);
}

#[test]
fn a_changed_list_of_what_leaves_is_named() {
    let table = Table::new();
    let pair = sent(&table);
    pair.agent("echo '*.cfg' >> .worktreeinclude");
    let applied = pair.apply().success();
    assert_eq!(result(&applied)["runsCode"], json!([".worktreeinclude"]), "{applied:?}");
    assert!(applied.stdout.contains("look at, runs code here: .worktreeinclude"), "{applied:?}");
    // A yes was for the earlier content: the next start asks.
    let dry = pair.herdr(&["upload", "--dry-run", "--json"]).success().json();
    let stays = dry["stays"].as_array().expect("a list");
    let waits = stays.iter().filter(|file| file["reason"] == "would-be-included").count();
    assert_eq!(waits, 3, "{dry}");
}
