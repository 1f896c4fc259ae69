//! Links stay links, and never bring in or point at what is outside.

use super::{dry_run, leaves, packed, repo, rows, stays, unpacked};
use crate::support::Home;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn links_that_stay_inside_stay_links() {
    let home = Home::new();
    let repo = repo(&home, &["docs/a.txt"]);
    symlink("docs/a.txt", repo.root().join("to-file")).unwrap();
    symlink("docs", repo.root().join("to-folder")).unwrap();
    symlink("../docs/./a.txt", repo.root().join("docs/up-and-down")).unwrap();
    symlink("nowhere", repo.root().join("dangling")).unwrap();
    symlink("x".repeat(300), repo.root().join("long")).unwrap();
    let document = dry_run(&home, &repo);
    assert_eq!(
        leaves(&document),
        ["dangling", "docs/a.txt", "docs/up-and-down", "long", "to-file", "to-folder"]
    );
    let folder = unpacked(&home, &packed(&home, &repo));
    let target = |name: &str| std::fs::read_link(folder.join(name)).unwrap();
    assert_eq!(target("to-file"), Path::new("docs/a.txt"));
    assert_eq!(target("to-folder"), Path::new("docs"));
    assert_eq!(target("docs/up-and-down"), Path::new("../docs/./a.txt"));
    assert_eq!(target("dangling"), Path::new("nowhere"));
    assert_eq!(target("long"), Path::new(&"x".repeat(300)));
}

#[test]
fn links_that_lead_out_are_skipped_and_listed() {
    let home = Home::new();
    let repo = repo(&home, &["d/e/f.txt"]);
    home.write("outside.txt", "outside");
    let root = repo.root();
    symlink("/etc/passwd", root.join("absolute")).unwrap();
    symlink("../outside.txt", root.join("relative")).unwrap();
    symlink("..", root.join("parent")).unwrap();
    symlink("absolute", root.join("by-way-of")).unwrap();
    symlink("../..", root.join("d/e/up")).unwrap();
    // Its text stays inside, but up is the root, and .. of that is outside.
    symlink("up/../outside.txt", root.join("d/e/tricky")).unwrap();
    symlink("loop-b", root.join("loop-a")).unwrap();
    symlink("loop-a", root.join("loop-b")).unwrap();
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ["d/e/f.txt", "d/e/up"]);
    let expected = rows([
        ("absolute", "link-out: /etc/passwd"),
        ("by-way-of", "link-out: absolute"),
        ("d/e/tricky", "link-out: up/../outside.txt"),
        ("loop-a", "link-out: loop-b"),
        ("loop-b", "link-out: loop-a"),
        ("parent", "link-out: .."),
        ("relative", "link-out: ../outside.txt"),
    ]);
    assert_eq!(stays(&document), expected);
}

#[test]
fn a_tracked_folder_that_became_a_link_is_not_read_through() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "folder/passwd", "inner/b.txt", "real/b.txt"]);
    for (name, target) in [("folder", "/etc"), ("inner", "real")] {
        std::fs::remove_dir_all(repo.root().join(name)).unwrap();
        symlink(target, repo.root().join(name)).unwrap();
    }
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ["a.txt", "inner", "real/b.txt"]);
    let behind = "behind-link: a folder on the way is a link or a file";
    let expected = rows([("folder", "link-out: /etc"), ("folder/passwd", behind), ("inner/b.txt", behind)]);
    assert_eq!(stays(&document), expected);
}
