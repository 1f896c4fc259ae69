//! What git's index says and what is on disk need not agree.

use super::{dry_run, leaves, listed, packed, repo, rows, stays};
use crate::support::Home;
use std::process::Command;

#[test]
fn a_file_deleted_in_the_worktree_does_not_stop_the_rest() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "gone.txt", "folder/gone.txt"]);
    std::fs::remove_file(repo.root().join("gone.txt")).unwrap();
    std::fs::remove_dir_all(repo.root().join("folder")).unwrap();
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ["a.txt"]);
    assert_eq!(
        stays(&document),
        rows([("folder/gone.txt", "missing: deleted"), ("gone.txt", "missing: deleted")])
    );
    assert_eq!(listed(&packed(&home, &repo)), ["a.txt"]);
}

#[test]
fn sparse_and_skipped_files_are_left_out_and_named() {
    let home = Home::new();
    let repo = repo(&home, &["in/a.txt", "out/b.txt", "skipped.txt", "kept.txt"]);
    repo.git(&["update-index", "--skip-worktree", "skipped.txt", "kept.txt"]);
    std::fs::remove_file(repo.root().join("skipped.txt")).unwrap();
    let document = dry_run(&home, &repo);
    // One that is there with its own contents is part of the worktree.
    assert_eq!(leaves(&document), ["in/a.txt", "kept.txt", "out/b.txt"]);
    assert_eq!(stays(&document), rows([("skipped.txt", "missing: skip-worktree")]));

    repo.git(&["update-index", "--no-skip-worktree", "skipped.txt", "kept.txt"]);
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ["in/a.txt", "kept.txt"]);
    assert_eq!(stays(&document)["out/b.txt"], "missing: skip-worktree");
}

#[test]
fn an_unmerged_path_leaves_once_as_it_is_on_disk() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("a.txt", "theirs\n").commit("theirs");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.txt", "ours\n").commit("ours");
    let merge = Command::new("git").args(["merge", "-q", "other"]).current_dir(repo.root()).output().unwrap();
    assert!(
        !merge.status.success() && repo.git(&["ls-files", "--unmerged"]).lines().count() == 3,
        "it conflicts"
    );
    assert_eq!(leaves(&dry_run(&home, &repo)), ["a.txt"]);
    assert_eq!(listed(&packed(&home, &repo)), ["a.txt"]);
}

#[test]
fn intent_to_add_and_untracked_files_leave_with_their_contents() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt"]);
    repo.write("intended.txt", "six by").write("new.txt", "three");
    repo.git(&["add", "-N", "intended.txt"]);
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), ["a.txt", "intended.txt", "new.txt"]);
    assert_eq!(document["leaves"][1]["bytes"], 6);
}

#[test]
fn a_rename_that_changes_only_case_leaves_under_the_name_on_disk() {
    let home = Home::new();
    let repo = repo(&home, &["README", "Case/a.txt"]);
    std::fs::rename(repo.root().join("README"), repo.root().join("x")).unwrap();
    std::fs::rename(repo.root().join("x"), repo.root().join("readme")).unwrap();
    let leaves = leaves(&dry_run(&home, &repo));
    assert_eq!(leaves.iter().filter(|name| name.eq_ignore_ascii_case("readme")).count(), 1, "{leaves:?}");
}

#[test]
fn submodules_and_repositories_inside_stay_home_with_everything_under_them() {
    let home = Home::new();
    let module = crate::support::Repo::init(&home.path().join("module"));
    module.write("lib.txt", "library").commit("library");
    let repo = repo(&home, &["a.txt", "vendor-notes.txt"]);
    let from = module.root().to_str().unwrap();
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "vendor"]);
    repo.write("vendor/untracked.txt", "inside the submodule");
    let nest = crate::support::Repo::init(&repo.root().join("nest"));
    nest.write("n.txt", "nested");
    let born = crate::support::Repo::init(&repo.root().join("deep/born"));
    born.write("b.txt", "nested").commit("one");
    let document = dry_run(&home, &repo);
    assert_eq!(leaves(&document), [".gitmodules", "a.txt", "vendor-notes.txt"]);
    let nested = "repository: a git repository of its own";
    let expected = rows([("deep/born", nested), ("nest", nested), ("vendor", "submodule: submodule")]);
    assert_eq!(stays(&document), expected);

    // A submodule that was never checked out, with a stray file where it would be.
    repo.git(&["commit", "-q", "-m", "with a submodule"]);
    std::fs::remove_dir_all(repo.root().join("vendor")).unwrap();
    repo.write("vendor/stray.txt", "stray");
    let document = dry_run(&home, &repo);
    assert!(!leaves(&document).iter().any(|name| name.starts_with("vendor/")), "{document}");
}
