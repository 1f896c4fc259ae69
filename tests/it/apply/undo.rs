//! Taking applies back, from the command line.

use super::{ROW, Table, result};

#[test]
fn an_undo_is_offered_and_gives_back_every_sort_of_change() {
    let table = Table::new();
    let pair = table.pair(
        "seq 9 > a.txt; mkdir -p d/deep; echo b > d/deep/b; chmod 640 d/deep/b; echo r > run; ln -s a.txt l
         ln -s run gone; printf '\\0\\1' > bin; mkdir was; echo w > was/file; echo f > file",
    );
    let modes = "find . -name .git -prune -o -printf '%m %y %p %l\\n' | sort";
    let before = (pair.here(), pair.user(modes));
    pair.agent(
        "echo x >> a.txt; rm -r d; echo now > d; chmod +x run; ln -sfn run l; rm gone; printf y > bin
         mkdir -p n/n; echo n > n/n/n; rm -r was; ln -s n was; rm file; mkdir file; echo in > file/in; git commit -qam x",
    );
    let applied = pair.apply().success();
    let offer = applied
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("take it back with: createos-sandbox "));
    // It names the box, so that it works in any pane.
    let offer: Vec<_> = offer.expect("an offer").split(' ').collect();
    assert_eq!(offer[..2], ["herdr", "undo"], "{applied:?}");
    assert_eq!(offer[2..], [result(&applied)["box"].as_str().expect("a name")], "{applied:?}");
    let after = pair.here();
    assert_eq!(after, pair.there());
    let undone = pair.herdr(&offer[1..]).success();
    assert_eq!(result(&undone)["result"], "undone", "{undone:?}");
    assert_eq!((pair.here(), pair.user(modes)), before);
    // Once more there is nothing, and it says so.
    let nothing = pair.herdr(&["undo"]).fails(1, "there is no apply to take back");
    assert_eq!(result(&nothing)["ok"], false);
    assert_eq!(pair.here(), before.0);
    // The work can come again.
    assert_eq!(result(&pair.apply().success())["result"], "applied");
    assert_eq!(pair.here(), after);
}

#[test]
fn files_changed_since_are_named_and_nothing_is_undone() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent(
        "echo agent > a.txt; rm -r d; chmod +x run.sh; echo n > new; mkdir f; echo x > f/x; ln -s a.txt l",
    );
    let _ = pair.apply().success();
    pair.user("echo mine > a.txt; mkdir d; echo mine > d/b.txt; rm new; ln -sfn run.sh l; echo mine > f/y");
    let before = pair.here();
    let refused =
        pair.herdr(&["undo"]).fails(1, "files were changed since the last apply, nothing was undone");
    for name in ["a.txt", "d/b.txt", "new", "l"] {
        assert!(
            refused.stderr.lines().any(|line| line.ends_with(&format!("  {name}"))),
            "{name}: {refused:?}"
        );
    }
    assert_eq!(refused.stderr.matches("changed   ").count(), 4, "{refused:?}");
    assert_eq!(pair.here(), before);
    // As the apply left them: it goes, and what is only the user's stays.
    pair.user("echo agent > a.txt; rm -r d; echo n > new; ln -sfn a.txt l");
    let _ = pair.herdr(&["undo"]).success();
    pair.user("seq 9 | cmp - a.txt; test \"$(cat d/b.txt f/y)\" = \"$(printf 'b\\nmine')\" -a ! -e new -a ! -e l -a ! -e f/x -a ! -x run.sh");
}

#[test]
fn applies_go_back_one_by_one_and_the_last_twenty_are_kept() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    for round in 1..=22 {
        pair.agent(&format!("echo {round} > a.txt"));
        let _ = pair.apply().success();
    }
    let kept = "find ~/.local/state/herdr/plugins/createos.sandbox -name '*-applied.patch' | wc -l";
    assert_eq!(pair.user(kept).trim(), "20");
    for round in (2..22).rev() {
        let _ = pair.herdr(&["undo"]).success();
        assert_eq!(pair.repo.read("a.txt"), format!("{round}\n"));
    }
    let _ = pair.herdr(&["undo"]).fails(1, "there is no apply to take back");
    assert_eq!(pair.repo.read("a.txt"), "2\n");
    let _ = pair.apply().success();
    assert_eq!(pair.repo.read("a.txt"), "22\n");
}
