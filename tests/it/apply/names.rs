//! Names, links, and files that become folders.

use super::{ROW, Row, Table, Then, result};

#[test]
fn odd_names() {
    Table::run(&[
        Row {
            name: "newlines, leading dashes, blanks, quotes, not UTF-8",
            start: r#"for name in -rf --help 'sp ace' $'nl\nx' $'\xff\xfe' ..x; do echo 1 > "./$name"; done"#,
            agent: r#"for name in -rf --help 'sp ace' $'nl\nx' $'\xff\xfe' ..x -n ' lead' 'trail ' $'a\tb' ü \
                          $'q"uote\\\'s $(x) `y`]z[*?' $'\xc3' $'esc\e[2J'; do echo 2 > "./$name"; done
                      mkdir $'d\n-\xfe'; echo 3 > $'d\n-\xfe/f'; mkdir "$(printf 'd%.0s' {1..250})"
                      echo 4 > "$(printf 'd%.0s' {1..250})/$(printf 'f%.0s' {1..250})"
                      git add -A; git commit -qm odd"#,
            ..ROW
        },
        Row {
            name: "odd names that go",
            start: r#"for name in -rf --help $'nl\nx' $'\xff\xfe'; do echo 1 > "./$name"; done; echo 1 > a"#,
            agent: r#"rm ./-rf ./--help nl* ./$'\xff\xfe'"#,
            ..ROW
        },
        Row {
            name: "names of which only the letter case changes",
            agent: "mv a.txt A.TXT; git mv d/b.txt d/B.txt; echo more >> d/B.txt; echo x > RUN.sh",
            ..ROW
        },
        Row {
            name: "both sides' edits under odd names",
            start: r#"for name in -rf $'nl\nx' $'\xff\xfe'; do seq 9 > "./$name"; done"#,
            agent: r#"for name in -rf $'nl\nx' $'\xff\xfe'; do echo theirs >> "./$name"; done"#,
            user: r#"for name in -rf $'nl\nx' $'\xff\xfe'; do sed -i '1s/.*/mine/' "./$name"; done"#,
            then: Then::Applied(
                r#"for name in -rf $'nl\nx' $'\xff\xfe'; do
                       (echo mine; seq 2 9; echo theirs) | cmp - "./$name"
                   done"#,
            ),
        },
    ]);
}

#[test]
fn links_in_and_out() {
    Table::run(&[
        Row {
            name: "links that stay inside",
            start: "mkdir d; echo b > d/b.txt; ln -s d/b.txt old; ln -s nowhere gone; echo f > f",
            agent: "ln -s d/b.txt in; ln -s ../d/b.txt d/up; ln -s in chain; ln -s nowhere dangling
                    ln -s d folder; ln -sfn f old; rm gone; git add -A; git commit -qm links",
            ..ROW
        },
        Row {
            name: "links that lead out stay in the box",
            agent: "ln -s /etc/passwd abs; ln -s ../../x up; ln -s .git/hooks hooks; ln -s d/../.. trick
                    ln -s abs chained; mkdir s; ln -s ../../out s/up; ln -s d/b.txt fine",
            then: Then::Applied(
                "test \"$(find . -path ./.git -prune -o -type l -print | sort)\" = \"$(printf './chained\\n./fine')\"; test ! -e s",
            ),
            ..ROW
        },
        Row {
            name: "links on both sides",
            start: "echo a > a; ln -s a l",
            agent: "ln -sfn b l; echo innocent > innocent",
            user: "ln -sfn c l",
            then: Then::Clash(&[("l", "both sides changed it")]),
        },
    ]);
}

#[test]
fn files_folders_and_links_become_each_other() {
    const START: &str = "echo file > f; mkdir -p dir/sub; echo x > dir/x; echo y > dir/sub/y; echo t > t
                         ln -s t l; ln -s dir ld";
    const AGENT: &str =
        "rm f; mkdir f; echo in > f/in; rm -r dir; echo now > dir; rm l; mkdir l; echo q > l/q
                         rm ld; echo n > ld; rm t; ln -s dir t";
    Table::run(&[
        Row { name: "types change", start: START, agent: AGENT, ..ROW },
        Row {
            name: "and back",
            start: "mkdir f l; echo in > f/in; echo now > dir; echo q > l/q; echo n > ld; ln -s dir t",
            agent: "rm -r f; echo file > f; rm dir; mkdir -p dir/sub; echo x > dir/x; echo y > dir/sub/y
                    rm -r l; ln -s t l; rm ld; ln -s dir ld; rm t; echo t > t",
            ..ROW
        },
        Row {
            name: "a folder becomes a link to another, which is not followed",
            start: "mkdir dir other; echo x > dir/x; echo x > other/x",
            agent: "rm -r dir; ln -s other dir; echo changed > other/x",
            ..ROW
        },
    ]);
}

#[test]
fn what_runs_code_and_what_stays_in_the_box_is_named() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    pair.agent(
        "ln -s /etc/passwd abs; echo A=1 > .env; mkdir .GIT; echo evil > .GIT/config
         git init -q nest; echo x > nest/x; git init -q d; echo c > d/c; echo x > a.txt
         mkdir -p .github/workflows src; echo x > .github/workflows/ci.yml; mkdir .vscode; echo x > .vscode/tasks.json; echo x > src/main.rs",
    );
    let applied = pair.apply().success();
    let words = result(&applied);
    assert_eq!(words["dropped"], serde_json::json!([".env", "abs", ".GIT/config"]), "{applied:?}");
    assert_eq!(
        words["runsCode"],
        serde_json::json!([".github/workflows/ci.yml", ".vscode/tasks.json"]),
        "{applied:?}"
    );
    for line in [
        "look at, runs code here: .github/workflows/ci.yml, .vscode/tasks.json",
        "stays in the box: .env (",
        "abs (a link that leads out of the worktree: /etc/passwd), .GIT/config (a path inside .git)",
        "a repository of its own stays in the box: nest",
    ] {
        assert!(applied.stdout.contains(line), "[{line}] is not in {applied:?}");
    }
    // Files of the base in a folder that became a repository are still the workspace's; git lists them.
    pair.user("test \"$(cat d/c)\" = c -a ! -e d/.git -a ! -e nest -a ! -e .GIT -a ! -e abs -a ! -e .env");
    let again = pair.apply().success();
    assert_eq!(result(&again)["result"], "no-changes", "{again:?}");
    assert!(again.stdout.contains("a repository of its own stays in the box: nest"), "{again:?}");
    // Whose files come home are not said to stay.
    assert_eq!(result(&again)["elsewhere"], serde_json::json!(["nest: 1 file"]), "{again:?}");
}
