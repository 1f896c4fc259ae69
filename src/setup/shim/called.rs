//! What `createos …` means when it is us who were called.

use super::call::Call;
use super::help;
use super::real::{depth, pass_on, real};
use crate::createos::{Own, PROGRAM_NAME};
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::exit::Exit;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Whether this process was started under the official program's name.
pub(crate) fn is_called_as_createos(argv0: Option<&OsStr>) -> bool {
    argv0.and_then(|name| Path::new(name).file_name()) == Some(OsStr::new(PROGRAM_NAME))
}

/// Runs `createos <args>`. Comes back only for help and on errors.
///
/// # Errors
/// There is no official program to pass the call on to, or it only calls us back.
pub(crate) fn run_as_createos(args: &[OsString]) -> Result<Exit> {
    let nested = depth()?;
    match Call::parse(args) {
        Call::Setup { env, args } => Err(ours(args, &env)?),
        Call::Help => help::show(&real()?, args, &nested),
        Call::Hosts => match real() {
            Ok(official) if help::has_setup(&official, &nested)? => {
                help::show_hosts(&official, args, &nested)
            }
            _ => Err(ours(["--help".into()], &[])?),
        },
        Call::Flags { env, args: flags } => match real() {
            Ok(official) if help::has_setup(&official, &nested)? => Err(pass_on(official, args, &nested)),
            _ => Err(ours(flags, &env)?),
        },
        Call::Official => Err(pass_on(real()?, args, &nested)),
    }
}

/// Becomes our own `setup`; comes back with an error only.
fn ours(args: impl IntoIterator<Item = OsString>, env: &[(&'static str, OsString)]) -> Result<Error> {
    let own = Own::of_this_process().ok_or_else(|| {
        Error::cannot_run("this binary was moved or removed while it ran").help("call it once more")
    })?;
    let run = env.iter().fold(Run::new(own.path()), |run, (name, value)| run.env(*name, value));
    // Its own name, or we would be asked the same again.
    Ok(run.arg("setup").args(args).replace(Some(OsStr::new(env!("CARGO_PKG_NAME")))).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_file() {
        assert!(is_called_as_createos(Some(OsStr::new("/a/b/createos"))));
        assert!(is_called_as_createos(Some(OsStr::new("createos"))));
        assert!(!is_called_as_createos(Some(OsStr::new("createos-sandbox"))));
        assert!(!is_called_as_createos(None));
    }
}
