//! The base of a box whose start is not recorded here: one that the earlier plugin started, or whose record is lost.

use super::script::{self, Script, Stop};
use super::source::Source;
use super::spool::Spool;
use super::{Limits, Remote, lying};
use crate::config::RemoteRoot;
use crate::error::{IoContext, Result};
use crate::worktree::Base;
use std::fs::File;
use std::io::BufReader;

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
