//! Taking the last apply back.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn an_undo_gives_back_what_was_there_and_the_work_can_come_again() {
    let mut world = World::with(&[("a", "a\n"), ("d/deep/b", "b\n"), ("run", "r\n"), ("bin", "\0\u{1}\n")]);
    std::fs::set_permissions(world.here.join("d/deep/b"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = scan(&world.here);
    let base = world.ledger.base().unwrap();
    world.agent("echo x > a; rm -r d; echo now > d; chmod +x run; printf 'y\\0' > bin; mkdir n; echo n > n/n; ln -s a l");
    world.apply(Outcome::Applied);
    assert_ne!(scan(&world.here), before);
    let undone = world.ledger.undo(&world.here).unwrap();
    assert_eq!(undone.paths.len(), 7);
    assert_eq!(scan(&world.here), before);
    assert_eq!(std::fs::metadata(world.here.join("d/deep/b")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!world.has("n"), "the folder that came with the apply is gone again");
    assert_eq!(world.ledger.base().unwrap(), base);
    world.nothing_staged();
    world.apply(Outcome::Applied);
    assert_eq!(scan(&world.here), scan(&world.there));
}

#[test]
fn applies_are_taken_back_one_after_the_other() {
    let mut world = World::with(&[("a", "0\n")]);
    for round in 1..4 {
        world.there("a", &format!("{round}\n"));
        world.apply(Outcome::Applied);
    }
    for expected in ["2\n", "1\n", "0\n"] {
        world.ledger.undo(&world.here).unwrap();
        assert_eq!(world.read("a"), expected);
    }
    let error = world.ledger.undo(&world.here).unwrap_err();
    assert_eq!(error.to_string(), "there is no apply to take back");
    // The merge's starting point is still found in the box.
    world.here("a", "0\n");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("a"), "3\n");
}

#[test]
fn files_that_were_changed_since_are_named_and_nothing_is_undone() {
    let mut world = World::with(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    world.agent("echo x > a; echo y > b; rm c; echo z > z");
    world.apply(Outcome::Applied);
    world.here("b", "mine\n").here("c", "mine again\n");
    std::fs::remove_file(world.here.join("z")).unwrap();
    let before = scan(&world.here);
    let error = world.ledger.undo(&world.here).unwrap_err();
    assert!(error.to_string().contains("were changed since"), "{error}");
    let named: Vec<_> = error.facts().iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(named, ["b", "c", "z"]);
    assert_eq!(scan(&world.here), before);
}

#[test]
fn an_undo_keeps_the_users_own_changes_to_other_files_and_of_a_merge() {
    let mut world = World::with(&[("a", "1\n2\n3\n4\n5\n"), ("b", "b\n")]);
    world.here("a", "eins\n2\n3\n4\n5\n").there("a", "1\n2\n3\n4\nfuenf\n");
    world.apply(Outcome::Applied);
    world.here("b", "later\n");
    world.ledger.undo(&world.here).unwrap();
    assert_eq!((world.read("a"), world.read("b")), ("eins\n2\n3\n4\n5\n".into(), "later\n".into()));
}

#[test]
fn an_undo_in_another_worktree_is_refused() {
    let mut world = World::with(&[("a", "a\n")]);
    world.there("a", "b\n");
    world.apply(Outcome::Applied);
    let other = World::with(&[("a", "b\n")]);
    let error = world.ledger.undo(&other.here).unwrap_err();
    assert!(error.to_string().contains("another worktree"), "{error}");
    assert_eq!((world.read("a"), other.read("a")), ("b\n".into(), "b\n".into()));
}

#[test]
fn an_edit_between_judgement_and_write_is_never_overwritten() {
    let mut world = World::with(&[("a", "a\n"), ("b", "b\n")]);
    world.there("a", "agent\n").there("b", "agent\n").there("new", "agent\n");
    for (name, text) in [("b", "mine\n"), ("new", "mine\n")] {
        let proposal = world.fetch();
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
    let proposal = world.fetch();
    symlink(&outside, world.here.join("d")).unwrap();
    proposal.apply(&mut world.shell, &world.ledger).unwrap_err();
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    world.nothing_staged();
}

#[test]
fn a_second_apply_of_an_old_proposal_is_refused() {
    let mut world = World::with(&[("a", "a\n"), ("b", "b\n")]);
    world.there("a", "1\n");
    let old = world.fetch();
    world.there("b", "2\n");
    world.apply(Outcome::Applied);
    let error = old.apply(&mut world.shell, &world.ledger).unwrap_err();
    assert!(error.to_string().contains("another apply came in between"), "{error}");
    world.apply(Outcome::NoChanges);
}
