//! The receipt on the disk, and the originals beside it.

use super::{Receipt, VERSION};
use crate::error::{Error, IoContext, Kind, Result};
use crate::fs::{
    Digest, Mode, digest, kill_point, make_private, read_if_there, refuse_newer, stage, write_atomic,
};
use crate::paths::Paths;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The file's name in the folder of receipts.
pub(super) const NAME: &str = "herdr.json";

impl Receipt {
    /// The receipt of Herdr's setup; none when there was none, or when it was undone.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or a newer version of this program wrote it.
    pub(crate) fn read(paths: &Paths) -> Result<Option<Self>> {
        let path = file(paths);
        let Some(bytes) = read_if_there(&path)? else { return Ok(None) };
        let damaged = |reason: String| {
            Error::failed(format!("the receipt {} is damaged: {reason}", path.display()))
                .help("the originals are beside it; move the file away to set up without it")
        };
        refuse_newer(&path, &bytes, VERSION, Kind::CannotRun, "update createos-sandbox and try again")?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Writes it.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub(crate) fn write(&self, paths: &Paths) -> Result<()> {
        make_private(&paths.receipts())?;
        self.write_in(&paths.receipts())
    }

    /// Writes it together with the folders on the way to it that are `missing`, the outermost first: all of them are
    /// there at once, so that a run that is killed never leaves a folder that no receipt knows of.
    ///
    /// # Errors
    /// The folders or the file cannot be made.
    pub(crate) fn write_with(&self, missing: &[PathBuf], paths: &Paths) -> Result<()> {
        let (Some(outermost), Some(receipts)) = (missing.first(), missing.last()) else {
            return self.write(paths);
        };
        let (Some(base), Some(name)) = (outermost.parent(), outermost.file_name()) else {
            return self.write(paths);
        };
        let refused = |error: std::io::Error| Error::io("create the folder", outermost, &error);
        let staged = stage(base).map_err(|error| error.fact("to create", outermost.display().to_string()))?;
        kill_point();
        let inner = staged.path().join(name);
        for folder in missing {
            let rest = folder.strip_prefix(outermost).unwrap_or(Path::new(""));
            let mode = if folder == receipts { 0o700 } else { 0o755 };
            std::fs::DirBuilder::new().mode(mode).create(inner.join(rest)).map_err(refused)?;
        }
        self.write_in(&inner.join(receipts.strip_prefix(outermost).unwrap_or(Path::new(""))))?;
        std::fs::rename(&inner, outermost).map_err(refused)?;
        kill_point();
        std::fs::File::open(base).and_then(|base| base.sync_all()).at("sync", base)
    }

    fn write_in(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::failed(format!("the receipt cannot be written: {error}")))?;
        write_atomic(&folder.join(NAME), format!("{text}\n").as_bytes(), Mode::Private)
    }
}

/// Keeps the bytes of an original beside the receipt.
///
/// # Errors
/// The folder or the file cannot be written.
pub(crate) fn keep_original(paths: &Paths, bytes: &[u8]) -> Result<Digest> {
    let digest = digest(bytes);
    let folder = originals(paths);
    make_private(&folder)?;
    let path = folder.join(digest.to_string());
    if !path.exists() {
        write_atomic(&path, bytes, Mode::Private)?;
    }
    Ok(digest)
}

/// The bytes of an original.
///
/// # Errors
/// They are gone, or are not the ones that were kept.
pub(crate) fn original(paths: &Paths, wanted: Digest) -> Result<Vec<u8>> {
    let path = originals(paths).join(wanted.to_string());
    let bytes = crate::fs::read_regular(&path).at("read", &path)?;
    if digest(&bytes) == wanted {
        return Ok(bytes);
    }
    Err(Error::failed(format!("{} is not what was kept there", path.display())))
}

pub(super) fn file(paths: &Paths) -> PathBuf {
    paths.receipts().join(NAME)
}

pub(in crate::setup) fn originals(paths: &Paths) -> PathBuf {
    paths.receipts().join("originals")
}
