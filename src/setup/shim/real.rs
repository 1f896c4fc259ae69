//! The official program behind ours: where it is, and how it is called without calling us back.

use crate::command::{self, Command};
use crate::createos::{PROGRAM_NAME, official};
use crate::error::{Error, Result};
use crate::exec::Run;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Set for whatever we start under the name `createos`: `<process id>:<depth>`. exec keeps the process id, so
/// meeting our own means that the call was passed straight back.
pub(super) const LOOP: &str = "CREATEOS_SANDBOX_SHIM";
/// How many of us may call each other through other programs; scripts nest a few levels at most.
const DEEPEST: u32 = 16;

/// The official program with these arguments, started by us.
pub(super) fn call<'a>(
    program: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    nested: &str,
) -> Run<'a> {
    Run::new(program).args(args).env(LOOP, nested)
}

/// Becomes the official program; comes back with an error only.
pub(super) fn pass_on(official: PathBuf, args: &[OsString], nested: &str) -> Error {
    call(&official, args, nested).replace(Some(OsStr::new(PROGRAM_NAME))).into()
}

/// The official program.
///
/// # Errors
/// PATH has none.
pub(super) fn real() -> Result<PathBuf> {
    official(&std::env::var_os("PATH").unwrap_or_default()).ok_or_else(|| {
        Error::cannot_run("the official createos program is not on PATH; only createos-sandbox's own link is")
            .help(format!("to install it: {}", install_official()))
            .help(format!("to remove the link: {}", command::own(["shim", "remove"])))
    })
}

/// The setup that brings the official program.
pub(super) fn install_official() -> Command {
    command::setup().with("--provider", "createos").flag("--install-missing")
}

/// The value of [`LOOP`] for what we start.
///
/// # Errors
/// It called us back.
pub(super) fn depth() -> Result<String> {
    let pid = std::process::id();
    let seen = std::env::var(LOOP).unwrap_or_default();
    let (seen_pid, depth) = seen.split_once(':').unwrap_or_default();
    let depth: u32 = depth.parse().unwrap_or(0);
    if seen_pid == pid.to_string() || depth >= DEEPEST {
        return Err(Error::cannot_run("the createos further on PATH calls this one again")
            .help("look at them: type -a createos")
            .help(format!("or remove this one: {}", command::own(["shim", "remove"]))));
    }
    Ok(format!("{pid}:{}", depth + 1))
}
