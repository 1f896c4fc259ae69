//! Real repositories, made with a clean configuration.

use super::PATH;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A git repository in a folder.
pub struct Repo {
    root: PathBuf,
}

impl Repo {
    /// `git init` with an identity, on branch main.
    pub fn init(root: &Path) -> Self {
        std::fs::create_dir_all(root).expect("a folder");
        let repo = Self { root: root.to_path_buf() };
        repo.git(&["init", "-q", "-b", "main"]);
        repo.git(&["config", "user.name", "Test"]);
        repo.git(&["config", "user.email", "test@example.com"]);
        repo
    }

    /// A worktree that is there already, such as a linked one.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// The top folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, with its folders.
    pub fn write(&self, relative: &str, contents: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(relative);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, contents).expect("a file");
        self
    }

    /// A file's text.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        let path = self.root.join(relative);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// `add -A -f` and commit.
    pub fn commit(&self, message: &str) -> &Self {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self
    }

    /// Runs git here; its stdout.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
            .output()
            .expect("git starts");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
