//! A disk that is full or read-only: nothing changes, or what is in place is finished later.

use super::kills::{CHILD, Scene};
use super::*;

/// Runs `script` in a mount namespace of its own, in the scene's folder; `"$@"` is the task as a process.
/// Nothing where this machine has no such namespaces for us.
fn mounted(scene: &Scene, script: &str) -> Option<String> {
    let root = rustix::process::geteuid().is_root();
    let namespaces = if root { &["-m"][..] } else { &["-m", "-U", "-r"] };
    let run = Run::new("unshare").args(namespaces).args(["sh", "-c", script, "sh"]);
    let run = run.arg(std::env::current_exe().unwrap()).args(["--exact", "merge::tests::kills::child"]);
    let run = run.cwd(scene.path("")).env(CHILD, scene.path("")).env("TMPDIR", scene.path("tmp"));
    let ended = run.limit(Duration::from_secs(60)).run().unwrap();
    let said = format!("{}{}", ended.stdout_text(), ended.stderr_text());
    if said.contains("unshare failed") || said.contains("permission denied") {
        return None;
    }
    assert!(ended.success() && !said.contains("no-refusal"), "{said}");
    Some(said)
}

#[test]
fn a_full_worktree_stays_as_it_was() {
    let scene = Scene::new(true);
    std::fs::write(scene.path("after/large"), vec![7; 300_000]).unwrap();
    std::fs::write(scene.path("task"), "apply").unwrap();
    let said = mounted(
        &scene,
        "set -e; cp -a here keep; cp state/base base; mount -t tmpfs -o size=100k none here; cp -a keep/. here/
         if dd if=/dev/zero of=here/probe bs=1k count=200 2>/dev/null; then echo no-refusal; fi; rm -f here/probe
         if \"$@\"; then echo went-through; fi
         diff -r --no-dereference keep here && echo same; find here -name '.createos*' -exec echo left-behind \\;; cmp base state/base && echo base",
    );
    let Some(said) = said else { return };
    assert!(said.contains("No space left") && !said.contains("went-through"), "{said}");
    assert!(said.contains("same\n") && said.contains("base\n") && !said.contains("left-behind"), "{said}");
}

#[test]
fn a_full_state_folder_leaves_the_work_in_place_and_the_rest_to_the_next_run() {
    let scene = Scene::new(true);
    std::fs::write(scene.path("here/edited"), vec![7; 300_000]).unwrap();
    scene.ledger().begin(&scene.here()).unwrap();
    std::fs::write(scene.path("task"), "apply").unwrap();
    let said = mounted(
        &scene,
        "set -e; cp -a state keep; mount -t tmpfs -o size=10m none state
         dd if=/dev/zero of=state/filler bs=1k count=10040 2>/dev/null; cp -a keep/. state/
         if dd if=/dev/zero of=state/probe bs=1k count=300 2>/dev/null; then echo no-refusal; fi; rm -f state/probe
         if \"$@\"; then echo went-through; fi
         diff -r --no-dereference -x '.createos*' -x .git -x removed after here && echo there
         rm state/filler; printf recover > task; \"$@\" > /dev/null
         diff -r --no-dereference -x .git after here && echo finished; cp -a state kept",
    );
    let Some(said) = said else { return };
    assert!(said.contains("No space left") && !said.contains("went-through"), "{said}");
    assert!(said.contains("the work is in place"), "{said}");
    assert!(said.contains("there\n") && said.contains("finished\n"), "{said}");
    assert_eq!(Ledger::new(scene.path("kept")).base().unwrap(), scene.here());
}

#[test]
fn a_read_only_folder_leaves_all_of_the_worktree_as_it_was() {
    for folder in ["here", "here/was-folder", "here/removed", "state"] {
        let scene = Scene::new(true);
        std::fs::write(scene.path("task"), "apply").unwrap();
        let said = mounted(
            &scene,
            &format!(
                "set -e; cp -a here keep; cp state/base base; mount --bind {folder} {folder}
                 mount -o remount,ro,bind {folder}; if touch {folder}/probe 2>/dev/null; then echo no-refusal; fi
                 if \"$@\"; then echo went-through; fi
                 diff -r --no-dereference keep here && echo same; find here -name '.createos*' -exec echo left-behind \\;; cmp base state/base && echo base
                 umount {folder}; printf recover > task; \"$@\" > /dev/null; printf apply > task; \"$@\" > /dev/null
                 diff -r --no-dereference -x .git after here && echo then"
            ),
        );
        let Some(said) = said else { return };
        // What is mounted there is also another disk to the rest of the worktree.
        let refusals = ["Read-only file system", "cross-device link"];
        assert!(refusals.iter().any(|words| said.contains(words)), "{folder}: {said}");
        assert!(!said.contains("went-through") && !said.contains("left-behind"), "{folder}: {said}");
        for word in ["same\n", "base\n", "then\n"] {
            assert!(said.contains(word), "{folder}: {word} is not in {said}");
        }
    }
}
