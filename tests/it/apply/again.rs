//! Work that came home and is here no more, that outlives its box, or has no worktree to come to.

use super::{Pair, ROW, Table, result};
use crate::actions::widths;
use crate::actions::world::{LONG, typed};
use crate::support::Pty;
use serde_json::{Value, json};

fn name(pair: &Pair<'_>) -> String {
    pair.world.box_name()
}

/// Types each of these commands as it was printed behind `words`.
#[track_caller]
fn printed(text: &str, words: &str) -> Vec<String> {
    let after = text.split(words).nth(1).unwrap_or_else(|| panic!("[{words}] is not in {text}"));
    let line = after.lines().next().unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn run(pair: &Pair<'_>, words: &[String]) -> crate::support::Outcome {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(words[..2], ["createos-sandbox", "herdr"], "{words:?}");
    pair.herdr(&words[2..])
}

#[test]
fn work_that_was_put_back_here_is_named_and_comes_again() {
    let table = Table::new();
    for put_back in
        ["git stash -qu", "git checkout -q -- . && git clean -qfd", "git reset -q --hard && git clean -qfd"]
    {
        let pair = table.pair(ROW.start);
        pair.agent("echo agent >> a.txt; rm -r d; echo n > new; mkdir f; echo x > f/x");
        let before = pair.here();
        let _ = pair.apply().success();
        let after = pair.here();
        assert_ne!(before, after);
        pair.user(put_back);
        assert_eq!(pair.here(), before, "{put_back}");
        let nothing = pair.apply().success();
        let told = result(&nothing);
        assert_eq!(told["result"], "no-changes", "{nothing:?}");
        assert_eq!(told["putBack"], json!(["a.txt", "d/b.txt", "f/x", "new"]), "{nothing:?}");
        let review = pair.herdr(&["review"]).success();
        assert!(review.stdout.contains("came home earlier and is not here any more: a.txt"), "{review:?}");
        let undo = pair.herdr(&["undo"]).fails(1, "files were changed since the last apply");
        assert!(undo.stderr.contains("came home earlier and is not here any more: a.txt"), "{undo:?}");
        let again = run(&pair, &printed(&nothing.stdout, "bring it again with: "));
        assert_eq!(result(&again.success())["result"], "applied");
        assert_eq!(pair.here(), after, "{put_back}");
        // What is here is not named, and goes back as any other apply.
        let nothing = pair.apply().success();
        assert_eq!(
            (&result(&nothing)["putBack"], &result(&nothing)["result"]),
            (&json!([]), &"no-changes".into())
        );
        let _ = pair.herdr(&["undo"]).success();
        assert_eq!(pair.here(), before, "{put_back}");
    }
}

#[test]
fn all_of_the_work_comes_again_beside_what_was_done_here_since() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent("sed -i 's/^1$/one/' a.txt");
    let _ = pair.apply().success();
    pair.agent("sed -i 's/^5$/five/' a.txt; echo n > new");
    let _ = pair.apply().success();
    pair.user("git checkout -q -- a.txt; rm new; sed -i 's/^9$/mine/' a.txt");
    // A file that was changed otherwise is not called put back.
    assert_eq!(result(&pair.apply().success())["putBack"], json!(["new"]));
    assert_eq!(result(&pair.herdr(&["apply", "--again"]).success())["result"], "applied");
    pair.user("test \"$(paste -sd, a.txt)\" = one,2,3,4,five,6,7,8,mine -a -e new");
    // The next apply goes on from there.
    pair.agent("echo more > more");
    assert_eq!(result(&pair.apply().success())["files"], 1);
    // A clash is a clash, and changes nothing.
    pair.user("git checkout -q -- a.txt; sed -i 's/^1$/uno/' a.txt");
    let before = pair.here();
    let clash = pair.herdr(&["apply", "--again"]).fails(1, "a.txt");
    assert_eq!(result(&clash)["files"], json!(["a.txt"]), "{clash:?}");
    assert_eq!(pair.here(), before);
}

