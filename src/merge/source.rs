//! The box as the source of work: what differs from the base, and the contents of both.

use super::parcel::{self, Bad, Parcel};
use super::script::{self, Script};
use super::spool::Spool;
use super::{Limits, Remote, lying};
use crate::config::RemoteRoot;
use crate::error::{Error, IoContext, Result};
use crate::fs::Digest;
use crate::worktree::{Base, FileKind, RelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;

/// How often a box that works meanwhile is asked again.
const TRIES: usize = 3;

/// A box with its workspace, and how much may come from it.
pub(super) struct Source<'a> {
    pub(super) remote: &'a mut dyn Remote,
    pub(super) root: &'a RemoteRoot,
    pub(super) limits: Limits,
}

impl Source<'_> {
    /// What differs from the base, once the box stands still, and the token of that parcel.
    ///
    /// # Errors
    /// It does not, or cannot be asked, or its answer cannot be trusted.
    pub(super) fn settled(&mut self, base: &Base, spool: &Spool) -> Result<(Parcel, String)> {
        let mut why = None;
        for _ in 0..TRIES {
            let token = script::token();
            let parcel = self.theirs(base, &token, spool);
            match parcel.and_then(|parcel| self.prove_gone(&parcel.gone).map(|()| parcel)) {
                Ok(parcel) => return Ok((parcel, token)),
                Err(Bad::Refused(error)) => return Err(error),
                Err(moving) => why = Some(moving),
            }
        }
        Err(match why {
            Some(Bad::Hidden(path, count)) => Error::failed(format!(
                "{} that the box's own list says are deleted are still on its disk, nothing was changed",
                crate::ui::count(count as u64, "file")
            ))
            .fact(if count == 1 { "file" } else { "for example" }, path.to_string())
            .help("git or find in the box is broken or not the real one; see in the box: type -a git find sort comm"),
            why => {
                let path = if let Some(Bad::Moving(path)) = why { path.to_string() } else { String::new() };
                Error::failed("the box's files do not match its own list, nothing was changed")
                    .fact("file", path)
                    .help("if a program in the box is writing it, wait for that and do it again")
            }
        })
    }

    /// A deletion is believed when the disk itself proves it, by words of the shell alone.
    fn prove_gone(&mut self, gone: &BTreeSet<RelPath>) -> Result<(), Bad> {
        if gone.is_empty() {
            return Ok(());
        }
        let list = format!("/tmp/createos-sandbox-{}.gone", script::token());
        let bytes: Vec<u8> = gone.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        self.remote.push(&mut bytes.as_slice(), &list)?;
        let said = script::run(self.remote, Script::Gone, self.root, &[&list])?.map_err(Error::from)?;
        match (said.number("looked"), said.number("there")) {
            (Some(looked), Some(0)) if looked == gone.len() => Ok(()),
            (Some(looked), Some(there)) if looked == gone.len() => {
                let first = said.number("first").and_then(|first| gone.iter().nth(first.checked_sub(1)?));
                match first.or_else(|| gone.first()) {
                    Some(path) => Err(Bad::Hidden(path.clone(), there)),
                    None => Ok(()),
                }
            }
            _ => {
                Err(Bad::Refused(lying("it does not prove that the files are gone that it lists as deleted")))
            }
        }
    }

    fn theirs(&mut self, base: &Base, token: &str, spool: &Spool) -> Result<Parcel, Bad> {
        let (bytes, hash) = script::packed(base);
        let (list, hash) = (format!("/tmp/createos-sandbox-{token}.base"), hash.to_string());
        let (contents, packed) = (self.limits.contents.to_string(), self.limits.parcel.to_string());
        let args = [token, &list, &hash, &contents, &packed];
        let said = match script::run(self.remote, Script::List, self.root, &args)? {
            // The box has another base than we, for example after an undo: it gets ours.
            Err(stop) if stop.why == "list" => {
                self.remote.push(&mut bytes.as_slice(), &list)?;
                script::run(self.remote, Script::List, self.root, &args)?
            }
            said => said,
        };
        let said = said.map_err(Error::from)?;
        if said.get("parcel") == Some("none") {
            return Ok(Parcel::default());
        }
        let path = self.pull(&script::box_path(&said, "parcel")?, spool)?;
        let parcel = parcel::read(&path, self.root, base, &self.limits, spool);
        std::fs::remove_file(&path).at("remove", &path)?;
        parcel
    }

    pub(super) fn pull(&mut self, path: &str, spool: &Spool) -> Result<PathBuf> {
        let local = spool.fresh();
        let mut file = File::create_new(&local).at("create", &local)?;
        self.remote.pull(path, &mut file, self.limits.parcel)?;
        Ok(local)
    }

    /// The base's contents of some paths, as far as the box still has them: by the number in `wanted`.
    ///
    /// # Errors
    /// The box cannot be asked, or its answer cannot be read.
    pub(super) fn base_contents<'a>(
        &mut self,
        base: &Base,
        paths: impl Iterator<Item = &'a RelPath>,
        spool: &Spool,
    ) -> Result<BTreeMap<RelPath, PathBuf>> {
        let file = |path| base.get(path).filter(|was| was.kind != FileKind::Link);
        let wanted: Vec<_> = paths.filter_map(|path| Some((path, file(path)?.hash))).collect();
        if wanted.is_empty() {
            return Ok(BTreeMap::new());
        }
        let token = script::token();
        let list = format!("/tmp/createos-sandbox-{token}.wanted");
        let record = |(path, hash): &(&RelPath, Digest)| {
            [format!("{hash} ").as_bytes(), path.as_bytes(), b"\0"].concat()
        };
        let bytes: Vec<u8> = wanted.iter().flat_map(record).collect();
        self.remote.push(&mut bytes.as_slice(), &list)?;
        let said = script::run(self.remote, Script::Contents, self.root, &[&token, &list])??;
        let path = self.pull(&script::box_path(&said, "parcel")?, spool)?;
        let hashes: Vec<Digest> = wanted.iter().map(|(_, hash)| *hash).collect();
        let found = parcel::read_contents(&path, &hashes, &self.limits, spool)?;
        Ok(found.into_iter().map(|(number, contents)| (wanted[number].0.clone(), contents)).collect())
    }
}

/// Tells the box that its parcel `token` came home and what the base is now, so that the next merge
/// finds the contents that it starts from.
///
/// # Errors
/// The box cannot be asked.
pub(super) fn keep(remote: &mut dyn Remote, root: &RemoteRoot, token: &str, base: &Base) -> Result<()> {
    let list = format!("/tmp/createos-sandbox-{token}.kept");
    remote.push(&mut script::packed(base).0.as_slice(), &list)?;
    let said = script::run(remote, Script::Keep, root, &[token, &list])??;
    match said.get("kept") {
        Some("yes") => Ok(()),
        _ => Err(lying("it does not say that it kept the base")),
    }
}
