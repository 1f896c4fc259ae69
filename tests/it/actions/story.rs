//! A day with a box: start, work, look away, come back, move, restart, apply, delete.

use super::world::World;

#[test]
fn an_agent_starts_in_a_box_of_its_own_and_its_work_comes_home() {
    let world = World::new();
    let (id, pane) = world.start();
    world.sees(&pane, "5/5  start");
    for step in ["1/5  create", "2/5  upload", "3/5  prepare", "4/5  install"] {
        world.sees(&pane, step);
    }
    let screen = world.screen(&pane);
    let steps: Vec<_> = screen.lines().map(str::trim).filter(|line| line.get(1..4) == Some("/5 ")).collect();
    let timed = |line: &&str| line.ends_with(" s") || line.ends_with(" ms");
    assert!(steps.len() == 5 && steps.iter().all(timed), "{screen}");
    let name = world.box_name();
    assert!(name.starts_with("hd-shop-") && name.len() <= 22, "{name}");
    assert_eq!(world.boxes().len(), 1);

    // A repository with one commit and a clean tree; what git tracks and the filters keep home is not there.
    assert_eq!(
        world.in_box(&id, "cd /workspace && git status --porcelain && git log --oneline | wc -l").trim(),
        "1"
    );
    assert_eq!(world.in_box(&id, "ls -a /workspace | grep -c '^.env$' || true").trim(), "0");

    world.types(&pane, "echo agent >> README.md; git commit -qam work; echo all''done");
    world.sees(&pane, "alldone");
    let applied = world.invoke("apply").ok();
    assert_eq!(applied["result"], "applied", "{applied}");
    assert_eq!(world.repo.read("README.md"), "hello\nagent\n");
    assert_eq!(world.invoke("apply").ok()["result"], "no-changes");
    assert_eq!(world.invoke("undo").ok()["result"], "undone");
    assert_eq!(world.repo.read("README.md"), "hello\n");
}

#[test]
fn the_box_of_the_worktree_is_meant_when_the_pane_has_none_and_several_are_listed() {
    let world = World::new();
    let first = world.panes()[0]["pane_id"].as_str().unwrap().to_owned();
    world.invoke("info").fails("this pane has no box");
    let (id, _) = world.start();
    let info = crate::support::outcome(super::world::typed(&world, &first, &["herdr", "info"])).success();
    assert!(info.stdout.contains(&id), "{info:?}");
    // Delete is never meant over the worktree.
    let refused = crate::support::outcome(super::world::typed(&world, &first, &["herdr", "delete"]));
    let _ = refused.fails(1, "this pane has no box");
    // A start in a pane that shows a box makes another, and says so.
    let second = world.invoke("start");
    assert!(second.stdout.contains("this pane shows box"), "{second:?}");
    let _ = second.ok();
    let several = crate::support::outcome(super::world::typed(&world, &first, &["herdr", "info"]));
    let several = several.fails(1, "2 boxes belong to its worktree");
    for record in world.records() {
        assert!(several.stderr.contains(record["box"].as_str().unwrap()), "{several:?}");
    }
}
