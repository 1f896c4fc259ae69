//! A process that is killed between any two steps leaves all or nothing, after the next run at the latest.

use super::*;
use crate::merge::kill::NO_EXCHANGE;
use crate::merge::patch::PatchFile;
use crate::merge::patch::Stat;
use crate::merge::spool::Spool;
use crate::merge::transaction::{After, Change};
use std::os::unix::fs::symlink;

/// Says what the child process does, and where.
pub(super) const CHILD: &str = "CREATEOS_SANDBOX_TEST_CHILD";

/// What happens in the process that is killed. As an ordinary test it does nothing.
#[test]
fn child() {
    let Some(work) = std::env::var_os(CHILD) else { return };
    let folder = PathBuf::from(work);
    let ledger = Ledger::new(folder.join("state"));
    match std::fs::read_to_string(folder.join("task")).unwrap().as_str() {
        "apply" => drop(proposal(&folder).write(&ledger).unwrap()),
        "undo" => drop(ledger.undo(&folder.join("here"), false).unwrap()),
        _ => drop(ledger.recover().unwrap()),
    }
}

/// A change of every sort: made, replaced, removed, mode, link, a folder for a file and back.
fn make(root: &Path, after: bool) {
    let files: &[(&str, &str)] = if after {
        &[
            ("edited", "2\n"),
            ("new/deep/file", "n\n"),
            ("was-folder", "file\n"),
            ("was-file/x", "x\n"),
            ("mode", "m\n"),
        ]
    } else {
        &[
            ("edited", "1\n"),
            ("removed/file", "r\n"),
            ("was-folder/a/b", "b\n"),
            ("was-file", "f\n"),
            ("mode", "m\n"),
        ]
    };
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    if after {
        std::fs::set_permissions(root.join("mode"), std::fs::Permissions::from_mode(0o755)).unwrap();
        symlink("edited", root.join("link")).unwrap();
    } else {
        symlink("mode", root.join("link")).unwrap();
    }
}

/// The proposal that makes `here` what `after` is, without a box.
fn proposal(folder: &Path) -> Proposal {
    let spool = Spool::new().unwrap();
    let (before, after) = (
        Base::read(&mut &std::fs::read(folder.join("state/base")).unwrap()[..]).unwrap(),
        scan(&folder.join("after")),
    );
    let mut changes = Vec::new();
    let paths: std::collections::BTreeSet<_> =
        before.iter().chain(after.iter()).map(|(path, _)| path).collect();
    for path in paths {
        let (old, new) = (before.get(path).copied(), after.get(path).copied());
        let after = new.map(|entry| {
            let full = folder.join("after").join(path.as_path());
            let bytes = match entry.kind {
                FileKind::Link => std::fs::read_link(full).unwrap().as_os_str().as_bytes().to_vec(),
                _ => std::fs::read(full).unwrap(),
            };
            After { entry, contents: spool.keep(&bytes).unwrap(), mode: None }
        });
        if old != new {
            changes.push(Change { path: path.clone(), before: old, after });
        }
    }
    let patch = spool.keep(b"patch").unwrap();
    Proposal {
        judged: Vec::new(),
        nested: Vec::new(),
        unreadable: Vec::new(),
        patch: PatchFile { path: patch, bytes: 5, files: changes.len(), lines: Stat::default() },
        changes,
        in_step: before.clone(),
        base: before,
        next_base: after,
        worktree: folder.join("here"),
        root: RemoteRoot::default(),
        token: "0".repeat(16),
        _spool: spool,
    }
}

pub(super) struct Scene {
    dir: tempfile::TempDir,
    exchange: bool,
}

