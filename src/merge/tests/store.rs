//! What a box keeps for later merges, and what travels.

use super::*;
use crate::merge::judge::propose_from;
use crate::merge::source::Source;

#[test]
fn the_next_merge_starts_from_what_came_home() {
    let mut world = World::with(ONE);
    world.here("d/b.txt", "mine\n").here("a.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nneun\n");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(*fate(&applied.judged, "a.txt"), Fate::Merged);
    assert_eq!(world.read("a.txt"), "eins\n2\n3\n4\n5\n6\n7\n8\nneun\n");
    assert_eq!(world.read("d/b.txt"), "mine\n");
    world.apply(Outcome::NoChanges);
    // The next merge starts from what came home, also a second and a third time.
    for round in 1..4 {
        world.there("a.txt", &format!("1\n2\n3\n4\nround {round}\n6\n7\n8\nneun\n"));
        world.apply(Outcome::Applied);
        assert_eq!(world.read("a.txt"), format!("eins\n2\n3\n4\nround {round}\n6\n7\n8\nneun\n"));
    }
}

#[test]
fn what_cannot_be_packed_small_enough_is_refused_before_it_is_packed() {
    let mut world = World::with(ONE);
    world.agent("head -c 20000000 /dev/urandom > big; seq 9 > small");
    let limits = Limits { parcel: 10_000_000, contents: 100_000_000 };
    let propose = |world: &mut World| {
        let base = world.ledger.base().unwrap();
        let filters = Filters { git: Path::new("git"), keeps_home: &|_| None, on_clash: OnClash::Refuse };
        let source = Source { remote: &mut world.shell, root: &world.root, limits };
        propose_from(source, &world.here, &base, &filters)
    };
    let error = propose(&mut world).unwrap_err();
    assert!(error.message().contains("too large to bring home at once: 20.0 MB"), "{error}");
    assert!(error.hints()[0].contains("remove large files"), "{error:?}");
    assert_eq!(world.shell.pulled, 0);
    // What packs small comes, and a sample that misleads is found out in the end.
    world.agent("head -c 20000000 /dev/zero > big");
    assert_eq!(propose(&mut world).unwrap().patch.files, 2);
    world.agent("for n in $(seq 300); do head -c 100000 /dev/urandom > r$n; done");
    assert!(propose(&mut world).unwrap_err().message().contains("too large to bring home at once"));
}

#[test]
fn applying_the_same_work_twice_is_told_apart() {
    let mut world = World::with(ONE);
    world.there("a.txt", "agent\n");
    let base = world.ledger.base().unwrap();
    world.apply(Outcome::Applied);
    // As if the base had not moved: a kill right after the last rename.
    world.ledger.begin(&base).unwrap();
    world.apply(Outcome::AlreadyApplied);
    world.apply(Outcome::NoChanges);
}

#[test]
fn a_merge_whose_start_the_box_has_lost_is_a_conflict() {
    let mut world = World::with(ONE);
    world.here("a.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n").there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nneun\n");
    std::fs::remove_dir_all(world.shell.home.join(".createos-sandbox/layers")).unwrap();
    let applied = world.apply(Outcome::Conflict);
    assert!(reason(&applied.judged, "a.txt").contains("no longer has"), "{:?}", applied.judged);
    // A forged start does not count either.
    let layers = world.shell.home.join(".createos-sandbox/layers");
    world.agent(&format!("mkdir -p {0}; cd /var/tmp; mkdir -p $HOME/f; printf 'eins\\n' > $HOME/f/a.txt; tar -czf {0}/0000.tgz -C $HOME/f a.txt", layers.display()));
    world.apply(Outcome::Conflict);
}

#[test]
fn many_layers_become_one_and_still_hold_the_bases_contents() {
    let mut world = World::with(ONE);
    world.here("a.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nfirst\n").there("changed", "a name of the parcel's own\n");
    world.apply(Outcome::Applied);
    let store = world.shell.home.join(".createos-sandbox");
    for number in 2..41 {
        std::fs::copy(store.join("layers/0001.tgz"), store.join(format!("layers/{number:04}.tgz"))).unwrap();
    }
    world.there("d/b.txt", "the one too many\n");
    world.apply(Outcome::Applied);
    assert_eq!(std::fs::read_dir(store.join("layers")).unwrap().count(), 2);
    world.here("changed", "mine\na name of the parcel's own\n");
    world.there("changed", "a name of the parcel's own\ntheirs\n");
    world.there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nsecond\n");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("changed"), "mine\na name of the parcel's own\ntheirs\n");
    assert_eq!(world.read("a.txt"), "eins\n2\n3\n4\n5\n6\n7\n8\nsecond\n");
    let left = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.filter(|name| name.to_string_lossy().starts_with("fetch-")).count() <= 2);
}

#[test]
fn only_what_differs_travels_in_one_call() {
    let mut world = World::unprepared();
    for number in 0..2000 {
        world.here(&format!("d{}/f{number}", number % 50), &format!("{number}\n").repeat(100));
    }
    world = world.upload();
    for number in 0..10 {
        world.there(&format!("d{number}/f{number}"), "changed\n");
    }
    (world.shell.runs, world.shell.pulled) = (0, 0);
    let proposal = world.propose();
    assert_eq!(proposal.patch.files, 10);
    assert_eq!(world.shell.runs, 1);
    assert!(world.shell.pulled < 5000, "{} bytes", world.shell.pulled);
}
