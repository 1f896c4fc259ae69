//! Something that a killed run left: a file, or a folder in which nothing else is.

use super::step::{Done, Line, Step, Work};
use crate::error::{IoContext, Result};
use crate::fs::is_staged;
use crate::paths::Paths;
use crate::setup::receipt::disk;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A file or a folder that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    pub(crate) path: PathBuf,
}

impl Step for Leftover {
    fn line(&self, paths: &Paths) -> Line {
        Line::new("remove", paths.show(&self.path), "left by a setup that did not come to its end")
    }

    /// A folder stays when something was put into it meanwhile.
    fn apply(&self, work: &mut Work<'_>) -> Result<Done> {
        let path = &self.path;
        let is_folder_of_ours = path.starts_with(work.paths.data()) && path.is_dir();
        let is_staged = path.file_name().is_some_and(is_staged);
        let removed = match (is_staged, is_folder_of_ours) {
            (true, _) => disk::remove_staged(path, work.paths),
            (false, true) => std::fs::remove_dir(path),
            (false, false) => std::fs::remove_file(path),
        };
        match removed {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {}
            removed => removed.at("remove", path)?,
        }
        Ok(Done::Made)
    }

    /// It served nothing, so it is not made again.
    fn revert(&self, _: &mut Work<'_>) -> Result<()> {
        Ok(())
    }
}
