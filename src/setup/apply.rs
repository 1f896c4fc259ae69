//! Carries out a plan: each change completely or not at all; a failure takes back the ones before it, last
//! first, and what cannot be taken back is named.

use super::change::{BuildChange, BundleChange, Change, FileChange, PluginChange, ProgramChange};
use super::observe::registered;
use super::receipt::{self, KeysReceipt, PluginState, ProgramReceipt, Receipt, State, What};
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use crate::fs::{Mode, digest, kill_point, sweep_staged, write_atomic};
use crate::herdr::{Diagnostics, Herdr};
use crate::paths::{PLUGIN_ID, Paths};
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Everything that applying needs.
pub(crate) struct Apply<'a> {
    /// The paths.
    pub(crate) paths: &'a Paths,
    /// Herdr; none when an undo finds none and does not need it.
    pub(crate) herdr: Option<Herdr>,
    /// What Herdr said about `config.toml` before.
    pub(crate) diagnostics: Diagnostics,
    /// The build's output goes to stderr, since stdout is one JSON document.
    pub(crate) quiet: bool,
}

/// What a plan is applied for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To set up: a receipt is kept.
    Setup,
    /// To take back: the receipt goes at the end.
    Undo,
}

impl Apply<'_> {
    /// Applies the changes in order.
    ///
    /// # Errors
    /// A change failed; those before it were taken back, or the error says which were not.
    pub(crate) fn run(&self, changes: &[Change], before: Option<Receipt>, purpose: Purpose) -> Result<()> {
        self.sweep(changes, before.as_ref());
        let mut folders = Vec::new();
        let mut receipt = match purpose {
            Purpose::Setup => match self.prepare(changes, before.clone(), &mut folders) {
                Ok(receipt) => receipt,
                Err(error) => return Err(self.roll_back(&[], before, &folders, error)),
            },
            Purpose::Undo => {
                let receipt = Receipt { state: State::Applying, ..before.clone().unwrap_or_default() };
                receipt.write(self.paths)?;
                receipt
            }
        };
        kill_point();
        let mut done = Vec::new();
        for change in changes {
            match self.apply(change, &mut folders) {
                Ok(did) => done.extend(did.then_some(change)),
                Err(error) => {
                    // Half of it may be done.
                    done.extend(change.may_be_half().then_some(change));
                    return Err(self.roll_back(&done, before, &folders, error));
                }
            }
            kill_point();
        }
        match purpose {
            Purpose::Setup => {
                let new = folders.into_iter().filter(|folder| !receipt.folders.contains(folder));
                let new: Vec<_> = new.collect();
                receipt.folders.extend(new);
                receipt.state = State::Complete;
                receipt.write(self.paths)
            }
            Purpose::Undo => {
                Receipt::remove(self.paths)?;
                remove_folders(&receipt.folders);
                Ok(())
            }
        }
    }

    /// Folders, the receipt and the originals. The receipt comes first, so that nothing is ever kept that no
    /// undo knows of.
    fn prepare(
        &self,
        changes: &[Change],
        before: Option<Receipt>,
        folders: &mut Vec<PathBuf>,
    ) -> Result<Receipt> {
        self.make_folders(&self.paths.receipts(), 0o700, folders)?;
        if changes.iter().any(|change| matches!(change, Change::Bundle(_))) {
            self.make_folders(&self.paths.bundled_plugin(), 0o755, folders)?;
        }
        let mut receipt = Receipt { state: State::Applying, ..before.unwrap_or_default() };
        receipt.folders.extend(folders.iter().cloned());
        let herdr_config = super::files::absolute(self.paths.herdr_config_dir());
        receipt.herdr_config.get_or_insert(herdr_config);
        receipt.write(self.paths)?;
        let receipt = self.begin(receipt, changes)?;
        receipt.write(self.paths)?;
        Ok(receipt)
    }

    /// What a write that was killed left behind, now or in an earlier run.
    fn sweep(&self, changes: &[Change], before: Option<&Receipt>) {
        let changed = changes.iter().filter_map(|change| match change {
            Change::File(FileChange { path, .. }) => Some(path),
            _ => None,
        });
        let earlier = before.iter().flat_map(|receipt| &receipt.files).map(|file| &file.path);
        let receipts = self.paths.receipts();
        let mut folders = vec![receipts.join("originals"), receipts, self.paths.bundled_plugin()];
        for path in changed.chain(earlier) {
            let real = crate::fs::resolve(path).ok();
            let parents = [Some(path.as_path()), real.as_deref()].into_iter().flatten();
            folders.extend(parents.filter_map(Path::parent).map(Path::to_path_buf));
        }
        for folder in folders {
            sweep_staged(&folder);
        }
    }

    /// The receipt with everything that is about to happen, and the originals beside it.
    fn begin(&self, mut receipt: Receipt, changes: &[Change]) -> Result<Receipt> {
        for change in changes {
            match change {
                Change::File(change) => {
                    let old = change.before.as_deref();
                    let original = old.map(|bytes| receipt::keep_original(self.paths, bytes)).transpose()?;
                    let after = change.after.as_deref().unwrap_or_default();
                    if change.what == What::Config {
                        // Undo compares key by key when somebody has changed the file.
                        receipt::keep_original(self.paths, after)?;
                    }
                    receipt.note_file(change.what, &change.path, original, digest(after));
                    for kept in receipt.keys.iter_mut().filter(|kept| kept.may_be_in(&change.path)) {
                        kept.added.entries.retain(|entry| !change.rebound.contains(&entry.command));
                    }
                    receipt.keys.retain(|kept| !kept.added.entries.is_empty());
                    let added = change.added.clone();
                    let added = added.map(|added| KeysReceipt { path: Some(change.path.clone()), added });
                    receipt.keys.extend(added.filter(|added| !receipt.keys.contains(added)));
                }
                Change::Plugin(change) => receipt.note_plugin(&change.from, &change.to),
                Change::Build(BuildChange { createos: Some(path), .. }) if receipt.program.is_none() => {
                    let bytes = std::fs::read(path).at("read", path)?;
                    let original = receipt::keep_original(self.paths, &bytes)?;
                    receipt.program = Some(ProgramReceipt { path: path.clone(), original });
                }
                Change::Build(_) | Change::Bundle(_) | Change::Program(_) => {}
            }
        }
        Ok(receipt)
    }

    /// Makes a change; false when it was made already, so that it is not this run's to take back.
    fn apply(&self, change: &Change, folders: &mut Vec<PathBuf>) -> Result<bool> {
        let done = match change {
            Change::Bundle(change) => {
                self.write_bundle(&change.folder, &change.before, &change.after, folders)
            }
            Change::Plugin(change) => return self.register(&change.from, &change.to),
            Change::Build(build) => self.build(build).map_err(|error| match self.revert(change) {
                Ok(()) => error,
                Err(failed) => error.fact("not taken back", failed.message()),
            }),
            Change::Program(change) => write_program(&change.path, &change.after),
            Change::File(change) => self.write_file(change, folders),
        };
        done.map(|()| true)
    }

    fn revert(&self, change: &Change) -> Result<()> {
        match change {
            Change::Bundle(BundleChange { folder, before, after }) => {
                self.write_bundle(folder, after, before, &mut Vec::new())
            }
            Change::Plugin(PluginChange { from, to }) => self.register(to, from).map(|_did| ()),
            // The build changed nothing of ours; the program that it may have replaced is given back.
            Change::Build(BuildChange { createos, .. }) => {
                let kept = Receipt::read(self.paths)?.and_then(|receipt| receipt.program);
                match (createos, kept) {
                    (Some(path), Some(kept)) if *path == kept.path => {
                        write_program(path, &receipt::original(self.paths, kept.original)?)
                    }
                    _ => Ok(()),
                }
            }
            Change::Program(ProgramChange { path, before, .. }) => match before {
                Some(before) => write_program(path, before),
                None => Ok(()),
            },
            Change::File(FileChange { path, before, after, .. }) => {
                let now = read(path)?;
                // A change that failed may not have been made; and what somebody wrote since is his.
                if now == *before {
                    return Ok(());
                }
                if now != *after {
                    return Err(Error::failed(format!("{} changed meanwhile", self.paths.show(path))));
                }
                restore(path, before.as_deref())
            }
        }
    }

    /// Takes back what was done, last first, and adds to the error what could not be.
    fn roll_back(
        &self,
        done: &[&Change],
        before: Option<Receipt>,
        folders: &[PathBuf],
        error: Error,
    ) -> Error {
        let mut stuck = Vec::new();
        for change in done.iter().rev() {
            if let Err(failed) = self.revert(change) {
                let line = change.line(self.paths);
                stuck.push(format!("{} {}: {failed}", line.verb, line.thing));
            }
        }
        if !stuck.is_empty() {
            let error = error.fact("not taken back", stuck.join("; "));
            return error.help("take the rest back with: createos-sandbox setup herdr --undo");
        }
        let cleared = match &before {
            Some(receipt) => receipt.write(self.paths),
            None => Receipt::remove(self.paths),
        };
        // Those of this run only, and only when they are empty.
        remove_folders(folders);
        match cleared {
            Ok(()) if done.is_empty() => error.fact("nothing was changed", "it failed at the first step"),
            Ok(()) => error.fact("taken back", "everything that was changed before it"),
            Err(failed) => error.fact("the receipt stays", failed.message()),
        }
    }

    fn write_bundle(
        &self,
        folder: &Path,
        before: &BTreeMap<&'static str, Vec<u8>>,
        after: &BTreeMap<&'static str, Vec<u8>>,
        folders: &mut Vec<PathBuf>,
    ) -> Result<()> {
        if !after.is_empty() {
            self.make_folders(folder, 0o755, folders)?;
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
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                result => result.at("remove", &path)?,
            }
        }
        if after.is_empty() {
            // It stays when somebody has put something of his own into it.
            let _not_empty = std::fs::remove_dir(folder);
        }
        Ok(())
    }

    /// Brings the registration from one state to another; false when it was there already. What is there now decides about the steps, since a
    /// run that was killed may have done some of them.
    fn register(&self, from: &PluginState, to: &PluginState) -> Result<bool> {
        let herdr = self.herdr.as_ref().ok_or_else(|| {
            Error::failed("herdr is not there to change its plugins")
                .help("install it from https://herdr.dev")
        })?;
        let now = self.state_now()?;
        let is = |state: &PluginState| now.is_at(state) && now.enabled() == state.enabled();
        if is(to) {
            return Ok(false);
        }
        if !is(from) && now != PluginState::Absent {
            return Err(Error::failed("the plugin was registered anew meanwhile")
                .fact("it was", from.to_string())
                .fact("it is", now.to_string())
                .help("run the command again"));
        }
        let outcome = self.step(herdr, &now, to);
        if outcome.is_err() {
            // Half a replacement is no change: give the old one back.
            let there = self.state_now()?;
            if there != now
                && let Err(back) = self.step(herdr, &there, &now)
            {
                return outcome
                    .map(|()| true)
                    .map_err(|error| error.fact("not taken back", format!("it was {now}: {back}")));
            }
        }
        outcome.map(|()| true)
    }

    fn step(&self, herdr: &Herdr, now: &PluginState, to: &PluginState) -> Result<()> {
        let crosses = matches!(
            (now, to),
            (PluginState::Github { .. }, PluginState::Linked { .. })
                | (PluginState::Linked { .. }, PluginState::Github { .. })
        );
        if crosses || (*to == PluginState::Absent && *now != PluginState::Absent) {
            herdr.uninstall(PLUGIN_ID)?;
            kill_point();
        }
        match to {
            PluginState::Absent => Ok(()),
            PluginState::Linked { root, enabled } => herdr.link(root, *enabled),
            PluginState::Github { source, enabled } => {
                herdr.install(source)?;
                if *enabled { Ok(()) } else { herdr.disable(PLUGIN_ID) }
            }
        }
    }

    fn state_now(&self) -> Result<PluginState> {
        let registry = self.paths.herdr_config_dir().join("plugins.json");
        let now = registered(&registry, PLUGIN_ID).map_err(Error::failed)?;
        Ok(PluginState::of(now.as_ref().map(|registered| &registered.plugin)))
    }

    fn build(&self, change: &BuildChange) -> Result<()> {
        // With a JSON document on stdout the output goes to stderr, as it comes.
        let words: &[&str] = if self.quiet { &["-c", "exec sh build.sh >&2"] } else { &["build.sh"] };
        let ended = Run::new("sh").args(words).cwd(&change.root).interactive().run()?;
        if ended.success() {
            return Ok(());
        }
        let script = change.root.join("build.sh");
        Err(Error::failed(format!("{} ended with {}", self.paths.show(&script), ended.code())))
    }

    fn write_file(&self, change: &FileChange, folders: &mut Vec<PathBuf>) -> Result<()> {
        let path = &change.path;
        if let Some(folder) = path.parent() {
            self.make_folders(folder, 0o755, folders)?;
        }
        // Herdr rewrites its file too, without a lock: look again just before the write.
        if read(path)? != change.before {
            return Err(Error::failed(format!("{} changed meanwhile", self.paths.show(path)))
                .help("run the command again"));
        }
        if let (Some(backup), Some(before)) = (&change.backup, &change.before) {
            back_up(path, backup, before)?;
        }
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
            .help("add the bindings by hand; print them with: createos-sandbox setup herdr --no-keys"))
    }

    /// Makes a folder with its parents, and remembers those that were not there.
    fn make_folders(&self, folder: &Path, mode: u32, made: &mut Vec<PathBuf>) -> Result<()> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .collect();
        for folder in missing.into_iter().rev() {
            // Only the innermost one is ours alone.
            let mode = if folder.starts_with(self.paths.receipts()) { mode } else { 0o755 };
            std::fs::DirBuilder::new().mode(mode).create(folder).at("create the folder", folder)?;
            made.push(folder.to_path_buf());
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match crate::fs::read_regular(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path, &error)),
    }
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
            match std::fs::remove_file(&real) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                result => result.at("remove", &real),
            }
        }
    }
}

/// A program may be running, so it is replaced and not overwritten; its mode stays.
fn write_program(path: &Path, bytes: &[u8]) -> Result<()> {
    match read(path)? {
        Some(now) if now == bytes => Ok(()),
        Some(_) => write_atomic(path, bytes, Mode::Shared),
        None => {
            use std::os::unix::fs::PermissionsExt;
            write_atomic(path, bytes, Mode::Shared)?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).at("set the mode of", path)
        }
    }
}

/// Removes folders that setup made, unless something is in them now.
fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _in_use_or_gone = std::fs::remove_dir(folder);
    }
}
