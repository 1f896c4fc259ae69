//! What changes between two steps: before an undo, and between judgement and write.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn an_undo_keeps_the_users_own_changes_to_other_files_and_of_a_merge() {
    let mut world = World::with(&[("a", "1\n2\n3\n4\n5\n"), ("b", "b\n")]);
    world.here("a", "eins\n2\n3\n4\n5\n").there("a", "1\n2\n3\n4\nfuenf\n");
    world.apply(Outcome::Applied);
    world.here("b", "later\n");
    world.ledger.undo(&world.here, false).unwrap();
    assert_eq!((world.read("a"), world.read("b")), ("eins\n2\n3\n4\n5\n".into(), "later\n".into()));
}

#[test]
fn an_undo_in_another_worktree_is_refused() {
    let mut world = World::with(&[("a", "a\n")]);
    world.there("a", "b\n");
    world.apply(Outcome::Applied);
    let other = World::with(&[("a", "b\n")]);
    let error = world.ledger.undo(&other.here, false).unwrap_err();
    assert!(error.to_string().contains("another worktree"), "{error}");
    assert_eq!((world.read("a"), other.read("a")), ("b\n".into(), "b\n".into()));
}

#[test]
fn an_edit_between_judgement_and_write_is_never_overwritten() {
    let mut world = World::with(&[("a", "a\n"), ("b", "b\n")]);
    world.there("a", "agent\n").there("b", "agent\n").there("new", "agent\n");
    for (name, text) in [("b", "mine\n"), ("new", "mine\n")] {
        let proposal = world.propose();
        world.here(name, text);
        let before = scan(&world.here);
        let error = proposal.apply(&mut world.shell, &world.ledger).unwrap_err();
        assert!(error.to_string().contains("was changed here meanwhile"), "{error}");
        assert_eq!(scan(&world.here), before);
        world.nothing_staged();
        if name == "b" {
            world.here("b", "b\n");
        }
    }
    // A link that appears in the way is not followed.
    let mut world = World::with(&[("a", "a\n")]);
    let outside = world.state.with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    world.there("d/new", "agent\n");
    let proposal = world.propose();
    symlink(&outside, world.here.join("d")).unwrap();
    proposal.apply(&mut world.shell, &world.ledger).unwrap_err();
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    world.nothing_staged();
}

#[test]
fn a_second_apply_of_an_old_proposal_is_refused() {
    let mut world = World::with(&[("a", "a\n"), ("b", "b\n")]);
    world.there("a", "1\n");
    let old = world.propose();
    world.there("b", "2\n");
    world.apply(Outcome::Applied);
    let error = old.apply(&mut world.shell, &world.ledger).unwrap_err();
    assert!(error.to_string().contains("another apply came in between"), "{error}");
    world.apply(Outcome::NoChanges);
}
