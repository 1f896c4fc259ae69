//! What the user has done meanwhile, and what sort of worktree it is.

use super::{ROW, Row, Table, Then, result};

#[test]
fn local_edits_far_nearby_and_in_the_same_line() {
    Table::run(&[
        Row {
            name: "in another file",
            agent: "echo agent >> a.txt; git commit -qam work",
            user: "echo mine > d/b.txt; echo new > mine.txt; git add mine.txt",
            then: Then::Applied(
                "test \"$(tail -n 1 a.txt) $(cat d/b.txt mine.txt)\" = \"$(printf 'agent mine\\nnew')\"",
            ),
            ..ROW
        },
        Row {
            name: "far away in the same file",
            agent: "sed -i 's/^9$/nine/' a.txt",
            user: "sed -i 's/^1$/one/' a.txt; git commit -qam mine",
            then: Then::Applied("(echo one; seq 2 8; echo nine) | cmp - a.txt"),
            ..ROW
        },
        Row {
            name: "nearby, where a patch would not apply",
            agent: "sed -i 's/^5$/five/' a.txt",
            user: "sed -i 's/^3$/three/' a.txt",
            then: Then::Applied("printf '%s\\n' 1 2 three 4 five 6 7 8 9 | cmp - a.txt"),
            ..ROW
        },
        Row {
            name: "the same line",
            agent: "sed -i 's/^5$/theirs/' a.txt; echo innocent > innocent; rm d/b.txt",
            user: "sed -i 's/^5$/mine/' a.txt",
            then: Then::Clash(&[("a.txt", "both sides changed the same lines")]),
            ..ROW
        },
        Row {
            name: "the same line, committed here",
            agent: "sed -i 's/^5$/theirs/' a.txt",
            user: "sed -i 's/^5$/mine/' a.txt; git commit -qam mine",
            then: Then::Clash(&[("a.txt", "both sides changed the same lines")]),
            ..ROW
        },
        Row {
            name: "the same edit",
            agent: "echo same >> a.txt; rm d/b.txt; echo new > new; chmod +x run.sh",
            user: "echo same >> a.txt; rm d/b.txt; echo new > new; chmod +x run.sh",
            then: Then::Already,
            ..ROW
        },
    ]);
}

#[test]
fn a_folder_that_may_not_be_written_is_named_with_what_to_do() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent("echo more >> d/b.txt; echo new > d/new; echo agent > a.txt");
    pair.user("chmod 555 d");
    if std::fs::write(pair.repo.root().join("d/probe"), "x").is_ok() {
        // Root ignores mode bits: there is nothing to be refused.
        return;
    }
    let before = pair.here();
    let refused = pair.apply().fails(1, "may not be written by you, nothing was changed");
    assert!(refused.stderr.contains("chmod u+w "), "{refused:?}");
    assert_eq!(pair.here(), before);
    pair.user("chmod u+w d");
    assert_eq!(result(&pair.apply().success())["result"], "applied");
}

#[test]
fn untracked_deleted_and_in_the_way() {
    Table::run(&[
        Row {
            name: "an untracked file of the same name",
            agent: "echo theirs > new; git add new; git commit -qm new",
            user: "echo mine > new",
            then: Then::Clash(&[("new", "both sides made it, differently")]),
            ..ROW
        },
        Row {
            name: "deleted here, changed there",
            agent: "echo theirs > a.txt",
            user: "rm a.txt",
            then: Then::Clash(&[("a.txt", "changed in the box, deleted here")]),
            ..ROW
        },
        Row {
            name: "changed here, deleted there",
            agent: "rm a.txt",
            user: "echo mine > a.txt",
            then: Then::Clash(&[("a.txt", "deleted in the box, changed here")]),
            ..ROW
        },
        Row {
            name: "deleted here, nothing there",
            agent: "echo agent > run.sh",
            user: "rm -r a.txt d",
            then: Then::Applied("test ! -e a.txt -a ! -e d -a \"$(cat run.sh)\" = agent"),
            ..ROW
        },
        Row {
            name: "folders, files, links and pipes in the way",
            agent: "for name in 1 5 7; do echo t > $name; done; for name in 2 3; do mkdir $name; echo t > $name/y; done
                    ln -sf d/b.txt run.sh; echo innocent > innocent",
            user: "mkdir 1; echo u > 1/y; echo u > 2; mkdir z; ln -s z 3; mkfifo 5; echo u > run.sh; ln -s a.txt 7",
            then: Then::Clash(&[
                ("1", "a folder here, with 1/y"),
                ("2/y", "2 is a file here"),
                ("3/y", "3 is a link here"),
                ("5", "something else has this name here"),
                ("7", "both sides made it, differently"),
                ("run.sh", "both sides changed it"),
            ]),
            ..ROW
        },
    ]);
}

