//! Folders that only their owner can enter, also in places where every user can make one.

use crate::error::{Error, IoContext, Result};
use rustix::fs::{AtFlags, CWD, FileType, Mode};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes the folder, and those on the way to it, with mode 0700 where they are missing.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).at("create the folder", folder)
}

/// Makes the folder with mode 0700 if it is missing, and closes it to others.
///
/// # Errors
/// It cannot be made, is no folder, or belongs to another user, who could have prepared it.
pub(crate) fn private_folder(folder: &Path) -> Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(source) if source.kind() == ErrorKind::AlreadyExists => {}
        made => made.at("create", folder)?,
    }
    let stat = rustix::fs::statat(CWD, folder, AtFlags::SYMLINK_NOFOLLOW).at("look at", folder)?;
    let mine = stat.st_uid == rustix::process::geteuid().as_raw();
    if !FileType::from_raw_mode(stat.st_mode).is_dir() || !mine {
        return Err(Error::cannot_run(format!("{} is not a folder of yours", folder.display())));
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        rustix::fs::chmod(folder, Mode::RWXU).at("protect", folder)?;
    }
    Ok(())
}
