//! A fresh box: the upload becomes a workspace with one baseline commit, and the first base.

use super::script::{self, Script};
use super::{Remote, lying};
use crate::config::RemoteRoot;
use crate::error::Result;
use crate::worktree::Base;

/// Unpacks the uploaded gzip tar at `archive_in_box` into the empty workspace `root`, makes that a git
/// repository with one baseline commit and an identity, and moves the archive into the box's private
/// store, where it holds the base's contents. Gives the commit. May be repeated when an answer got lost. `progress` gets how far it is, in words.
///
/// # Errors
/// A program that the box lacks is named; so is a workspace that is not empty or cannot be written.
pub(crate) fn prepare(
    remote: &mut dyn Remote,
    root: &RemoteRoot,
    archive_in_box: &str,
    base: &Base,
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    let list = format!("/tmp/createos-sandbox-{}.base", script::token());
    let (bytes, hash) = script::packed(base);
    remote.push(&mut bytes.as_slice(), &list)?;
    let (hash, files) = (hash.to_string(), base.iter().count().to_string());
    let args = [archive_in_box, &list, &hash, &files];
    let said = script::run_long(remote, Script::Prepare, root, &args, progress)??;
    let commit = said.get("commit").unwrap_or_default();
    if commit.len() < 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(lying(format!("it names \"{commit}\" as the baseline commit")));
    }
    Ok(commit.to_owned())
}
