//! What a person reads.

use super::{CONFIG, repo};
use crate::support::Home;

#[test]
fn the_dry_run_is_short_and_aligned() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", "docs/plan.md", ".env", "gone.txt"]);
    std::fs::remove_file(repo.root().join("gone.txt")).unwrap();
    std::os::unix::fs::symlink("a.txt", repo.root().join("link")).unwrap();
    home.write(CONFIG, r#"{"excludes": ["docs/"]}"#);
    let text = home.run_in(repo.root(), &["herdr", "upload", "--dry-run"]).success().stdout;
    let text = text.replace(home.path().to_str().unwrap(), "~");
    insta::assert_snapshot!(text, @r"
      leaves          18 B  a.txt
      leaves           0 B  link (link)
      stays    credentials  .env    (rule .env)
      stays    excluded     docs/plan.md    (rule docs/)

    worktree ~/repo
    leaves   2 files, 18 B
    stays    2 files
    missing  1 file in the index but not on disk
    digest   6563cea7f4aeb47d9d658043236f27a4244c3affc67a6aafa9d8703437d25314
    ");
}

#[test]
fn writing_an_archive_says_what_it_holds() {
    let home = Home::new();
    let repo = repo(&home, &["a.txt", ".env"]);
    let text = home.run_in(repo.root(), &["herdr", "upload", "--output", "../a.tgz"]).success().stdout;
    let text = text.lines().filter(|line| !line.starts_with("wrote")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text, @r"
    leaves   1 file, 18 B
    stays    1 file; see why with: createos-sandbox herdr upload --dry-run
    digest   1cad1526f4f95a3a9fee420cb1c57528ce896f7370a7e55717388a0a26830d44
    ");
}
