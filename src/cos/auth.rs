//! `cos auth`: with which credential boxes are made. Nobody is asked, and no value is read.

use super::program;
use super::providers::{Providers, signed_out};
use super::say::say;
use crate::config::ProviderKind;
use crate::error::Result;
use crate::exit::Exit;

/// Says it.
///
/// # Errors
/// Nobody is signed in, or what `COS_CLI` names is no program.
pub(super) fn auth(providers: &Providers) -> Result<Exit> {
    match providers.kind {
        ProviderKind::Local => say("boxes on this machine: no sign-in is needed"),
        ProviderKind::Createos => {
            let source = providers.credentials().winner().ok_or_else(signed_out)?;
            say(format!("signed in via {source}"));
            if program::find(&providers.paths)?.is_none() {
                say("createos is not on PATH: the first call that makes a box installs it");
            }
        }
    }
    Ok(Exit::DONE)
}
