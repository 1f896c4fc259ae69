//! `apply`, `review` and `undo`: the real binary, real git, and a real box for every row of a table.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic anywhere")]

mod action;
mod again;
mod agent;
mod clash;
mod contents;
mod here;
mod hostile;
mod included;
mod killed;
mod large;
mod names;
mod undo;

use crate::actions::world::{World, typed};
use crate::support::{Outcome, Repo, outcome, result_line};
use serde_json::Value;
use std::cell::Cell;
use std::path::Path;

/// One case: what was there, what the agent and the user did to it, and what an apply makes of that.
/// All are scripts for bash, in the workspace or in the worktree.
#[derive(Clone, Copy)]
pub struct Row {
    name: &'static str,
    /// The worktree before the upload, which is committed after it.
    start: &'static str,
    /// In the box.
    agent: &'static str,
    /// On this machine, after the upload.
    user: &'static str,
    then: Then,
}

/// What an apply has to do.
#[derive(Clone, Copy)]
pub enum Then {
    /// Applied; worktree and workspace are the same, names, modes and bytes.
    Alike,
    /// Applied, and then this script succeeds in the worktree.
    Applied(&'static str),
    /// Refused: these paths, in their order, with these reasons. Nothing changes.
    Clash(&'static [(&'static str, &'static str)]),
    /// All of it was here already. Nothing changes.
    Already,
}

/// A row to fill in.
pub const ROW: Row = Row {
    name: "",
    start: "seq 9 > a.txt; mkdir d; echo b > d/b.txt; echo '#!/bin/sh' > run.sh",
    agent: "",
    user: "",
    then: Then::Alike,
};

/// One Herdr for many rows. Each row has a repository and a box of its own.
pub struct Table {
    world: World,
    rows: Cell<usize>,
}

/// A worktree and its box.
pub struct Pair<'a> {
    pub world: &'a World,
    pub repo: Repo,
    pub id: String,
    pub pane: String,
}

impl Table {
    pub fn new() -> Self {
        Self { world: World::new(), rows: Cell::new(0) }
    }

    /// Runs every row to its end.
    #[track_caller]
    pub fn run(rows: &[Row]) {
        let table = Self::new();
        for row in rows {
            table.pair(row.start).row(row);
        }
    }

    /// A new repository after this script, committed, and a box with it.
    #[track_caller]
    pub fn pair(&self, start: &str) -> Pair<'_> {
        self.rows.set(self.rows.get() + 1);
        let repo = Repo::init(&self.world.home.path().join(format!("row{}", self.rows.get())));
        let _ = bash(&self.world, repo.root(), start).success();
        if self.world.repo.root() != repo.root() {
            repo.git(&["add", "-A", "-f"]);
            repo.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
        }
        self.upload(repo)
    }

    /// A box for the worktree as it is.
    #[track_caller]
    pub fn upload(&self, repo: Repo) -> Pair<'_> {
        let top = repo.root().display().to_string();
        self.world.herdr(&["workspace", "create", "--cwd", &top, "--focus"]);
        let (id, pane) = self.world.start();
        Pair { world: &self.world, repo, id, pane }
    }
}

impl Pair<'_> {
    #[track_caller]
    fn row(&self, row: &Row) {
        let name = row.name;
        self.agent(row.agent);
        self.user(row.user);
        let before = self.here();
        let applied = self.apply();
        let said = format!("{name}: {applied:?}");
        let result = result(&applied);
        match row.then {
            Then::Clash(clashes) => {
                assert_eq!((applied.code, &result["result"]), (1, &"conflict".into()), "{said}");
                let named: Vec<_> = clashes.iter().map(|(path, _)| *path).collect();
                assert_eq!(result["files"], serde_json::json!(named), "{said}");
                for (path, why) in clashes {
                    let line = format!("{path}   {why}");
                    let words = applied.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
                    let wanted = line.split_whitespace().collect::<Vec<_>>().join(" ");
                    assert!(words.contains(&wanted), "[{wanted}] is not in {said}");
                }
                assert_eq!(self.here(), before, "{name}: nothing changes");
                return;
            }
            Then::Already => {
                assert_eq!((applied.code, &result["result"]), (0, &"already-applied".into()), "{said}");
                assert_eq!(self.here(), before, "{name}: nothing changes");
            }
            Then::Alike => {
                assert_eq!((applied.code, &result["result"]), (0, &"applied".into()), "{said}");
                assert_eq!(self.here(), self.there(), "{name}");
            }
            Then::Applied(check) => {
                assert_eq!((applied.code, &result["result"]), (0, &"applied".into()), "{said}");
                let checked = bash(self.world, self.repo.root(), check);
                assert_eq!(checked.code, 0, "{name}: {check}\n{checked:?}\n{}", self.here());
            }
        }
        // Whatever it was, the next apply finds nothing new.
        let after = self.here();
        let again = self.apply();
        assert_eq!(
            (again.code, &self::result(&again)["result"]),
            (0, &"no-changes".into()),
            "{name}: {again:?}"
        );
        assert_eq!(self.here(), after, "{name}: nothing changes");
    }

    /// Runs a script in the workspace.
    #[track_caller]
    pub fn agent(&self, script: &str) -> String {
        self.world.in_box(&self.id, &format!("set -e; cd /workspace; {script}"))
    }

    /// Runs a script in the worktree.
    #[track_caller]
    pub fn user(&self, script: &str) -> String {
        bash(self.world, self.repo.root(), script).success().stdout
    }

    /// `herdr apply`, typed in the box's pane.
    pub fn apply(&self) -> Outcome {
        self.herdr(&["apply"])
    }

    /// An action, typed in the box's pane.
    pub fn herdr(&self, args: &[&str]) -> Outcome {
        let args = [&["herdr"][..], args].concat();
        let mut command = typed(self.world, &self.pane, &args);
        command.current_dir(self.repo.root());
        outcome(command)
    }

    /// Every file and link of the worktree: mode, hash, name.
    #[track_caller]
    pub fn here(&self) -> String {
        self.user(LISTING)
    }

    /// The same of the workspace.
    #[track_caller]
    pub fn there(&self) -> String {
        self.agent(LISTING)
    }
}

/// Kind, executability, name and hash or target of everything but folders and git's own.
const LISTING: &str = r#"
find . -name .git -prune -o \( -type f -perm -100 -printf 'x %p\n' -o -type f -printf 'f %p\n' -o -type l -printf 'l %p -> %l\n' -o ! -type d -printf '? %p\n' \) | LC_ALL=C sort
find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum --"#;

fn bash(world: &World, folder: &Path, script: &str) -> Outcome {
    let mut command = world.home.command_of(Path::new("bash"), &["-ec", script]);
    command.current_dir(folder);
    outcome(command)
}

/// The result line.
#[track_caller]
pub fn result(outcome: &Outcome) -> Value {
    result_line(&outcome.stdout)
}