#[test]
fn an_undo_outlives_its_box_and_is_listed_by_its_name() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    let start = pair.here();
    pair.agent("echo 1 > one");
    let applied = pair.apply().success();
    assert!(applied.stdout.contains(&format!("herdr undo {}", name(&pair))), "it names its box: {applied:?}");
    let first = pair.here();
    pair.agent("echo 2 > two; echo 2 >> a.txt");
    let _ = pair.apply().success();
    let name = name(&pair);
    let listed = pair.herdr(&["undo", "--list"]).success();
    assert_eq!(result(&listed)["levels"].as_array().map(Vec::len), Some(2), "{listed:?}");
    let deleted = pair.herdr(&["delete", "--discard", &name]).success();
    assert!(deleted.stdout.contains("what came home can still be taken back"), "{deleted:?}");
    assert!(pair.world.boxes().is_empty() && pair.world.records().is_empty());

    let listed = pair.herdr(&["undo", "--list", &name]).success();
    assert!(listed.stdout.contains("2 files in ~/row1: a.txt, two"), "{listed:?}");
    // Without its name nobody knows which box is meant: it is named.
    let unnamed = pair.herdr(&["undo"]).fails(1, "this pane has no box");
    let undone = run(&pair, &printed(&unnamed.stderr, "from a box that is gone: "));
    assert_eq!(result(&undone.success())["result"], "undone");
    assert_eq!(pair.here(), first);
    let undone = run(&pair, &printed(&deleted.stdout, "can still be taken back: "));
    assert_eq!(result(&undone.success())["files"], 1);
    assert_eq!(pair.here(), start);
    let _ = pair.herdr(&["undo", &name]).fails(1, "there is no apply to take back");
    let patches =
        pair.user("find ~/.local/state/herdr/plugins/createos.sandbox -name '*-applied.patch' | wc -l");
    assert_eq!(patches.trim(), "2", "patches stay");
    let _ = pair.herdr(&["undo", "hd-nobody"]).fails(1, "no box that was started here is called hd-nobody");
}

#[test]
fn files_that_were_changed_since_can_be_left_while_the_others_go_back() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    let start = pair.here();
    pair.agent("echo 1 > one");
    let _ = pair.apply().success();
    pair.agent("for n in $(seq 20); do echo $n > n$n; done; echo agent > one");
    let _ = pair.apply().success();
    pair.user("echo mine > n7");
    let before = pair.here();
    let refused = pair.herdr(&["undo"]).fails(1, "files were changed since the last apply");
    assert!(refused.stderr.contains("changed   n7\n"), "{refused:?}");
    assert_eq!(pair.here(), before);
    let undone = run(&pair, &printed(&refused.stderr, "and take the others back: ")).success();
    assert_eq!(
        (&result(&undone)["files"], &result(&undone)["kept"]),
        (&20.into(), &json!(["n7"])),
        "{undone:?}"
    );
    pair.user("test \"$(cat one n7)\" = \"$(printf '1\\nmine')\" -a ! -e n1 -a ! -e n20");
    // The level below is in reach, and the box's work can come again.
    let _ = pair.herdr(&["undo"]).success();
    pair.user("rm n7");
    assert_eq!(pair.here(), start);
    assert_eq!(result(&pair.herdr(&["apply", "--again"]).success())["result"], "applied");
    assert_eq!(pair.here(), pair.there());
}

#[test]
fn a_worktree_that_is_gone_is_said_to_be_and_the_work_is_kept() {
    let table = Table::new();
    let main = table.pair(ROW.start);
    main.user("git worktree add -q ../side -b side");
    let repo = crate::support::Repo::at(&main.world.home.path().join("side"));
    let pair = table.upload(repo);
    let box_name = main.world.records().last().unwrap()["box"].as_str().unwrap().to_owned();
    pair.agent("sed -i 's/^1$/one/' a.txt; rm d/b.txt; echo n > new; printf '\\0\\1' > bin; chmod +x bin");
    main.user("git worktree remove --force ../side");
    for action in ["apply", "review", "undo"] {
        let refused = main
            .herdr(&[action, &box_name])
            .fails(1, &format!("the worktree of box {box_name} is gone: ~/side"));
        assert!(refused.stderr.contains("add a worktree at the same path"), "{refused:?}");
    }
    let asked = main.herdr(&["delete", &box_name]).success();
    assert!(asked.stdout.contains("the worktree of box"), "{asked:?}");
    let refused = main.herdr(&["apply", &box_name]);
    let written = run(&main, &printed(&refused.stderr, "or keep the work as a patch: ")).success();
    assert_eq!(
        (&result(&written)["result"], &result(&written)["files"]),
        (&"written".into(), &4.into()),
        "{written:?}"
    );
    main.user(&format!("git apply --check {box_name}.patch; git apply {box_name}.patch; test -x bin -a ! -e d -a -e new; git checkout -q -- .; rm -r new bin"));
    let again = main.herdr(&["apply", "--to-patch", &format!("{box_name}.patch"), &box_name]);
    let _ = again.fails(1, "is there already");
    main.user(&format!("rm {box_name}.patch"));
    // As it was said: at the same path it comes home.
    let add = printed(&refused.stderr, "apply brings it there: ");
    main.user(&add.join(" ").replace("BRANCH", "side"));
    assert_eq!(result(&main.herdr(&["apply", &box_name]).success())["result"], "applied");
    main.user("cd ../side; test \"$(head -n 1 a.txt)\" = one -a -x bin -a ! -e d -a -e new");
}

