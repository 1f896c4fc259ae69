//! Finds the worktree, and runs git in it without what the caller's environment or the
//! repository's own settings would make it do.

use crate::error::{Error, Result};
use crate::exec::{Ended, Run};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Listing a very large tree on a slow disk takes minutes, not hours.
const LIMIT: Duration = Duration::from_secs(600);

/// Settings that would start programs of the repository's choice (docs/measured/git.md 2,
/// "Environment and trust"), widen a listing beyond this worktree, or make it write: a sparse index
/// is converted by storing trees.
const SETTINGS: [&str; 4] =
    ["core.fsmonitor=false", "core.hooksPath=/dev/null", "submodule.recurse=false", "index.sparse=false"];

/// What git may not do on the way: take locks, and fetch an object that is missing. The repository's own
/// configuration names the program that would bring it. Older git than 2.45 knows only the second.
const FORBIDDEN: [(&str, &str); 4] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Variables that say where the user's own settings are; every other `GIT_*` is removed, because
/// git sets them for its children and they would point at another repository.
const KEPT: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// A git worktree on this machine, and the git that reads it.
#[derive(Debug, Clone)]
pub(crate) struct Worktree {
    root: PathBuf,
    git: PathBuf,
    stop: Option<Arc<AtomicBool>>,
}

impl Worktree {
    /// The worktree that `dir` is in. A linked worktree, whose `.git` is a file, is one too.
    ///
    /// # Errors
    /// `dir` is in no worktree (also: inside `.git`, or in a bare repository), git does not trust
    /// it, or git cannot be run.
    pub(crate) fn discover(git: &Path, dir: &Path) -> Result<Self> {
        Self::discover_until(git, dir, None)
    }

    /// As [`Worktree::discover`]; this and every later call of git ends when the flag is raised.
    ///
    /// # Errors
    /// The same, or the flag was raised.
    pub(crate) fn discover_until(git: &Path, dir: &Path, stop: Option<Arc<AtomicBool>>) -> Result<Self> {
        let dir = std::fs::canonicalize(dir).map_err(|source| Error::io("enter", dir, &source))?;
        let ended =
            reading_git(git, &dir).stop_when(stop.clone()).args(["rev-parse", "--show-toplevel"]).run()?;
        if !ended.success() {
            return Err(refusal(&dir, &ended));
        }
        let mut bytes = ended.stdout;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        let root = PathBuf::from(OsString::from_vec(bytes));
        // A repository can name any folder as its worktree (core.worktree): only one that holds
        // the folder that the user is in is the user's.
        if !root.is_absolute() || !dir.starts_with(&root) {
            return Err(Error::usage(format!("{} is not in the worktree that git names", dir.display()))
                .fact("worktree", root.display().to_string())
                .help("look at it with: git config --show-origin core.worktree"));
        }
        Ok(Self { root, git: git.to_path_buf(), stop })
    }

    /// The top folder, absolute, without links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// git at the top folder, with the environment and settings that make it only read.
    pub(crate) fn run_git(&self) -> Run<'static> {
        reading_git(&self.git, &self.root).limit(LIMIT).stop_when(self.stop.clone())
    }

    /// Runs git and gives its whole stdout, whatever its size.
    ///
    /// # Errors
    /// git fails; the message has its last words.
    pub(super) fn output<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>> {
        let mut output = Vec::new();
        let ended = self
            .run_git()
            .args(args)
            .stdout_to(|bytes| {
                output.extend_from_slice(bytes);
                Ok(())
            })
            .run()?;
        if ended.success() { Ok(output) } else { Err(refusal(&self.root, &ended)) }
    }
}

/// git in `dir`, which is or may become a repository of anybody: it reads, starts nothing of the
/// repository's choice, and writes nothing.
pub(crate) fn reading_git(git: &Path, dir: &Path) -> Run<'static> {
    let mut run = Run::new(git).cwd(dir).env("LC_ALL", "C");
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") && !KEPT.iter().any(|kept| name == *kept) {
            run = run.env_remove(name);
        }
    }
    for (name, value) in FORBIDDEN {
        run = run.env(name, value);
    }
    for setting in SETTINGS {
        run = run.arg("-c").arg(setting);
    }
    run
}

/// git's refusal in our words, with git's own remedy where it gives one.
fn refusal(dir: &Path, ended: &Ended) -> Error {
    let said = ended.stderr_text();
    let dir = dir.display();
    if said.contains("dubious ownership") {
        let mut error =
            Error::usage(format!("git does not trust the repository at {dir}: another user owns it"));
        for remedy in said.lines().map(str::trim).filter(|line| line.starts_with("git config ")) {
            error = error.help(format!("if you trust it, run: {remedy}"));
        }
        return error;
    }
    if said.contains("must be run in a work tree") {
        return Error::usage(format!("{dir} is inside a repository, but not in a worktree of it"))
            .help("go to the folder that holds the files, not to .git or a bare repository");
    }
    if said.contains("not a git repository") {
        return Error::usage(format!("{dir} is not in a git worktree"))
            .help("go to your project's folder, or make it one: git init");
    }
    Error::failed("git could not read the worktree").fact("folder", dir.to_string()).fact("git", said)
}

/// The records of a listing that ends each with a zero byte.
pub(super) fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}
