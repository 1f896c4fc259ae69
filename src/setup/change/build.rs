//! The build of a developer's checkout, and the old bytes of a program that it may have replaced.

use super::step::{Done, Line, Step, Work};
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use crate::fs::{Mode, read_if_there, write_atomic};
use crate::herdr::Manifest;
use crate::paths::Paths;
use crate::setup::receipt::{ProgramReceipt, Receipt, disk};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A checkout's build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildChange {
    pub(crate) root: PathBuf,
    /// The official CLI, which such a build may replace.
    pub(crate) createos: Option<PathBuf>,
}

impl Step for BuildChange {
    fn line(&self, paths: &Paths) -> Line {
        let warning = match &self.createos {
            Some(path) => format!("; it may replace {}, a copy is kept for undo", paths.show(path)),
            None => String::new(),
        };
        Line::new("build", paths.show(&self.script()), format!("its output is shown{warning}"))
    }

    fn begin(&self, receipt: &mut Receipt, paths: &Paths) -> Result<()> {
        if let (Some(path), None) = (&self.createos, &receipt.program) {
            let bytes = std::fs::read(path).at("read", path)?;
            let original = disk::keep_original(paths, &bytes)?;
            receipt.program = Some(ProgramReceipt { path: path.clone(), original });
        }
        Ok(())
    }

    fn apply(&self, work: &mut Work<'_>) -> Result<Done> {
        self.build(work).map(|()| Done::Made).map_err(|error| {
            crate::exec::stay_when_ending();
            match self.revert(work) {
                Ok(()) => error,
                Err(failed) => error.fact("not taken back", failed.message()),
            }
        })
    }

    /// The build changed nothing of ours; the program that it may have replaced is given back.
    fn revert(&self, work: &mut Work<'_>) -> Result<()> {
        match (&self.createos, &work.ledger.receipt.program) {
            (Some(path), Some(kept)) if *path == kept.path => {
                put_back(path, &disk::original(work.paths, kept.original)?)
            }
            _ => Ok(()),
        }
    }
}

impl BuildChange {
    fn script(&self) -> PathBuf {
        self.root.join("build.sh")
    }

    fn build(&self, work: &Work<'_>) -> Result<()> {
        // With a JSON document on stdout the output goes to stderr, as it comes.
        let words: &[&str] = if work.quiet { &["-c", "exec sh build.sh >&2"] } else { &["build.sh"] };
        let ended = Run::new("sh").args(words).cwd(&self.root).interactive().run()?;
        if !ended.success() {
            let script = work.paths.show(&self.script());
            return Err(Error::failed(format!("{script} ended with {}", ended.code())));
        }
        match missing_file(&self.root)? {
            None => Ok(()),
            Some(missing) => Err(Error::failed("the build did not make what the plugin's manifest runs")
                .fact("missing", missing)
                .fact("in", work.paths.show(&self.root))),
        }
    }
}

/// What the manifest of the checkout in `root` starts and is not there: a program, or the script of an interpreter.
///
/// # Errors
/// The manifest cannot be read any more.
pub(crate) fn missing_file(root: &Path) -> Result<Option<String>> {
    let manifest = Manifest::read(root).map_err(Error::failed)?;
    let script = manifest.files().into_iter().find(|file| !root.join(file).is_file());
    let program = || manifest.programs().into_iter().find(|name| Manifest::resolve(root, name).is_none());
    Ok(script.or_else(program).map(str::to_owned))
}

/// A program as it was before a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramChange {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Vec<u8>,
}

impl Step for ProgramChange {
    fn line(&self, paths: &Paths) -> Line {
        Line::new("restore", paths.show(&self.path), "as before the build")
    }

    fn apply(&self, _: &mut Work<'_>) -> Result<Done> {
        put_back(&self.path, &self.after).map(|()| Done::Made)
    }

    fn revert(&self, _: &mut Work<'_>) -> Result<()> {
        self.before.as_ref().map_or(Ok(()), |before| put_back(&self.path, before))
    }

    fn may_be_half(&self) -> bool {
        true
    }
}

/// Gives a program these bytes. It may be running, so it is replaced and not overwritten; its mode stays.
fn put_back(path: &Path, bytes: &[u8]) -> Result<()> {
    match read_if_there(path)? {
        Some(now) if now == bytes => Ok(()),
        Some(_) => write_atomic(path, bytes, Mode::Shared),
        None => {
            write_atomic(path, bytes, Mode::Shared)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).at("set the mode of", path)
        }
    }
}
