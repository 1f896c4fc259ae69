//! A program that gets its old bytes back.

use super::step::{Done, Line, Step, Work};
use crate::error::{IoContext, Result};
use crate::fs::{Mode, read_if_there, write_atomic};
use crate::paths::Paths;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
pub(super) fn put_back(path: &Path, bytes: &[u8]) -> Result<()> {
    match read_if_there(path)? {
        Some(now) if now == bytes => Ok(()),
        Some(_) => write_atomic(path, bytes, Mode::Shared),
        None => {
            write_atomic(path, bytes, Mode::Shared)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).at("set the mode of", path)
        }
    }
}
