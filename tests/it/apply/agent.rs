//! What an agent does with its repository and its settings: only the files count.

use super::{ROW, Row, Table, Then};

/// An edit, a new file and a deletion come home whatever is done to the repository after them.
macro_rules! rows {
    ($($name:literal: $git:literal,)+) => {
        Table::run(&[$(Row {
            name: $name,
            agent: concat!("echo agent > a.txt; mkdir new; echo n > new/n; rm -r d\n", $git),
            then: Then::Applied("test \"$(cat a.txt new/n run.sh)\" = \"$(printf 'agent\\nn\\n#!/bin/sh')\" -a ! -e d"),
            ..ROW
        }),+])
    };
}

#[test]
fn nothing_commits_and_amends() {
    rows! {
        "nothing": "",
        "commits": "git add -A; git commit -qm work",
        "amends": "git commit -qam work; git add -A; git commit -q --amend -m other",
        "amends the baseline": "git add -A; git commit -q --amend --no-edit",
    }
}

#[test]
fn rebases_branches_and_resets() {
    rows! {
        "rebases": "git add -A; git commit -qm 1; echo z > z; git add z; git commit -qm 2; git rm -q z; \
                    git commit -qm 3; git rebase -q --root --exec true",
        "merges a branch": "git checkout -qb topic; git add -A; git commit -qm t; git checkout -q main; git merge -q topic",
        "resets": "git add -A; git commit -qm 1; git commit -q --allow-empty -m 2; git reset -q --soft HEAD~2",
        "checks out nothing": "git add -A; git commit -qm 1; git checkout -q --detach; git branch -qD main",
    }
}

#[test]
fn deletes_and_breaks_its_repository() {
    rows! {
        "deletes .git": "rm -rf .git",
        "makes another .git": "rm -rf .git; git init -q; git add -A; git -c user.name=x -c user.email=x commit -qm x",
        "a file as .git": "rm -rf .git; echo nonsense > .git",
        "a bare one elsewhere": "git config core.worktree /tmp; git config core.bare true",
    }
}

#[test]
fn hides_files_from_its_git() {
    rows! {
        "excludes": "echo '*' > .git/info/exclude; git config --global core.excludesFile ~/x; echo '*' > ~/x",
        "index flags": "git update-index --assume-unchanged a.txt; git update-index --skip-worktree run.sh",
        "modes and line ends": "git config core.fileMode false; git config core.autocrlf true; \
                                git config filter.x.clean 'echo filtered'; echo '* filter=x' > .git/info/attributes",
        "a hook and a monitor": "git config core.fsmonitor 'touch /tmp/ran; false'; git config core.hooksPath /bin",
    }
}

#[test]
fn settings_of_diff() {
    rows! {
        "diff.noprefix": "git config diff.noprefix true; git config --global diff.noprefix true",
        "diff.mnemonicPrefix": "git config diff.mnemonicPrefix true; git commit -qam x",
        "diff.external": "git config --global diff.external /bin/false; git config diff.external /bin/false",
        "colour": "git config --global color.ui always; git config --global color.diff always",
    }
}