#[test]
fn sparse_checkouts_submodules_and_linked_worktrees() {
    let table = Table::new();
    // A sparse checkout: what it leaves out is neither uploaded nor shadowed.
    let sparse = table.pair(
        "mkdir src docs; echo a > src/a; echo b > docs/b; git add -A; git commit -qm x
         git sparse-checkout set src; test ! -e docs/b",
    );
    sparse.agent("test ! -e docs; mkdir docs; echo other > docs/b; echo x > src/a");
    let clash = sparse.apply();
    assert_eq!(result(&clash)["files"], serde_json::json!(["docs/b"]), "{clash:?}");
    assert!(clash.stderr.contains("your sparse checkout leaves it out"), "{clash:?}");
    sparse.user("test \"$(cat src/a)\" = a -a ! -e docs");
    sparse.agent("rm docs/b; echo n > docs/new");
    let _ = sparse.apply().success();
    sparse.user("test \"$(cat src/a docs/new)\" = \"$(printf 'x\\nn')\"");

    // A worktree that git has linked, and the one that it came from.
    sparse
        .user("git sparse-checkout disable; git worktree add -q -b topic ../linked; test -f ../linked/.git");
    let linked = table.upload(crate::support::Repo::at(&sparse.repo.root().with_file_name("linked")));
    linked.agent("echo linked > src/a; git commit -qam x");
    let _ = linked.apply().success();
    linked.user("test \"$(cat src/a)\" = linked");
    sparse.user("test \"$(cat src/a)\" = x");

    // A submodule is not written into; its own worktree is one like any other.
    let outer = table.pair(
        "git init -q ../other; cd ../other; git config user.name x; git config user.email x; echo i > inner
         git add -A; git commit -qm inner; cd - > /dev/null
         git -c protocol.file.allow=always submodule add -q ../other sub
         git -c protocol.file.allow=always submodule add -q ../other gone
         git commit -qm subs; git submodule -q deinit -f gone; echo a > a",
    );
    outer.agent("mkdir -p sub gone; echo evil > sub/inner; echo evil > gone/x; echo b > a");
    let applied = outer.apply().success();
    assert_eq!(result(&applied)["dropped"], serde_json::json!(["gone/x", "sub/inner"]), "{applied:?}");
    outer.user("test \"$(cat sub/inner a)\" = \"$(printf 'i\\nb')\" -a ! -e gone/x");
    let inner = table.upload(crate::support::Repo::at(&outer.repo.root().join("sub")));
    inner.user("test -f .git");
    inner.agent("echo changed > inner");
    let _ = inner.apply().success();
    inner.user("test \"$(cat inner)\" = changed");
}

#[test]
fn the_index_the_branch_and_the_ignored_files_stay_as_they_are() {
    let table = Table::new();
    let pair =
        table.pair("printf 'target/\\n*.log\\n' > .gitignore; echo tracked > keep.log; echo a > a.txt");
    pair.user("echo s > staged; git add staged; echo '*.private' > .git/info/exclude; sha256sum .git/index .git/HEAD > ../sums");
    pair.agent(
        "mkdir target sub; echo x > target/x; echo y > y.log; echo z > sub/.gitignore
         echo more >> keep.log; echo x > x.private; echo b > a.txt",
    );
    let applied = pair.apply().success();
    // What the box ignores does not travel; what is ignored here stays there, and is named.
    assert_eq!(result(&applied)["dropped"], serde_json::json!(["x.private"]), "{applied:?}");
    pair.user("sha256sum -c --quiet ../sums; test \"$(cat keep.log)\" = tracked -a ! -e target -a ! -e y.log -a ! -e sub/z -a ! -e x.private");
    // What the ignore rules here match stays there until changed rules are home.
    pair.agent("echo '*.log' > .gitignore");
    let applied = pair.apply().success();
    assert_eq!(result(&applied)["dropped"], serde_json::json!(["target/x", "x.private"]), "{applied:?}");
    let _ = pair.apply().success();
    pair.user("test \"$(cat target/x)\" = x -a ! -e x.private; rm -r target; git checkout -q .gitignore");
    pair.user("test \"$(git status --porcelain)\" = \"$(printf ' M a.txt\\nA  staged\\n?? sub/')\"");
}