#[test]
fn most_of_the_files_go_only_when_somebody_wants_it() {
    let table = Table::new();
    let pair = table.pair("for n in $(seq 24); do echo $n > f$n; done");
    pair.agent("rm f1? f2? f3; echo new > new");
    let before = pair.here();
    let refused =
        pair.apply().fails(1, "deleted 16 files, more than half of those in ~/row1; nothing was changed");
    assert_eq!(
        (&result(&refused)["result"], &result(&refused)["deletedFiles"]),
        (&"too-many-deletions".into(), &16.into()),
        "{refused:?}"
    );
    assert_eq!(pair.here(), before);
    let review = pair.herdr(&["review"]).success();
    assert!(review.stdout.contains("MORE THAN HALF OF THE FILES GO: 16 deleted here"), "{review:?}");
    // On a terminal it is a question.
    let ask = |answer: &str, told: &str| {
        let mut command = typed(pair.world, &pair.pane, &["herdr", "apply"]);
        command.current_dir(pair.repo.root());
        let mut asked = Pty::spawn(command, 30, 100);
        asked.expect("Delete them here, too?", LONG);
        asked.send(answer);
        asked.expect(told, LONG);
        assert!(asked.wait(LONG).success(), "{}", asked.text());
        assert!(!asked.text().contains("CREATEOS_HERDR_RESULT"), "a person reads no JSON: {}", asked.text());
    };
    for columns in [45, 25] {
        let mut command = typed(pair.world, &pair.pane, &["herdr", "apply"]);
        command.current_dir(pair.repo.root());
        let mut asked = Pty::spawn(command, widths::ROWS, columns);
        widths::shows(
            &asked,
            columns,
            "deleted 16 files, more than half of those in ~/row1; see which with:",
        );
        widths::shows(&asked, columns, "Delete them here, too? [y/N]");
        asked.send("\r");
        widths::shows(&asked, columns, "nothing was applied");
        assert!(asked.wait(LONG).success(), "{}", asked.text());
    }
    ask("\r", "nothing was applied");
    assert_eq!(pair.here(), before);
    ask("y", "16 files deleted here");
    assert_eq!(pair.here(), pair.there());
    let _ = pair.herdr(&["undo"]).success();
    assert_eq!(pair.here(), before);
    let applied = run(&pair, &printed(&refused.stderr, "if that is meant: ")).success();
    assert!(applied.stdout.contains("+1 -16, 16 files deleted here"), "{applied:?}");
    // A few may go unasked, whatever they are of all.
    let few = table.pair(ROW.start);
    few.agent("rm -r *");
    assert_eq!(result(&few.apply().success())["deletedFiles"], 3);
}

#[test]
fn nothing_of_the_box_that_says_less_than_its_disk_takes_files_away() {
    let table = Table::new();
    let pair = table.pair("for n in $(seq 38); do echo $n > f$n; done");
    let before = pair.here();
    for (program, script) in [
        ("git", r#"case "$*" in *ls-files*) exit 0;; *) exec "$real" "$@";; esac"#),
        ("find", r#"case "$*" in *printf*) exit 0;; *) exec "$real" "$@";; esac"#),
    ] {
        super::hostile::lie(&pair, program, script);
        for args in [&["apply"][..], &["apply", "--allow-deletions"]] {
            let refused = pair.herdr(args).fails(1, "are still on its disk, nothing was changed");
            assert!(refused.stderr.contains("38 files"), "{refused:?}");
        }
        assert_eq!(pair.here(), before, "{program}");
    }
}

#[test]
fn what_stays_in_the_box_is_told_with_its_reason() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent("ln -s /etc/passwd abs; echo x > .env; echo n > new; git checkout -qb feat; echo f > f; git add f; git commit -qm f; git checkout -q -; git stash -qu -- new; echo m > m");
    let applied = pair.apply().success();
    assert!(
        applied.stdout.contains("abs (a link that leads out of the worktree: /etc/passwd)"),
        "{applied:?}"
    );
    assert!(applied.stdout.contains("stays in the box: branch feat: 1 commit"), "{applied:?}");
    assert_eq!(result(&applied)["elsewhere"], json!(["branch feat: 1 commit", "a stash"]), "{applied:?}");
    let nothing: Value = result(&pair.apply().success());
    assert_eq!(nothing["elsewhere"], json!(["branch feat: 1 commit", "a stash"]));
    let review = pair.herdr(&["review"]).success();
    assert!(
        review.stdout.contains("stays    branch feat: 1 commit   not in the checked-out tree"),
        "{review:?}"
    );
}
