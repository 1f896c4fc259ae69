//! The way down to the receipt: what on it is provably ours, and how it goes without anything else.

use super::Receipt;
use super::disk::{self, NAME};
use crate::error::{IoContext, Result};
use crate::fs::{Digest, all_of, digest, is_staged, kill_point, remove_pieces, stage, staged};
use crate::paths::Paths;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
    let Ok(entries) = std::fs::read_dir(disk::originals(paths)) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| is_original(path, recorded)).collect()
}

/// Removes a receipt with its originals, and the folders for them; what is not ours in these stays.
///
/// # Errors
/// Something of it cannot be removed.
pub(in crate::setup) fn remove_receipt(known: &Receipt, paths: &Paths) -> Result<()> {
    let (receipts, originals) = (paths.receipts(), disk::originals(paths));
    let mut pieces = vec![disk::file(paths)];
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
