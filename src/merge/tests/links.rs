//! Links: nothing is written through one, none is led out, and what runs code is found under all its names.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn an_absolute_link_within_the_workspace_comes_home_as_a_relative_one() {
    let mut world = World::with(ONE);
    let root = world.root.to_string();
    world.agent(&format!(
        "mkdir -p n/m; ln -s {root}/a.txt n/m/file; ln -s {root} n/top; ln -s {root}/d dir; ln -s {root}x/a out; ln -s {root}/../w2 up"
    ));
    let applied = world.apply(Outcome::Applied);
    let target = |world: &World, name: &str| std::fs::read_link(world.here.join(name)).unwrap();
    assert_eq!(target(&world, "n/m/file"), Path::new("../../a.txt"));
    assert_eq!(target(&world, "n/top"), Path::new("../"));
    assert_eq!(target(&world, "dir"), Path::new("d"));
    assert_eq!(world.read("n/m/file"), world.read("a.txt"));
    assert!(reason(&applied.judged, "out").contains("leads out of the worktree"));
    assert!(reason(&applied.judged, "up").contains("leads out of the worktree"));
    // The box's is as it was, and both are in step.
    world.agent("rm out up");
    world.apply(Outcome::NoChanges);
    assert_eq!(changed_there(&mut world.shell, &world.root).unwrap(), Some(0));
    world.agent("ln -sfn run.sh n/m/file");
    world.apply(Outcome::Applied);
    assert_eq!(target(&world, "n/m/file"), Path::new("run.sh"));
    world.agent("rm dir");
    world.apply(Outcome::Applied);
    assert!(!world.has("dir"));
}

#[test]
fn a_link_into_which_an_earlier_apply_could_lead_is_never_written_through() {
    let mut world = World::with(&[("a", "a\n")]);
    let outside = world.state.with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    // The user's own link leads out; the agent makes it a folder with a file in it.
    symlink(&outside, world.here.join("data")).unwrap();
    world.there("data/x", "x\n");
    let applied = world.apply(Outcome::Conflict);
    assert_eq!(reason(&applied.judged, "data/x"), "data is a link here");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// Everything in the worktree that runs code as the last apply judged it.
fn hot(applied: &Applied) -> Vec<&str> {
    applied.judged.iter().filter(|j| j.runs_code.is_some()).map(|j| j.name.as_str()).collect()
}

#[test]
fn a_link_that_is_home_is_not_led_out_by_a_later_apply() {
    let mut world = World::with(&[("a", "a\n")]);
    world.agent("mkdir -p p/q/r z; echo 1 >p/q/r/f; echo 1 >z/f; ln -s p/q/r/../../../.bashrc log");
    world.apply(Outcome::Applied);
    assert!(world.has("log"));
    world.agent("rm -r p/q/r; ln -s ../../z p/q/r");
    let applied = world.apply(Outcome::Applied);
    let why = "it would make the link log lead out of the worktree";
    assert_eq!(reason(&applied.judged, "p/q/r"), why);
    assert!(world.has("log") && !world.has("p/q/r"));
    // It stays so: the next apply judges it again.
    world.there("a", "b\n");
    assert_eq!(reason(&world.apply(Outcome::Applied).judged, "p/q/r"), why);
    assert!(!world.has("p/q/r"));
    // Without the other link it is an ordinary one.
    world.agent("rm log");
    world.apply(Outcome::Applied);
    assert!(!world.has("log") && world.has("p/q/r/f"));
}

#[test]
fn the_users_own_links_are_not_redirected() {
    for target in ["a/b/../../x", "ROOT/a/b/../../x"] {
        let mut world = World::with(&[("a/f", "1\n"), ("c/f", "1\n")]);
        // Here only: the box has never heard of it.
        let target = target.replace("ROOT", world.here.to_str().unwrap());
        symlink(&target, world.here.join("l")).unwrap();
        world.agent("ln -s ../c a/b");
        let applied = world.apply(Outcome::NoChanges);
        let why = "it would make the link l lead out of the worktree";
        assert_eq!(reason(&applied.judged, "a/b"), why, "{target}");
        assert!(!world.has("a/b"));
    }
}

#[test]
fn a_link_that_goes_does_not_lead_another_one_out() {
    for script in ["rm d", "rm d; echo 1 >d", "rm d; mkdir d; echo 1 >d/f", "rm d; ln -s x d"] {
        let mut world = World::with(&[("x/y/z/f", "1\n")]);
        world.agent("ln -s x/y/z d; ln -s d/../../.bashrc log");
        world.apply(Outcome::Applied);
        world.agent(script);
        let applied = world.try_apply().unwrap();
        let why = "it would make the link log lead out of the worktree";
        assert_eq!(reason(&applied.judged, "d"), why, "{script}");
        assert_eq!(std::fs::read_link(world.here.join("d")).unwrap(), Path::new("x/y/z"), "{script}");
    }
}

#[test]
fn what_runs_code_is_found_under_the_names_that_links_give() {
    let mut world = World::with(&[("a", "a\n")]);
    world.agent(
        "mkdir -p innocent/workflows; echo '{}' >innocent/tasks.json; echo x >innocent/pre-commit
         for n in .vscode .husky .github; do ln -s innocent $n; done",
    );
    let applied = world.apply(Outcome::Applied);
    let all = [".github", ".husky", ".vscode", "innocent/pre-commit", "innocent/tasks.json"];
    assert_eq!(hot(&applied), all);
    world.there("innocent/pre-commit", "y\n").there("a", "b\n");
    assert_eq!(hot(&world.apply(Outcome::Applied)), ["innocent/pre-commit"]);
    // A link that goes counts too.
    world.agent("rm .husky .vscode; echo z >innocent/pre-commit");
    assert_eq!(hot(&world.apply(Outcome::Applied)), [".husky", ".vscode"]);
    // What only `.github` leads to runs where it is a workflow, also through a link more.
    world.agent("mkdir w; echo 1 >w/ci.yml; ln -s ../../w innocent/workflows/more");
    assert_eq!(hot(&world.apply(Outcome::Applied)), ["innocent/workflows/more", "w/ci.yml"]);
}

#[test]
fn what_the_users_own_links_lead_to_runs_code_too() {
    let mut world = World::with(&[("conf/env", "1\n"), ("tools/hook", "1\n"), ("b", "b\n")]);
    symlink("conf/env", world.here.join(".envrc")).unwrap();
    symlink(world.here.join("tools"), world.here.join(".husky")).unwrap();
    world.there("conf/env", "2\n").there("tools/hook", "2\n").there("b", "c\n");
    assert_eq!(hot(&world.apply(Outcome::Applied)), ["conf/env", "tools/hook"]);
}
