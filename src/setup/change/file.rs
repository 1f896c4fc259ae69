//! A user's file: written after a last look, with a backup, and given back as it was.

use super::step::{Done, Line, Step, Work};
use crate::error::{Error, IoContext, Result};
use crate::fs::{IfThere, Mode, digest, kill_point, read_if_there, write_atomic};
use crate::keys::{Added, Patch};
use crate::paths::Paths;
use crate::setup::receipt::{KeysReceipt, NoticesReceipt, Receipt, UserFile, disk};
use std::path::{Path, PathBuf};

/// A user's file that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) what: UserFile,
    /// As its program reads it; links are followed when it is written.
    pub(crate) path: PathBuf,
    /// None when it does not exist.
    pub(crate) before: Option<Vec<u8>>,
    /// None when it goes.
    pub(crate) after: Option<Vec<u8>>,
    /// Where a copy of the old bytes is put, unless there is one already.
    pub(crate) backup: Option<PathBuf>,
    /// What happens, in a few words.
    pub(crate) summary: String,
    /// Bindings that this adds, for the receipt.
    pub(crate) added: Option<Added>,
    /// The edit that turns Herdr's notices on, for the receipt.
    pub(crate) notices: Option<Patch>,
    /// Commands whose older binding of ours this takes out.
    pub(crate) rebound: Vec<String>,
}

impl FileChange {
    /// A change without a backup, and of which the receipt knows no more than the bytes.
    pub(crate) fn new(
        what: UserFile,
        path: &Path,
        before: Option<Vec<u8>>,
        after: Option<Vec<u8>>,
        summary: impl Into<String>,
    ) -> Self {
        let (path, summary) = (path.to_path_buf(), summary.into());
        let (backup, added, notices) = (None, None, None);
        Self { what, path, before, after, backup, summary, added, notices, rebound: Vec::new() }
    }

    fn replace(&self, work: &Work<'_>) -> Result<()> {
        let path = &self.path;
        let Some(after) = &self.after else {
            return restore(path, None);
        };
        let mode = if self.what == UserFile::Config { Mode::Private } else { Mode::Shared };
        write_atomic(path, after, mode)?;
        // Taking entries out cannot be what Herdr complains about.
        if self.added.is_some()
            && let Err(error) = check_keys(work)
        {
            return Err(match restore(path, self.before.as_deref()) {
                Ok(()) => error,
                Err(failed) => error.fact("not taken back", failed.message()),
            });
        }
        Ok(())
    }

    /// Nothing was changed, so no backup of it is wanted. One that cannot be removed does no harm.
    fn drop_backup(&self) {
        if let (Some(backup), Some(before)) = (&self.backup, &self.before)
            && read_if_there(backup).is_ok_and(|kept| kept.as_ref() == Some(before))
        {
            let _stays = std::fs::remove_file(backup);
        }
    }
}

impl Step for FileChange {
    fn line(&self, paths: &Paths) -> Line {
        let verb = match (&self.before, &self.after) {
            (None, _) => "write",
            (Some(_), None) => "remove",
            (Some(_), Some(_)) => "edit",
        };
        let thing = match self.what {
            // Its path is long and known: herdr plugin config-dir prints it.
            UserFile::Config => "config.json".into(),
            UserFile::Keys => paths.show(&self.path),
        };
        let backup = self.backup.as_ref().map_or_else(String::new, |backup| {
            let name = backup.file_name().unwrap_or(backup.as_os_str());
            format!(", backup {}", name.to_string_lossy())
        });
        Line::new(verb, thing, format!("{}{backup}", self.summary))
    }

    fn diff(&self) -> Option<String> {
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8(bytes.clone().unwrap_or_default()).ok();
        let (before, after) = (text(&self.before)?, text(&self.after)?);
        let diff = similar::TextDiff::from_lines(&before, &after);
        Some(diff.unified_diff().context_radius(2).to_string())
    }

