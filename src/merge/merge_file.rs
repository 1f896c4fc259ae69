//! Two changes of one text, merged by git on three plain files in a folder of our own.

use super::spool::Spool;
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Larger files are not merged: git holds all of them in memory, and nobody reads them line by line.
const LIMIT: u64 = 16 * 1024 * 1024;

/// What became of a merge.
#[derive(Debug)]
pub(super) enum Merge {
    /// Both changes are in this file.
    Clean(PathBuf),
    /// Both changed the same lines: both versions are in this file, marked.
    Lines(PathBuf),
    /// Binary, or too large to be merged by lines.
    Unmergeable,
}

/// Merges what `theirs` changed since `base` into `ours` with this `git`; none of the three is written.
///
/// # Errors
/// A file cannot be read, or git cannot be run.
pub(super) fn merge(git: &Path, spool: &Spool, ours: &Path, base: &Path, theirs: &Path) -> Result<Merge> {
    for path in [ours, base, theirs] {
        if std::fs::metadata(path).at("look at", path)?.len() > LIMIT {
            return Ok(Merge::Unmergeable);
        }
    }
    let folder = theirs.parent().unwrap_or(theirs);
    let run = Run::new(git)
        .args(["merge-file", "-p", "-q", "-L", "here", "-L", "before", "-L", "box", "--"])
        .args([ours, base, theirs])
        .cwd(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        // No repository around the temporary folder has a say.
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder))
        .limit(Duration::from_secs(120));
    let ended = run.run()?;
    match ended.code() {
        0 => Ok(Merge::Clean(spool.keep(&ended.stdout)?)),
        1..=127 if ended.status.code().is_some() => Ok(Merge::Lines(spool.keep(&ended.stdout)?)),
        255 => Ok(Merge::Unmergeable),
        code => {
            Err(Error::failed(format!("git merge-file ended with {code}"))
                .fact("git said", ended.stderr_text()))
        }
    }
}
