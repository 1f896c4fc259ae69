//! A disk that takes two names for one where they differ in letter case only, as those of macOS do.
//!
//! Such a disk is known by `.git` being found as `.GIT` too; a second name of that file stands for one here.

use super::*;

fn folding(files: &[(&str, &str)]) -> World {
    let world = World::with(files);
    let git = world.state.with_file_name("git");
    world.git_here(&["init", "-q", "--separate-git-dir", git.to_str().unwrap()]);
    std::fs::hard_link(world.here.join(".git"), world.here.join(".GIT")).unwrap();
    world
}

#[test]
fn two_new_names_for_one_file_clash() {
    let mut world = folding(ONE);
    world.there("Makefile", "1").there("makefile", "2").there("a.txt", "changed");
    let before = scan(&world.here);
    let applied = world.apply(Outcome::Conflict);
    assert_eq!(
        reason(&applied.judged, "makefile"),
        "differs only in letter case from Makefile, and this disk takes them for one"
    );
    assert_eq!(scan(&world.here), before);
}

#[test]
fn another_spelling_of_what_is_here_clashes() {
    let mut world = folding(ONE);
    world.here("d/notes", "mine").there("A.txt", "another").there("d/Notes", "theirs");
    let before = scan(&world.here);
    let applied = world.apply(Outcome::Conflict);
    for (name, twin) in [("A.txt", "a.txt"), ("d/Notes", "d/notes")] {
        let wanted = format!("differs only in letter case from {twin}, and this disk takes them for one");
        assert_eq!(reason(&applied.judged, name), wanted);
    }
    assert_eq!(scan(&world.here), before);
}

#[test]
fn a_rename_of_case_alone_comes_home_and_goes_back() {
    let mut world = folding(ONE);
    let before = scan(&world.here);
    world.agent("mv a.txt A.txt; mv d/b.txt d/B.TXT; echo more >> d/B.TXT");
    world.apply(Outcome::Applied);
    assert_eq!(scan(&world.here), scan(&world.there));
    world.ledger.undo(&world.here, false).unwrap();
    assert_eq!(scan(&world.here), before);
}

#[test]
fn links_are_judged_by_the_names_that_the_disk_takes_for_one() {
    let world = World::unprepared();
    world.here("x", "x");
    std::os::unix::fs::symlink(".", world.here.join("up")).unwrap();
    let mut world = world.upload();
    let git = world.state.with_file_name("git");
    world.git_here(&["init", "-q", "--separate-git-dir", git.to_str().unwrap()]);
    // Where letter case counts, UP is nothing, and the link stays inside.
    world.agent("ln -s UP/../x log");
    assert!(fate(&world.propose().judged, "log").touches());
    std::fs::hard_link(world.here.join(".git"), world.here.join(".GIT")).unwrap();
    let judged = world.propose().judged;
    assert_eq!(reason(&judged, "log"), "a link that leads out of the worktree: UP/../x");
}
