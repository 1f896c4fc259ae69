//! What of the user's home goes into a box's home: `homeFiles`, and with `agentSettings` the agent's own list.

use crate::config::{Agent, Config, HomePath};
use crate::error::{Error, Result};
use crate::journey::{ProviderBox, Upload};
use crate::merge::Remote;
use crate::paths::Paths;
use crate::worktree::{self, RelPath, Rules, Selection};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// More is a mistake, in bytes.
const LARGEST: u64 = 50_000_000;

/// Unpacks the archive `$1` into the home.
const UNPACK: &str = r#"tar -xzf "$1" -C "$HOME" --no-same-owner; c=$?; rm -f -- "$1"; exit "$c""#;

/// The files, judged by their names; `None` where nothing is asked for.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn selection(config: &Config, agent: Agent, paths: &Paths) -> Result<Option<Selection>> {
    let own = agent.spec().settings.iter().filter(|_| config.agent_settings);
    let own = own.filter_map(|text| text.parse::<HomePath>().ok());
    let all: Vec<RelPath> =
        config.home_files.iter().cloned().chain(own).map(|home| home.path().clone()).collect();
    if all.is_empty() {
        return Ok(None);
    }
    worktree::chosen(paths.home(), &all, &Rules::default()).map(Some)
}

/// Those of `homeFiles` that are not there.
pub(crate) fn missing(config: &Config, paths: &Paths) -> Vec<String> {
    let is_missing = |home: &&HomePath| paths.home().join(home.path().as_path()).symlink_metadata().is_err();
    config.home_files.iter().filter(is_missing).map(ToString::to_string).collect()
}

/// Packs them, and what stays here, in words.
///
/// # Errors
/// They are too large, or the disk fails.
pub(crate) fn pack(
    selection: &Selection,
    folder: &Path,
    stop: Arc<AtomicBool>,
) -> Result<(Upload, Vec<String>)> {
    let less = || "name fewer of them in homeFiles of config.json".to_owned();
    let upload = Upload::pack(selection, folder, LARGEST, stop, &less, &mut |_, _| {})?;
    let stayed = upload.packed.stayed.iter();
    let words =
        stayed.map(|stayed| format!("~/{} ({})", stayed.path.display(), stayed.reason.words())).collect();
    Ok((upload, words))
}

/// Brings them into the box's home.
///
/// # Errors
/// The transfer fails, or the home cannot be written.
pub(crate) fn deliver(upload: &Upload, remote: &mut ProviderBox) -> Result<()> {
    upload.push(remote, &mut |_| {})?;
    match remote.exec(UNPACK, &[upload.place()])?.code {
        0 => Ok(()),
        _ => Err(Error::failed("the home files could not be unpacked in the box")
            .help("use an image whose user may write its own home")),
    }
}
