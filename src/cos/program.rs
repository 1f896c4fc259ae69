//! The official program that makes CreateOS's boxes: named, found on PATH, or installed.

use super::say::say;
use super::variable::variable;
use crate::createos::official;
use crate::error::{Error, Result};
use crate::install::{self, Installation, Machine};
use crate::paths::Paths;
use std::path::{Path, PathBuf};

/// Names the program.
const PROGRAM: &str = "COS_CLI";
/// Keeps us from installing it.
const NO_INSTALL: &str = "COS_NO_AUTOINSTALL";
/// Another place of its releases, which counts only with the second one.
const FROM: &str = "COS_CLI_INSTALL_URL";
const FROM_ELSEWHERE: &str = "COS_AUTOINSTALL_ALLOW_CUSTOM_URL";

/// The program; one that is nowhere is downloaded, compared with its checksum and put in place.
///
/// # Errors
/// What is named is no program, nothing may be installed, or it cannot be.
pub(super) fn find_or_install(paths: &Paths) -> Result<PathBuf> {
    match find(paths)? {
        Some(program) => Ok(program),
        None if variable(NO_INSTALL).is_some() => Err(Error::failed(format!(
            "createos is not on PATH, and {NO_INSTALL} keeps it from being installed"
        ))
        .help("install it, or name it in COS_CLI")
        .help("boxes on this machine need none: --provider local")),
        None => installed(paths),
    }
}

/// The program, where there is one.
///
/// # Errors
/// What is named is no program.
pub(super) fn find(paths: &Paths) -> Result<Option<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(named) = variable(PROGRAM) {
        // Calls run in another folder.
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let found = which::which_in(&named, Some(&path), here);
        return found.map(Some).map_err(|_| {
            Error::failed(format!("{PROGRAM} names {named}, which is no program here"))
                .help("correct it, or unset it")
        });
    }
    Ok(official(&path).or_else(|| install::landed("createos", paths.home()).into_iter().next()))
}

fn installed(paths: &Paths) -> Result<PathBuf> {
    let elsewhere = variable(FROM);
    if let Some(url) = elsewhere.as_ref().filter(|_| variable(FROM_ELSEWHERE).is_none()) {
        return Err(Error::failed(format!("{FROM} names {url}, from which nothing is installed"))
            .help(format!("unset it; or, if you trust that address, set {FROM_ELSEWHERE}=1 too")));
    }
    let var = |name: &str| match name {
        // Neither a script nor a mirror that something else's environment brings.
        "CREATEOS_INSTALL_URL" => None,
        "CREATEOS_RELEASES_URL" => elsewhere.clone(),
        name => variable(name),
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let machine = Machine { home: paths.home(), path: &path, var: &var };
    paths.refuse_foreign_home(Path::new(paths.home()))?;
    let way = Installation::find("createos", None, &machine)?
        .ok_or_else(|| Error::failed("createos cannot be installed on this machine"))?;
    say("createos is not on PATH: installing it, by its checksum");
    let installed = way.install(&machine)?;
    say(format!("createos is at {}", paths.show(&installed.path)));
    Ok(installed.path)
}
