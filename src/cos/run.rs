//! A command in a box, followed to its end: its output on our stdout, its exit code ours.

use super::say::say;
use crate::config::ProviderKind;
use crate::createos::{BoxId, BoxRun, Provider, RunNews, Unfollowed};
use crate::error::{Error, Result};
use crate::ui;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};

/// A program that the shell did not find.
const NOT_FOUND: u8 = 127;
/// A reader of ours that has gone away: as a shell reports SIGPIPE.
pub(super) const PIPE: u8 = 128 + 13;

/// The words of a command as one line: joined by blanks.
///
/// # Errors
/// There is nothing in it.
pub(super) fn line(words: &[OsString]) -> Result<OsString> {
    let line = words.join(OsStr::new(" "));
    if line.as_encoded_bytes().trim_ascii().is_empty() {
        return Err(Error::usage("the command is blank").help("such as: make test"));
    }
    Ok(line)
}

/// Follows a run to its end with its output on stdout.
///
/// # Errors
/// As [`Provider::follow`].
pub(super) fn to_stdout(provider: &Provider, id: &BoxId, run: &mut BoxRun) -> Result<u8, Unfollowed> {
    follow(provider, id, run, "", &mut |bytes| ui::raw(bytes))
}

/// The same with its output elsewhere; `who` stands before what is said meanwhile.
///
/// # Errors
/// As [`Provider::follow`].
pub(super) fn follow(
    provider: &Provider,
    id: &BoxId,
    run: &mut BoxRun,
    who: &str,
    output: &mut (dyn FnMut(&[u8]) -> io::Result<()> + Send),
) -> Result<u8, Unfollowed> {
    let mut lost = false;
    let mut silent = 0;
    let code = provider.follow(id, run, &mut |news| match news {
        RunNews::Output(bytes) => {
            (lost, silent) = (false, 0);
            output(bytes)
        }
        RunNews::Quiet => {
            silent += 1;
            lost = false;
            say(format!("{who}no output for {} s; the command runs on", 60 * silent));
            Ok(())
        }
        RunNews::Lost(_) if std::mem::replace(&mut lost, true) => Ok(()),
        RunNews::Lost(failure) => {
            say(format!(
                "{who}the connection to the box is lost; the command runs on there ({})",
                failure.words
            ));
            Ok(())
        }
    })?;
    if code == NOT_FOUND && provider.kind() == ProviderKind::Local {
        say(format!("{who}a local box has only the programs of this machine that are below /usr"));
    }
    Ok(code)
}

/// Whether a run was left because nobody reads its output any more.
pub(super) fn is_unread(why: &Unfollowed) -> bool {
    matches!(why, Unfollowed::Output(source) if source.kind() == ErrorKind::BrokenPipe)
}
