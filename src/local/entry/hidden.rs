//! Folders of the user's that lie among the host's programs, which a box sees: they are covered in it.

use crate::error::{Error, Result};
use crate::local::inside;
use crate::local::wire::spec::Bytes;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where a user's own things are, besides the home folder.
pub(crate) const VARIABLES: [&str; 7] = [
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "TMPDIR",
];
/// Settings of the host's programs, which may hold what is secret, as `npmrc` does.
const SETTINGS: [&str; 2] = ["/usr/etc", "/usr/local/etc"];
/// Without one of these a box would have no programs.
const NEEDED: [&str; 11] = [
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/sbin",
    "/usr/share",
    "/usr/local/share",
];

/// What to cover: real paths, none below another. `boxes` is the folder of all boxes, or of one.
///
/// # Errors
/// One of them is a folder of programs; exit code 2.
pub(crate) fn folders(boxes: &Path) -> Result<Vec<Bytes>> {
    let variables = VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?.into())));
    let named = variables.chain(crate::paths::home().map(|home| ("HOME", home)));
    let settings = SETTINGS.map(|path| ("a folder of settings", path.into()));
    choose(named.chain([("the folder of the boxes", boxes.to_path_buf())]).chain(settings), &system())
}

/// Real paths of everything that is shown.
fn system() -> Vec<PathBuf> {
    inside::SYSTEM.iter().filter_map(|name| Path::new("/").join(name).canonicalize().ok()).collect()
}

fn choose<'a>(named: impl Iterator<Item = (&'a str, PathBuf)>, system: &[PathBuf]) -> Result<Vec<Bytes>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for (name, path) in named.filter(|(_, path)| path.is_absolute()) {
        // What is not there shows nothing.
        let Ok(real) = path.canonicalize() else { continue };
        if !system.iter().any(|folder| real.starts_with(folder)) {
            continue;
        }
        let needed = system.iter().map(PathBuf::as_path).chain(NEEDED.map(Path::new));
        if needed.into_iter().any(|needed| needed.starts_with(&real)) {
            return Err(Error::cannot_run(format!(
                "{name} is {}, which a box needs for its programs; nothing was run",
                path.display()
            ))
            .help(format!("set {name} to a folder of your own, outside /usr")));
        }
        found.push(real);
    }
    found.sort();
    // A folder comes before what is in it.
    found.dedup_by(|later, earlier| later.starts_with(&*earlier));
    Ok(found.into_iter().map(|path| path.as_os_str().as_bytes().to_vec()).collect())
}
