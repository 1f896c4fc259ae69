//! What both sides changed: named, kept as a patch, and settled by the commands that the message prints.

use super::{Pair, ROW, Table, result};
use crate::support::{Outcome, outcome};

/// The commands in the hints of a refusal, in their order.
fn commands(refused: &Outcome) -> Vec<String> {
    let hints = refused.stderr.lines().filter_map(|line| line.strip_prefix("help: "));
    hints.filter_map(|hint| Some(hint.split_once(": ")?.1.to_owned())).collect()
}

/// Runs a printed command as a person pastes it, in the worktree and the pane.
fn paste(pair: &Pair<'_>, command: &str) -> Outcome {
    let ours = crate::support::binary();
    let mut shell = pair.world.home.command_of(std::path::Path::new("bash"), &["-ec", command]);
    let path = format!(
        "{}:{}/bin:{}",
        ours.parent().unwrap().display(),
        pair.world.home.path().display(),
        crate::support::PATH
    );
    shell.env("PATH", path).env("HERDR_PANE_ID", &pair.pane).current_dir(pair.repo.root());
    outcome(shell)
}

/// The same line on both sides, committed here, and more that does not clash.
fn clash<'a>(table: &'a Table) -> (Pair<'a>, Outcome) {
    let pair = table.pair(ROW.start);
    pair.agent("sed -i 's/^5$/theirs/; s/^9$/nine/' a.txt; echo new > new; rm d/b.txt; git add -A; git commit -qm work");
    pair.user("sed -i 's/^5$/mine/' a.txt; git commit -qam mine");
    let refused = pair.apply();
    assert_eq!((refused.code, &result(&refused)["result"]), (1, &"conflict".into()), "{refused:?}");
    (pair, refused)
}

#[test]
fn the_printed_commands_show_the_boxs_side_and_bring_both_versions() {
    let table = Table::new();
    let (pair, refused) = clash(&table);
    let [show, mark, ..] = &commands(&refused)[..] else { panic!("{refused:?}") };
    let shown = paste(&pair, show).success();
    for line in ["diff --git a/a.txt b/a.txt", "-5", "+theirs", "+new", "deleted file mode 100644"] {
        assert!(shown.stdout.lines().any(|shown| shown == line), "[{line}] is not in {shown:?}");
    }
    // The result line names the same file, and it is a patch of what the box started from.
    let patch = result(&refused)["patch"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(&patch).unwrap(), shown.stdout);
    assert_eq!(std::fs::metadata(&patch).unwrap().len(), result(&refused)["bytes"].as_u64().unwrap());
    pair.user(&format!("git stash -q 2>/dev/null || true; git checkout -q HEAD~1; git apply '{patch}'"));
    assert_eq!(pair.here(), pair.there());
    pair.user("git add -A; git reset -q --hard; git checkout -q main");

    let marked = paste(&pair, mark).success();
    assert_eq!(result(&marked)["marked"], serde_json::json!(["a.txt"]), "{marked:?}");
    assert!(marked.stdout.contains("both versions, marked for you to choose: a.txt"), "{marked:?}");
    pair.user("(seq 4; echo '<<<<<<< here'; echo mine; echo =======; echo theirs; echo '>>>>>>> box'; seq 6 8; echo nine) | diff - a.txt");
    pair.user("test \"$(cat new)\" = new -a ! -e d");
    // The person chooses, and the clash does not come again.
    pair.user("(seq 4; echo both; seq 6 8; echo nine) > a.txt; git add -A; git commit -qm chosen");
    assert_eq!(result(&pair.apply().success())["result"], "no-changes");
    pair.agent("sed -i 's/^1$/one/' a.txt");
    assert_eq!(result(&pair.apply().success())["result"], "applied");
    pair.user("(echo one; seq 2 4; echo both; seq 6 8; echo nine) | diff - a.txt");
}

#[test]
fn one_side_may_be_chosen_and_an_undo_brings_the_other_back() {
    let table = Table::new();
    let (pair, refused) = clash(&table);
    assert!(
        refused.stderr.contains("or keep your files where they clash: createos-sandbox herdr apply hd-"),
        "{refused:?}"
    );
    let before = pair.here();
    let theirs = "or take the box's there: createos-sandbox ";
    let theirs = refused.stderr.lines().find_map(|line| line.strip_prefix("help: ")?.strip_prefix(theirs));
    let words: Vec<_> = theirs.expect("the command").split(' ').skip(1).collect();
    let theirs = pair.herdr(&words).success();
    assert!(theirs.stdout.contains("the box's, against yours: a.txt"), "{theirs:?}");
    assert_eq!(pair.here(), pair.there());
    let _ = pair.herdr(&["undo"]).success();
    assert_eq!(pair.here(), before);

    let mine = pair.herdr(&["apply", "--on-clash", "mine"]).success();
    assert!(mine.stdout.contains("yours, against the box's: a.txt"), "{mine:?}");
    pair.user("(seq 4; echo mine; seq 6 9) | diff - a.txt; test \"$(cat new)\" = new -a ! -e d");
    assert_eq!(result(&pair.apply().success())["result"], "no-changes");
    // What the box does next is merged from there.
    pair.agent("sed -i 's/^1$/one/' a.txt");
    assert_eq!(result(&pair.apply().success())["result"], "applied");
    pair.user("(echo one; seq 2 4; echo mine; seq 6 9) | diff - a.txt");
}

#[test]
fn deletions_binaries_and_new_files_are_settled_for_one_side_but_cannot_be_marked() {
    let table = Table::new();
    let pair = table.pair(r"seq 9 > a.txt; printf '\0a' > bin; echo g > gone; echo k > kept; ln -s a.txt l");
    pair.agent(r"printf '\0b' > bin; echo t > new; echo t > gone; rm kept; ln -sfn new l");
    pair.user(r"printf '\0c' > bin; echo u > new; rm gone; echo u > kept; ln -sfn bin l");
    let before = pair.here();
    let all = serde_json::json!(["bin", "gone", "kept", "l", "new"]);
    for args in [&["apply"][..], &["apply", "--on-clash", "mark"]] {
        let refused = pair.herdr(args);
        assert_eq!((refused.code, &result(&refused)["files"]), (1, &all), "{refused:?}");
        assert_eq!(pair.here(), before);
    }
    let _ = pair.herdr(&["apply", "--on-clash", "theirs"]).success();
    assert_eq!(pair.here(), pair.there());
    let _ = pair.herdr(&["undo"]).success();
    assert_eq!(pair.here(), before);
    let mine = pair.herdr(&["apply", "--on-clash", "mine"]).success();
    assert_eq!(result(&mine)["result"], "already-applied", "{mine:?}");
    assert_eq!(pair.here(), before);
    assert_eq!(result(&pair.apply().success())["result"], "no-changes");
}