impl Scene {
    pub(super) fn new(exchange: bool) -> Self {
        let scene = Self { dir: tempfile::tempdir().unwrap(), exchange };
        std::fs::create_dir_all(scene.path("here/.git")).unwrap();
        std::fs::create_dir(scene.path("tmp")).unwrap();
        make(&scene.path("here"), false);
        make(&scene.path("after"), true);
        scene.ledger().begin(&scene.here()).unwrap();
        scene
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn here(&self) -> Base {
        scan(&self.path("here"))
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::new(self.path("state"))
    }

    /// Runs a task in a process of its own that is killed at point `at`; whether it was killed.
    fn killed(&self, task: &str, at: usize) -> bool {
        std::fs::write(self.path("task"), task).unwrap();
        let mut run = Run::new(std::env::current_exe().unwrap())
            .args(["--exact", "merge::tests::kills::child", "--nocapture"])
            .env(CHILD, self.path(""))
            // A killed process removes nothing: what it leaves goes with the scene.
            .env("TMPDIR", self.path("tmp"))
            .env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
        if !self.exchange {
            run = run.env(NO_EXCHANGE, "1");
        }
        let ended = run.run().unwrap();
        assert!(ended.success() || ended.code() == 137, "{}{}", ended.stdout_text(), ended.stderr_text());
        ended.code() == 137
    }

    /// After a kill and a recovery: one state or the other, and the base with it.
    #[track_caller]
    fn one_or_the_other(&self, first: &Base, second: &Base, at: usize) {
        let (here, base) = (self.here(), self.ledger().base().unwrap());
        assert!(here == *first || here == *second, "killed at {at}: {:?}", here.iter().collect::<Vec<_>>());
        assert_eq!(base, here, "killed at {at}: the base goes with the files");
        let folders = ["new", "removed", "was-folder/a", "was-file"];
        for folder in folders {
            let path = self.path("here").join(folder);
            assert!(
                !path.is_dir() || std::fs::read_dir(&path).unwrap().count() > 0,
                "{folder} is left empty"
            );
        }
    }
}

#[test]
fn an_apply_killed_anywhere_is_finished_or_taken_back() {
    for exchange in [true, false] {
        let mut at = 1;
        loop {
            let scene = Scene::new(exchange);
            let (before, after) = (scene.here(), scan(&scene.path("after")));
            if !scene.killed("apply", at) {
                assert_eq!(scene.here(), after);
                break;
            }
            scene.ledger().recover().unwrap();
            scene.one_or_the_other(&before, &after, at);
            if scene.here() == before {
                assert!(!scene.killed("apply", 0));
                assert_eq!(scene.here(), after);
            }
            // And it can be taken back as if nothing had happened.
            scene.ledger().undo(&scene.path("here"), false).unwrap();
            assert_eq!(scene.here(), before);
            at += 1;
        }
        assert!(at > 30, "there are only {at} points");
    }
}

#[test]
fn an_undo_killed_anywhere_is_finished_or_taken_back() {
    let mut at = 1;
    loop {
        let scene = Scene::new(true);
        let before = scene.here();
        assert!(!scene.killed("apply", 0));
        let after = scene.here();
        if !scene.killed("undo", at) {
            assert_eq!(scene.here(), before);
            break;
        }
        scene.ledger().recover().unwrap();
        scene.one_or_the_other(&before, &after, at);
        at += 1;
    }
    assert!(at > 25, "there are only {at} points");
}

#[test]
fn a_recovery_killed_anywhere_is_taken_up_again() {
    for (exchange, first) in [(true, 14), (true, 20), (false, 22), (true, 30)] {
        let mut at = 1;
        loop {
            let scene = Scene::new(exchange);
            let (before, after) = (scene.here(), scan(&scene.path("after")));
            assert!(scene.killed("apply", first));
            let again = scene.killed("recover", at);
            scene.ledger().recover().unwrap();
            scene.one_or_the_other(&before, &after, at);
            if !again {
                break;
            }
            at += 1;
        }
        assert!(at > 3, "the recovery after {first} has only {at} points");
    }
}

#[test]
fn what_a_user_edits_between_the_kill_and_the_recovery_stays() {
    let mut edited = 0;
    for at in 1.. {
        let scene = Scene::new(true);
        let after = scan(&scene.path("after"));
        let path = RelPath::new(b"edited").unwrap();
        if !scene.killed("apply", at) {
            break;
        }
        let swapped = scene.here().get(&path) == after.get(&path);
        std::fs::write(scene.path("here/edited"), "mine\n").unwrap();
        let notes = scene.ledger().recover().unwrap();
        assert_eq!(std::fs::read_to_string(scene.path("here/edited")).unwrap(), "mine\n", "killed at {at}");
        if swapped && notes.iter().any(|note| note.contains("edited was changed meanwhile")) {
            edited += 1;
        }
    }
    assert!(edited > 0, "no kill hit the time between two renames");
}