    fn begin(&self, receipt: &mut Receipt, paths: &Paths) -> Result<()> {
        let original = self.before.as_deref().map(|bytes| disk::keep_original(paths, bytes)).transpose()?;
        let after = self.after.as_deref().unwrap_or_default();
        if self.what == UserFile::Config {
            // Undo compares key by key when the file was changed since.
            disk::keep_original(paths, after)?;
        }
        receipt.note_file(self.what, &self.path, original, digest(after));
        for kept in receipt.keys.iter_mut().filter(|kept| kept.may_be_in(&self.path)) {
            kept.added.entries.retain(|entry| !self.rebound.contains(&entry.command));
        }
        receipt.keys.retain(|kept| !kept.added.entries.is_empty());
        let added = self.added.clone().map(|added| KeysReceipt { path: Some(self.path.clone()), added });
        receipt.keys.extend(added.filter(|added| !receipt.keys.contains(added)));
        let notices = self.notices.clone().map(|patch| NoticesReceipt { path: self.path.clone(), patch });
        receipt.notices.extend(notices);
        Ok(())
    }

    fn apply(&self, work: &mut Work<'_>) -> Result<Done> {
        let path = &self.path;
        let real = crate::fs::resolve(path)?;
        // A link may lead into a folder that is not there yet; the backup goes beside the link.
        for folder in [path.parent(), real.parent()].into_iter().flatten() {
            work.ledger.make(folder)?;
        }
        // Herdr rewrites its file too, without a lock: look again just before the write.
        if read_if_there(path)? != self.before {
            return Err(Error::failed(format!("{} changed meanwhile", work.paths.show(path)))
                .help("run the command again"));
        }
        if let (Some(backup), Some(before)) = (&self.backup, &self.before) {
            back_up(path, backup, before)?;
        }
        self.replace(work).inspect_err(|_not_written| self.drop_backup())?;
        Ok(Done::Made)
    }

    fn revert(&self, work: &mut Work<'_>) -> Result<()> {
        let now = read_if_there(&self.path)?;
        // A change that failed may not have been made, and what was written since is not ours to replace.
        if now != self.before {
            if now != self.after {
                return Err(Error::failed(format!("{} changed meanwhile", work.paths.show(&self.path))));
            }
            restore(&self.path, self.before.as_deref())?;
        }
        self.drop_backup();
        Ok(())
    }
}

/// Herdr has to be as content as before: the difference of its diagnostics decides.
fn check_keys(work: &Work<'_>) -> Result<()> {
    let Some(herdr) = &work.herdr else { return Ok(()) };
    kill_point();
    let new = herdr.config_check()?.new_since(&work.diagnostics);
    if new.is_empty() {
        return Ok(());
    }
    Err(Error::failed("Herdr does not accept the new config.toml, so the old one is back")
        .fact("herdr says", new.join("\n"))
        .help(format!(
            "add the bindings by hand; print them with: {}",
            crate::command::setup().flag("--no-keys")
        )))
}

/// A copy with the original's mode.
fn back_up(path: &Path, backup: &Path, bytes: &[u8]) -> Result<()> {
    write_atomic(backup, bytes, Mode::Private)?;
    let mode = std::fs::metadata(path).at("read the mode of", path)?.permissions();
    std::fs::set_permissions(backup, mode).at("set the mode of", backup)
}

/// Gives a file its old contents back, or removes it when there were none. A link stays.
fn restore(path: &Path, before: Option<&[u8]>) -> Result<()> {
    match before {
        Some(bytes) => write_atomic(path, bytes, Mode::Shared),
        None => {
            let real = crate::fs::resolve(path)?;
            if let Some(kind) = crate::fs::irregular(&real) {
                return Err(Error::failed(format!("{} is {kind}, not a regular file", real.display())));
            }
            std::fs::remove_file(&real).if_there().map(|_gone| ()).at("remove", &real)
        }
    }
}
