//! The files that a change writes: the bundled plugin's, a program's, and users' own.

use super::apply::Apply;
use super::ledger::Ledger;
use crate::error::{Error, IoContext, Result};
use crate::fs::{IfThere, Mode, kill_point, read_if_there, write_atomic};
use crate::setup::change::{BundleChange, FileChange};
use crate::setup::receipt::What;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

impl Apply<'_> {
    /// Brings the folder of the bundled plugin from `before` to `after`.
    pub(in crate::setup) fn write_bundle(
        &self,
        change: &BundleChange,
        ledger: &mut Ledger<'_>,
    ) -> Result<()> {
        let BundleChange { folder, before, after } = change;
        if !after.is_empty() {
            ledger.make(folder)?;
        }
        for (name, contents) in after {
            if before.get(name) != Some(contents) {
                write_atomic(&folder.join(name), contents, Mode::Shared)?;
            }
        }
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            let path = folder.join(name);
            if crate::fs::irregular(&path).is_some() {
                // Somebody else's: we write files.
                continue;
            }
            std::fs::remove_file(&path).if_there().at("remove", &path)?;
        }
        if after.is_empty() {
            // It stays when somebody has put something of his own into it.
            let _not_empty = std::fs::remove_dir(folder);
        }
        Ok(())
    }

    /// Writes a user's file, after a look whether it is still what the plan was made from.
    pub(in crate::setup) fn write_file(&self, change: &FileChange, ledger: &mut Ledger<'_>) -> Result<()> {
        let path = &change.path;
        let real = crate::fs::resolve(path)?;
        // A link may lead into a folder that is not there yet; the backup goes beside the link.
        for folder in [path.parent(), real.parent()].into_iter().flatten() {
            ledger.make(folder)?;
        }
        // Herdr rewrites its file too, without a lock: look again just before the write.
        if read_if_there(path)? != change.before {
            return Err(Error::failed(format!("{} changed meanwhile", self.paths.show(path)))
                .help("run the command again"));
        }
        if let (Some(backup), Some(before)) = (&change.backup, &change.before) {
            back_up(path, backup, before)?;
        }
        self.replace(change).inspect_err(|_not_written| drop_backup(change))
    }

    fn replace(&self, change: &FileChange) -> Result<()> {
        let path = &change.path;
        let Some(after) = &change.after else {
            return restore(path, None);
        };
        let mode = if change.what == What::Config { Mode::Private } else { Mode::Shared };
        write_atomic(path, after, mode)?;
        // Taking entries out cannot be what Herdr complains about.
        if change.added.is_some()
            && let Err(error) = self.check_keys()
        {
            return Err(match restore(path, change.before.as_deref()) {
                Ok(()) => error,
                Err(failed) => error.fact("not taken back", failed.message()),
            });
        }
        Ok(())
    }

    /// Gives a user's file back as it was.
    pub(in crate::setup) fn revert_file(&self, change: &FileChange) -> Result<()> {
        let FileChange { path, before, after, .. } = change;
        let now = read_if_there(path)?;
        // A change that failed may not have been made; and what somebody wrote since is his.
        if now != *before {
            if now != *after {
                return Err(Error::failed(format!("{} changed meanwhile", self.paths.show(path))));
            }
            restore(path, before.as_deref())?;
        }
        drop_backup(change);
        Ok(())
    }

    /// Herdr has to be as content as before: the difference of its diagnostics decides.
    fn check_keys(&self) -> Result<()> {
        let Some(herdr) = &self.herdr else { return Ok(()) };
        kill_point();
        let new = herdr.config_check()?.new_since(&self.diagnostics);
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
}

/// A copy with the original's mode.
fn back_up(path: &Path, backup: &Path, bytes: &[u8]) -> Result<()> {
    write_atomic(backup, bytes, Mode::Private)?;
    let mode = std::fs::metadata(path).at("read the mode of", path)?.permissions();
    std::fs::set_permissions(backup, mode).at("set the mode of", backup)
}

/// Nothing was changed, so no backup of it is wanted. One that cannot be removed does no harm.
fn drop_backup(change: &FileChange) {
    if let (Some(backup), Some(before)) = (&change.backup, &change.before)
        && read_if_there(backup).is_ok_and(|kept| kept.as_ref() == Some(before))
    {
        let _stays = std::fs::remove_file(backup);
    }
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
            std::fs::remove_file(&real).if_there().map(|_| ()).at("remove", &real)
        }
    }
}

/// A program may be running, so it is replaced and not overwritten; its mode stays.
pub(in crate::setup) fn write_program(path: &Path, bytes: &[u8]) -> Result<()> {
    match read_if_there(path)? {
        Some(now) if now == bytes => Ok(()),
        Some(_) => write_atomic(path, bytes, Mode::Shared),
        None => {
            write_atomic(path, bytes, Mode::Shared)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).at("set the mode of", path)
        }
    }
}
