//! What only the local git knows of a path: a submodule, a file that a sparse checkout leaves out, one
//! that it ignores.

use crate::error::{Error, Result};
use crate::exec::{Ended, Run};
use crate::worktree::{RelPath, reading_git};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Paths of the local index that are special.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Submodules; everything at and below them belongs to another repository.
    pub(super) submodules: BTreeSet<RelPath>,
    /// In the index, but not in the worktree on purpose.
    pub(super) left_out: BTreeSet<RelPath>,
}

/// Reads the index of the user's own worktree, with the user's own `git`.
///
/// # Errors
/// git cannot be run there; its own words and remedy are passed on.
pub(super) fn read(git: &Path, worktree: &Path) -> Result<Marks> {
    let ended = run(git, worktree).args(["ls-files", "-z", "-t", "--stage"]).run()?;
    if !ended.success() {
        return Err(refused(worktree, &ended));
    }
    Ok(parse(&ended.stdout))
}

/// Those of `paths` that the user's own ignore rules match, as the upload judges them: with
/// `--no-index`, so that rules count for tracked files too. No path may be behind a link: git refuses
/// the whole call for one (docs/measured/git.md 1).
///
/// # Errors
/// git cannot be run there.
pub(super) fn ignored<'a>(
    git: &Path,
    worktree: &Path,
    paths: impl Iterator<Item = &'a RelPath>,
) -> Result<BTreeSet<RelPath>> {
    let input: Vec<u8> = paths.flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
    if input.is_empty() {
        return Ok(BTreeSet::new());
    }
    let run = run(git, worktree).args(["check-ignore", "--no-index", "--stdin", "-z"]).stdin_bytes(input);
    let ended = run.run()?;
    // 1 is none.
    if !matches!(ended.code(), 0 | 1) {
        return Err(refused(worktree, &ended));
    }
    let records = ended.stdout.split(|byte| *byte == 0);
    Ok(records.filter_map(|record| RelPath::new(record).ok()).collect())
}

fn run(git: &Path, worktree: &Path) -> Run<'static> {
    reading_git(git, worktree).limit(Duration::from_secs(120))
}

fn refused(worktree: &Path, ended: &Ended) -> Error {
    Error::failed(format!("git cannot read {}", worktree.display())).fact("git said", ended.stderr_text())
}

/// `S 100644 HASH 0\tPATH` records.
fn parse(records: &[u8]) -> Marks {
    let mut marks = Marks::default();
    for record in records.split(|byte| *byte == 0) {
        let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { continue };
        let Ok(path) = RelPath::new(&record[tab + 1..]) else { continue };
        if record[..tab].get(2..8) == Some(b"160000") {
            marks.submodules.insert(path);
        } else if record[0] == b'S' {
            marks.left_out.insert(path);
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_and_sparse_files_are_found() {
        let marks = parse(b"H 100644 aa 0\ta\0S 100644 bb 0\td/b\tc\0H 160000 cc 0\tsub\0");
        assert_eq!(marks.submodules, BTreeSet::from([RelPath::new(b"sub").unwrap()]));
        assert_eq!(marks.left_out, BTreeSet::from([RelPath::new(b"d/b\tc").unwrap()]));
    }
}
