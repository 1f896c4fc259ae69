//! The base of a box. A fresh one: the upload becomes a workspace with one baseline commit, and the first base. One whose
//! start is not recorded here, as the earlier plugin started it or its record is lost: the box is asked.

use super::script::{self, Script, Stop};
use super::source::Source;
use super::spool::Spool;
use super::{Limits, Remote, lying};
use crate::config::RemoteRoot;
use crate::error::{IoContext, Result};
use crate::worktree::{Base, Person};
use std::fs::File;
use std::io::BufReader;

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
    person: Option<&Person>,
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    let list = format!("/tmp/createos-sandbox-{}.base", script::token());
    let (bytes, hash) = script::packed(base);
    remote.push(&mut bytes.as_slice(), &list)?;
    let (hash, files) = (hash.to_string(), base.iter().count().to_string());
    let (name, email) = person.map_or(("", ""), |person| (&person.name, &person.email));
    let args = [archive_in_box, &list, &hash, &files, name, email];
    let said = script::run_long(remote, Script::Prepare, root, &args, progress)??;
    let commit = said.get("commit").unwrap_or_default();
    if commit.len() < 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(lying(format!("it names \"{commit}\" as the baseline commit")));
    }
    Ok(commit.to_owned())
}

/// What the box says that it was started from; nothing, when it does not know: then what is equal on both sides is in
/// step, and everything else is new. Every record is judged, as any other word of a box.
///
/// # Errors
/// The box cannot be asked, or its answer cannot be trusted.
pub(crate) fn adopt(remote: &mut dyn Remote, root: &RemoteRoot) -> Result<Base> {
    Ok(ask(remote, root)??)
}

/// How many files of a box differ from what it says that it was started from; nothing when it has no workspace.
///
/// # Errors
/// The box cannot be asked, or its answer cannot be trusted.
pub(crate) fn changed_there(remote: &mut dyn Remote, root: &RemoteRoot) -> Result<Option<usize>> {
    let base = match ask(remote, root)? {
        Ok(base) => base,
        Err(stop) if stop.why == "gone" => return Ok(None),
        Err(stop) => return Err(stop.into()),
    };
    let mut source = Source { remote, root, limits: Limits::default() };
    let (parcel, _) = source.settled(&base, &Spool::new()?)?;
    Ok(Some(parcel.paths(&base).count() + parcel.unreadable.len() + parcel.odd.len()))
}

fn ask(remote: &mut dyn Remote, root: &RemoteRoot) -> Result<Result<Base, Stop>> {
    let said = match script::run(remote, Script::Adopt, root, &[&script::token()])? {
        Ok(said) => said,
        Err(stop) => return Ok(Err(stop)),
    };
    let list = script::box_path(&said, "list")?;
    let spool = Spool::new()?;
    let path = Source { remote, root, limits: Limits::default() }.pull(&list, &spool)?;
    let base = Base::read(&mut BufReader::new(File::open(&path).at("open", &path)?));
    base.map(Ok).map_err(|source| lying(format!("its base cannot be read: {source}")))
}
