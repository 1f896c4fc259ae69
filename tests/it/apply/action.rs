//! What an apply tells and asks for, and which programs of this machine it runs.

use super::{ROW, Table, result};
use crate::actions::world::{LONG, World};
use crate::support::eventually;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_paused_box_is_resumed_first_and_the_result_line_has_its_fields() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent("echo more >> a.txt; rm d/b.txt; chmod +x run.sh");
    let _ = pair.herdr(&["pause"]).success();
    let status = || pair.world.boxes()[0]["status"].clone();
    assert_eq!(status(), "paused");
    let applied = result(&pair.apply().success());
    assert_eq!(status(), "running");
    let name = pair.world.records()[0]["box"].clone();
    let patch = "find ~/.local/state/herdr/plugins/createos.sandbox -name '*-applied.patch' -exec cat {} +";
    let bytes = pair.user(patch).len();
    let expected = serde_json::json!({
        "schemaVersion": 1, "action": "apply", "ok": true, "result": "applied", "box": name, "bytes": bytes,
        "files": 3, "insertions": 1, "deletions": 1, "deletedFiles": 1, "runsCode": [], "dropped": [],
        "marked": [], "elsewhere": [], "putBack": [],
    });
    assert_eq!(applied, expected);
    let nothing = result(&pair.apply().success());
    assert_eq!(
        (&nothing["result"], &nothing["bytes"], &nothing["files"]),
        (&"no-changes".into(), &0.into(), &0.into())
    );
    // The patch that is kept is what came home.
    pair.user(&format!("{patch} > ../kept; git apply -R --check ../kept"));
}

#[test]
fn after_a_key_press_the_undo_is_offered_where_it_is_read() {
    let world = World::new();
    let (id, _) = world.start();
    world.in_box(&id, "cd /workspace; echo agent >> README.md; mkdir .vscode; echo x > .vscode/tasks.json");
    assert_eq!(world.press("apply").ok()["result"], "applied");
    world.popup_says("createos-sandbox herdr undo hd-");
    world.popup_says("look at, runs code here: .vscode/tasks.json");
}

#[test]
fn nothing_of_the_box_chooses_a_program_of_this_machine() {
    let table = Table::new();
    // A git that notes where it runs, and the drivers that a user may have for his own attributes.
    let world = &table.world;
    let log = world.home.path().join("git.log");
    let git = world.home.write(
        "bin/git",
        format!("#!/bin/sh\nprintf '%s\\n' \"$PWD\" >> {}\nexec /usr/bin/git \"$@\"\n", log.display()),
    );
    std::fs::set_permissions(git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let pair = table.pair(ROW.start);
    let ran = world.home.path().join("ran");
    let touch = format!("touch {}; cat", ran.display());
    for key in [
        "filter.evil.clean",
        "filter.evil.smudge",
        "merge.evil.driver",
        "diff.evil.command",
        "diff.evil.textconv",
    ] {
        pair.repo.git(&["config", key, &touch]);
    }
    // All of a bare repository as plain files, with a configuration that runs programs, here and deeper.
    pair.agent(&format!(
        "for place in . deep/bare; do
             mkdir -p $place; git init -q --bare b; rm -r b/hooks; mkdir b/hooks; cp -r b/. $place/; rm -r b; echo x > $place/objects/x; echo x > $place/refs/x
             printf '[core]\\n\\tbare = true\\n\\tfsmonitor = {touch}\\n\\tpager = {touch}\\n\\thooksPath = hooks\\n' > $place/config
             echo '{touch}' > $place/hooks/post-index-change; chmod +x $place/hooks/post-index-change
         done
         echo '* filter=evil merge=evil diff=evil' > .gitattributes; cp .gitattributes deep/bare/
         echo theirs >> a.txt; echo x > deep/bare/file"
    ));
    pair.user("sed -i 's/^1$/mine/' a.txt");
    std::fs::write(&log, "").unwrap();
    for (args, word) in [
        (&["review"][..], "shown"),
        (&["apply"], "applied"),
        (&["review"], "shown"),
        (&["apply"], "no-changes"),
    ] {
        assert_eq!(result(&pair.herdr(args).success())["result"], word);
    }
    pair.user(
        "test \"$(head -n 1 a.txt) $(tail -n 1 a.txt)\" = 'mine theirs' -a -e deep/bare/HEAD -a -e HEAD",
    );
    pair.agent("echo again >> a.txt; echo y > deep/bare/file");
    for (args, word) in [(&["apply"][..], "applied"), (&["undo"], "undone")] {
        assert_eq!(result(&pair.herdr(args).success())["result"], word);
    }
    assert!(!ran.exists(), "a program that the box named was run");
    // Every git ran at the top of the user's own worktree, or in a folder of ours that holds numbers only.
    let places: BTreeSet<String> =
        std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    let spool = format!("{}/createos-sandbox-", world.home.path().join("tmp").display());
    let top = pair.repo.root().display().to_string();
    assert!(places.contains(&top), "{places:?}");
    assert!(places.iter().any(|place| place.starts_with(&spool)), "{places:?}");
    for place in places {
        assert!(place == top || place.starts_with(&spool), "git ran in {place}");
    }
    // The lie detector works: git itself, asked in the folder that the box wrote, runs its program.
    pair.user("cd deep/bare && git -c core.bare=false --work-tree=. status > /dev/null 2>&1 || true");
    eventually("the box's program runs when git is asked there", LONG, || ran.exists());
}
