//! The receipt on the disk with the originals beside it, the way down to it: what on it is provably ours, and how it
//! goes without anything else.

use super::{Receipt, VERSION};
use crate::error::{Error, IoContext, Kind, Result};
use crate::fs::{
    Digest, Mode, all_of, digest, is_staged, kill_point, make_private, read_if_there, refuse_newer,
    remove_pieces, stage, staged, write_atomic,
};
use crate::paths::Paths;
use std::ffi::OsStr;
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
        let damaged = |reason| {
            Error::failed(format!("the receipt {} is damaged: {reason}", path.display()))
                .help("the originals are beside it; move the file away to set up without it")
        };
        refuse_newer(&path, &bytes, VERSION, Kind::CannotRun, "update createos-sandbox and try again")?;
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
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
        let ends = missing.first().zip(missing.last());
        let ends = ends.and_then(|(first, last)| Some((first, last, first.parent()?, first.file_name()?)));
        let Some((outermost, receipts, base, name)) = ends else { return self.write(paths) };
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

/// Folders through which the way to the receipts leads, as far as they are there: the receipt is staged in one of
/// them. Above the home folder nothing is ours.
pub(in crate::setup) fn folders(paths: &Paths) -> Vec<PathBuf> {
    let receipts = paths.receipts();
    let there = receipts.ancestors().skip(1).filter(|folder| folder.is_dir());
    let mut way: Vec<PathBuf> = there.clone().take(1).map(PathBuf::from).collect();
    way.extend(there.skip(1).take_while(|folder| folder.starts_with(paths.home())).map(PathBuf::from));
    way
}

/// What is staged in a folder, by us and by a run that was killed.
pub(in crate::setup) fn staged_in(folder: &Path, paths: &Paths) -> Vec<PathBuf> {
    staged(folder, &|path, below, is_folder| is_ours(path, below, is_folder, paths, &[]))
}

/// Removes something that [`staged_in`] found.
///
/// # Errors
/// It, or something in it, cannot be removed.
pub(in crate::setup) fn remove_staged(path: &Path, paths: &Paths) -> std::io::Result<()> {
    crate::fs::remove_staged(path, &|path, below, is_folder| is_ours(path, below, is_folder, paths, &[]))
}

/// Whether what lies at `below` is ours, as seen from a folder beside which the way begins: a folder that the way
/// leads through, the receipt, an original that is `recorded` or has its own hash as its name, or something staged
/// beside them. Other folders in which such names happen to be are not ours.
fn is_ours(path: &Path, below: &Path, is_folder: bool, paths: &Paths, recorded: &[Digest]) -> bool {
    let receipts = paths.receipts();
    let is_the_end = |folder: &Path| !folder.as_os_str().is_empty() && receipts.ends_with(folder);
    let (Some(parent), Some(name)) = (below.parent(), below.file_name()) else { return false };
    let originals = OsStr::new("originals");
    if is_folder {
        let is_on_the_way = receipts.ancestors().any(|folder| folder.ends_with(below));
        return is_on_the_way || (name == originals && is_the_end(parent));
    }
    match parent.file_name() == Some(originals) {
        true => parent.parent().is_some_and(is_the_end) && (is_staged(name) || is_original(path, recorded)),
        false => is_the_end(parent) && (is_staged(name) || name == NAME),
    }
}

/// Whether a file is what its name says, or was noted by that name.
fn is_original(path: &Path, recorded: &[Digest]) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).and_then(|name| name.parse::<Digest>().ok());
    let Some(name) = name else { return false };
    recorded.contains(&name) || crate::fs::read_regular(path).is_ok_and(|bytes| digest(&bytes) == name)
}

/// The copies beside the receipt that are what their names say, or were noted.
pub(in crate::setup) fn copies(paths: &Paths, recorded: &[Digest]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(originals(paths)) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| is_original(path, recorded)).collect()
}

/// Removes a receipt with its originals, and the folders for them; what is not ours in these stays.
///
/// # Errors
/// Something of it cannot be removed.
pub(in crate::setup) fn remove_receipt(known: &Receipt, paths: &Paths) -> Result<()> {
    let (receipts, originals) = (paths.receipts(), originals(paths));
    let mut pieces = vec![file(paths)];
    pieces.extend(copies(paths, &known.digests()));
    pieces.extend([originals, receipts.clone()]);
    remove_pieces(&pieces).at("remove", &receipts)
}

/// Removes a receipt with its originals and with every folder that setup made, unless something else is in there.
/// The folders that lead to the receipt go with it at once: what is left of a run that is killed is staged.
///
/// # Errors
/// Something of it cannot be removed.
pub(in crate::setup) fn remove_with_folders(known: &Receipt, paths: &Paths) -> Result<()> {
    let receipts = paths.receipts();
    let real = receipts.canonicalize().unwrap_or_else(|_is_gone| receipts.clone());
    let leads_there = |folder: &&PathBuf| receipts.starts_with(folder) || real.starts_with(folder);
    let (mut way, others): (Vec<&PathBuf>, Vec<&PathBuf>) = known.folders.iter().partition(leads_there);
    for folder in others.iter().rev() {
        let _in_use_or_gone = std::fs::remove_dir(folder);
    }
    kill_point();
    let recorded = known.digests();
    way.sort_by_key(|folder| folder.components().count());
    let whole = way.into_iter().find_map(|outermost| {
        let (base, name) = (outermost.parent()?, outermost.file_name()?);
        let is_ours = |path: &Path, below: &Path, is_folder: bool| {
            is_ours(path, &Path::new(name).join(below), is_folder, paths, &recorded)
        };
        all_of(outermost, &is_ours).map(|pieces| (base, name, outermost, pieces))
    });
    let Some((base, name, outermost, pieces)) = whole else { return remove_receipt(known, paths) };
    let place = stage(base)?.keep();
    let staged = place.join(name);
    std::fs::rename(outermost, &staged).at("remove", outermost)?;
    kill_point();
    // Collected again: joining nothing leaves a slash, and no link could be told from its folder then.
    let moved = |piece: &PathBuf| {
        piece.strip_prefix(outermost).map(|rest| staged.join(rest).components().collect()).ok()
    };
    let pieces: Vec<PathBuf> = pieces.iter().filter_map(moved).collect();
    remove_pieces(&pieces).at("remove", outermost)?;
    if staged.exists() {
        // Another program has put something into it in this very moment.
        std::fs::rename(&staged, outermost).at("give back", outermost)?;
    }
    std::fs::remove_dir(&place).at("remove", &place)
}
