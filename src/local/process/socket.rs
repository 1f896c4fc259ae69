//! Where supervisors listen: short paths in a folder that only this user can enter.

use crate::error::{Error, IoContext, Result};
use crate::fs::{digest, private_folder};
use crate::local::boxes::id::LocalProcessId;
use crate::paths::Paths;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket's path has at most 107 bytes on Linux and 103 on macOS.
const LONGEST: usize = 103;

/// A free path for the socket of this process. The folder is made and checked.
///
/// # Errors
/// No folder can be had that is ours alone.
pub(crate) fn path(id: &LocalProcessId) -> Result<PathBuf> {
    let mut refused = Vec::new();
    for folder in Paths::sockets() {
        match private_folder(&folder) {
            Ok(()) => {
                let hash = digest(id.as_str().as_bytes()).to_string();
                // Eight digits, more only when that name is in use.
                let names = (8..=32).step_by(8).map(|length| folder.join(&hash[..length]));
                let free = names.into_iter().find(|path| is_free(path));
                if let Some(path) = free.filter(|path| path.as_os_str().len() <= LONGEST) {
                    return Ok(path);
                }
                refused.push(format!("{} is too long for a socket", folder.display()));
            }
            Err(error) => refused.push(error.message().to_owned()),
        }
    }
    Err(Error::cannot_run("there is no private folder for a socket")
        .fact("reason", refused.join("; "))
        .help("set XDG_RUNTIME_DIR to a folder of yours with mode 0700"))
}

/// Listens there, for this user only.
///
/// # Errors
/// The socket cannot be made.
pub(crate) fn listen(path: &Path) -> Result<UnixListener> {
    let listener = UnixListener::bind(path).at("listen at", path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).at("protect", path)?;
    listener.set_nonblocking(true).at("listen at", path)?;
    Ok(listener)
}

/// Whether nothing listens there; what a killed supervisor has left is removed.
fn is_free(path: &Path) -> bool {
    match UnixStream::connect(path) {
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path).is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}
