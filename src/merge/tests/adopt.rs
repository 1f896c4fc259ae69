//! Boxes that the earlier plugin started, whose base is a commit in the box, and boxes whose record is lost.

use super::*;

/// What the earlier plugin does in a box after its upload, and after each of its applies.
fn commits(subject: &str) -> String {
    format!(
        "git add -A; git -c user.name=herdr -c user.email=herdr@createos.local commit -q --allow-empty -m {subject}"
    )
}

/// A workspace as the earlier plugin leaves it, and no record of it here.
fn earlier(files: &[(&str, &str)]) -> World {
    let world = World::unprepared();
    std::fs::create_dir(&world.there).unwrap();
    for (name, text) in files {
        world.here(name, text).there(name, text);
    }
    world.git_here(&["add", "-A"]);
    world.git_here(&["commit", "-q", "--allow-empty", "-m", "start"]);
    world.agent("git init -q -b main; git config user.name Agent; git config user.email agent@example.com");
    world.agent(&commits("herdr-baseline"));
    world
}

impl World {
    /// The base that the box tells, recorded as if it were ours.
    fn adopt(&mut self) -> Base {
        let base = adopt(&mut self.shell, &self.root).unwrap_or_else(|e| panic!("{e} {:?}", e.facts()));
        self.ledger.begin(&base).unwrap();
        base
    }
}

#[test]
fn work_in_a_box_of_the_earlier_plugin_comes_home() {
    let mut world = earlier(ONE);
    let uploaded = scan(&world.there);
    world.agent(
        "echo agent >> a.txt; git commit -qam work; rm -r d; ln -s a.txt l; chmod +x run.sh; echo n > new; git add -A; git commit -qm more",
    );
    world.here("a.txt", "mine\n2\n3\n4\n5\n6\n7\n8\n9\n").here("own", "own\n");
    assert_eq!(world.adopt(), uploaded);
    world.apply(Outcome::Applied);
    // Merged from the contents that the commit has.
    assert_eq!(world.read("a.txt"), "mine\n2\n3\n4\n5\n6\n7\n8\n9\nagent\n");
    assert!(!world.has("d") && world.has("l") && world.read("new") == "n\n" && world.read("own") == "own\n");
    world.apply(Outcome::NoChanges);
}

#[test]
fn the_newest_of_its_commits_counts_and_never_one_that_holds_work() {
    let mut world = earlier(ONE);
    world.agent("echo one > one").agent("sleep 1").agent(&commits("herdr-apply"));
    let applied = scan(&world.there);
    // An amended commit keeps author and words, and holds what the agent did: its dates tell.
    world.agent("echo two > two; git add -A; sleep 1; git commit -q --amend --no-edit");
    // Somebody else's words, and its author's other words.
    world.agent("echo three > three; git add -A; git commit -qm herdr-apply; git commit -q --allow-empty --author='h <herdr@createos.local>' -m work");
    assert_eq!(world.adopt(), applied);
    let judged = world.propose().judged;
    assert_eq!(judged.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["three", "two"]);
}

#[test]
fn attributes_and_line_ends_change_no_byte_of_the_base() {
    let mut world = earlier(&[
        ("x.txt", "a\n"),
        (".gitattributes", "*.txt text eol=crlf\n*.id ident\nno export-ignore\n"),
        ("no", "n\n"),
        ("v.id", "$Id$\n"),
    ]);
    assert_eq!(world.adopt(), scan(&world.there));
    world.apply(Outcome::NoChanges);
}

#[test]
fn without_such_a_commit_equal_files_are_in_step_and_others_clash() {
    let mut world = earlier(ONE);
    world.agent("rm -rf .git; echo agent > a.txt; echo n > new");
    assert!(world.adopt().is_empty());
    let judged = world.propose().judged;
    assert_eq!(reason(&judged, "a.txt"), "both sides made it, differently");
    assert_eq!(*fate(&judged, "run.sh"), Fate::AlreadyHere);
    world.on_clash = OnClash::Theirs;
    world.apply(Outcome::Applied);
    assert_eq!((world.read("a.txt"), world.read("new")), ("agent\n".into(), "n\n".into()));
    world.apply(Outcome::NoChanges);
}

#[test]
fn a_box_of_ours_whose_record_is_lost_knows_it_itself() {
    let mut world = World::with(ONE);
    let uploaded = scan(&world.here);
    world.there("a.txt", "agent\n");
    std::fs::remove_dir_all(&world.state).unwrap();
    assert!(!world.ledger.has_base());
    assert_eq!(world.adopt(), uploaded);
    world.apply(Outcome::Applied);
    assert_eq!(world.read("a.txt"), "agent\n");
}
