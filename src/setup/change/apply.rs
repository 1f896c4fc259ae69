//! Carries out a plan: each change completely or not at all; a failure takes back the ones before it, last
//! first, and what cannot be taken back is named.

use super::ledger::Ledger;
use super::leftovers;
use super::registration::Registered;
use super::write::write_program;
use crate::command::{self, Command};
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use crate::fs::{digest, kill_point};
use crate::herdr::{Diagnostics, Herdr, Manifest};
use crate::paths::Paths;
use crate::setup::change::{BuildChange, BundleChange, Change, FileChange, PluginChange, ProgramChange};
use crate::setup::receipt::way;
use crate::setup::receipt::{self, KeysReceipt, NoticesReceipt, ProgramReceipt, Receipt, State, What};
use crate::ui;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What is said when a signal ends a run that has begun to change something.
static HALF_WAY: Mutex<Option<String>> = Mutex::new(None);

/// Says on stderr how a run that is ended now is finished or taken back.
pub(crate) fn last_words() {
    let words = HALF_WAY.lock().unwrap_or_else(PoisonError::into_inner).take();
    words.into_iter().for_each(ui::note);
}

/// Everything that applying needs.
pub(crate) struct Apply<'a> {
    /// The paths.
    pub(crate) paths: &'a Paths,
    /// Herdr; none when an undo finds none and does not need it.
    pub(crate) herdr: Option<Herdr>,
    /// What Herdr said about `config.toml` before.
    pub(crate) diagnostics: Diagnostics,
    /// The command that finishes the run if it is ended half way.
    pub(crate) again: Command,
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

/// What became of a change.
enum Done {
    /// It is made, and this run's to take back.
    Made,
    /// It was made already.
    Already,
    /// It is made but for this, which keeps nothing else from being made.
    Short(Error),
}

/// Lives while a run changes something.
struct HalfWay;

impl HalfWay {
    fn begin(purpose: Purpose, again: &Command) -> Self {
        let undo = command::setup().flag("--undo");
        Self::say(Some(match purpose {
            Purpose::Setup => {
                format!("stopped half way; finish it with: {again}\nor take it back with: {undo}")
            }
            Purpose::Undo => format!("stopped half way; finish it with: {undo}"),
        }));
        Self
    }

    fn say(words: Option<String>) {
        *HALF_WAY.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }
}

impl Drop for HalfWay {
    fn drop(&mut self) {
        Self::say(None);
    }
}

impl Apply<'_> {
    /// Applies the changes in order. An undo may come out short: what it could not bring back is said, each with
    /// the command that does.
    ///
    /// # Errors
    /// A change failed; those before it were taken back, or the error says which were not.
    pub(crate) fn run(
        &self,
        changes: &[Change],
        before: Option<Receipt>,
        purpose: Purpose,
    ) -> Result<Vec<Error>> {
        self.sweep(changes, before.as_ref());
        let _half_way = HalfWay::begin(purpose, &self.again);
        let mut ledger = Ledger::new(self.paths, before.clone(), purpose);
        let prepared = match purpose {
            Purpose::Setup => self.prepare(changes, &mut ledger),
            Purpose::Undo if before.is_some() => ledger.write(),
            // What it does can be seen: an undo that is killed is finished by the next one.
            Purpose::Undo => Ok(()),
        };
        if let Err(error) = prepared {
            return Err(self.roll_back(&[], before, &mut ledger, error));
        }
        kill_point();
        let (mut done, mut short) = (Vec::new(), Vec::new());
        for change in changes {
            match self.apply(change, purpose, &mut ledger) {
                Ok(Done::Already) => {}
                Ok(Done::Made) => done.push(change),
                Ok(Done::Short(error)) => {
                    done.push(change);
                    short.push(error);
                }
                Err(error) => {
                    // Half of it may be done.
                    done.extend(change.may_be_half().then_some(change));
                    return Err(self.roll_back(&done, before, &mut ledger, error));
                }
            }
            kill_point();
        }
        match purpose {
            Purpose::Setup => {
                ledger.receipt.state = State::Complete;
                if let Err(error) = ledger.write() {
                    return Err(self.roll_back(&done, before, &mut ledger, error));
                }
            }
            Purpose::Undo if before.is_some() => way::remove_with_folders(&ledger.receipt, self.paths)?,
            Purpose::Undo => {}
        }
        Ok(short)
    }

    /// The receipt and the originals. The receipt comes first, so that nothing is ever kept that no undo knows of.
    fn prepare(&self, changes: &[Change], ledger: &mut Ledger<'_>) -> Result<()> {
        let herdr_config = crate::setup::observe::files::absolute(self.paths.herdr_config_dir());
        ledger.receipt.herdr_config.get_or_insert(herdr_config);
        ledger.open()?;
        ledger.receipt = self.begin(ledger.receipt.clone(), changes)?;
        ledger.write()
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
        folders.extend(way::folders(self.paths));
        for staged in folders.iter().flat_map(|folder| way::staged_in(folder, self.paths)) {
            let _stays_until_the_next_run = way::remove_staged(&staged, self.paths);
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
                    let path = || change.path.clone();
                    receipt
                        .notices
                        .extend(change.notices.clone().map(|patch| NoticesReceipt { path: path(), patch }));
                }
                Change::Plugin(change) => receipt.note_plugin(change),
                Change::Build(BuildChange { createos: Some(path), .. }) if receipt.program.is_none() => {
                    let bytes = std::fs::read(path).at("read", path)?;
                    let original = receipt::keep_original(self.paths, &bytes)?;
                    receipt.program = Some(ProgramReceipt { path: path.clone(), original });
                }
                Change::Build(_) | Change::Bundle(_) | Change::Program(_) | Change::Leftover(_) => {}
            }
        }
        Ok(receipt)
    }

    fn apply(&self, change: &Change, purpose: Purpose, ledger: &mut Ledger<'_>) -> Result<Done> {
        let done = match change {
            Change::Bundle(change) => self.write_bundle(change, ledger),
            Change::Plugin(PluginChange { from, to, .. }) => {
                return Ok(match self.register(from, to, purpose)? {
                    Registered::Already => Done::Already,
                    Registered::Now => Done::Made,
                    Registered::GoneOnly(error) => Done::Short(error),
                });
            }
            Change::Build(build) => self.build(build).map_err(|error| {
                crate::exec::stay_when_ending();
                match self.revert(change, ledger) {
                    Ok(()) => error,
                    Err(failed) => error.fact("not taken back", failed.message()),
                }
            }),
            Change::Program(change) => write_program(&change.path, &change.after),
            Change::File(change) => self.write_file(change, ledger),
            Change::Leftover(path) => leftovers::remove(path, self.paths),
        };
        done.map(|()| Done::Made)
    }

    fn revert(&self, change: &Change, ledger: &mut Ledger<'_>) -> Result<()> {
        match change {
            Change::Bundle(BundleChange { folder, before, after }) => {
                let back =
                    BundleChange { folder: folder.clone(), before: after.clone(), after: before.clone() };
                self.write_bundle(&back, ledger)
            }
            Change::Plugin(PluginChange { from, to, .. }) => {
                self.register(to, from, Purpose::Setup).map(|_made| ())
            }
            // The build changed nothing of ours; the program that it may have replaced is given back.
            Change::Build(BuildChange { createos, .. }) => match (createos, &ledger.receipt.program) {
                (Some(path), Some(kept)) if *path == kept.path => {
                    write_program(path, &receipt::original(self.paths, kept.original)?)
                }
                _ => Ok(()),
            },
            Change::Program(ProgramChange { path, before, .. }) => match before {
                Some(before) => write_program(path, before),
                None => Ok(()),
            },
            Change::File(change) => self.revert_file(change),
            // Nobody wants it back.
            Change::Leftover(_) => Ok(()),
        }
    }

    /// Takes back what was done, last first, and adds to the error what could not be.
    fn roll_back(
        &self,
        done: &[&Change],
        before: Option<Receipt>,
        ledger: &mut Ledger<'_>,
        error: Error,
    ) -> Error {
        // What a signal ended is not taken back in the moment that is left: the last words say what is so.
        crate::exec::stay_when_ending();
        let mut stuck = Vec::new();
        for change in done.iter().rev() {
            if let Err(failed) = self.revert(change, ledger) {
                let line = change.line(self.paths);
                stuck.push(format!("{} {}: {failed}", line.verb, line.thing));
            }
        }
        if !stuck.is_empty() {
            let error = error.fact("not taken back", stuck.join("; "));
            let undo = command::setup().flag("--undo");
            return error.help(format!("take the rest back with: {undo}"));
        }
        let cleared = match &before {
            Some(receipt) => receipt.write(self.paths),
            None if ledger.purpose() == Purpose::Undo => Ok(()),
            None => way::remove_receipt(&ledger.receipt, self.paths),
        };
        // Those of this run only, and only when they are empty.
        ledger.remove_made();
        match cleared {
            Ok(()) if done.is_empty() => error.fact("nothing was changed", "it failed at the first step"),
            Ok(()) => error.fact("taken back", "everything that was changed before it"),
            Err(failed) => error.fact("the receipt stays", failed.message()),
        }
    }

    fn build(&self, change: &BuildChange) -> Result<()> {
        // With a JSON document on stdout the output goes to stderr, as it comes.
        let words: &[&str] = if self.quiet { &["-c", "exec sh build.sh >&2"] } else { &["build.sh"] };
        let ended = Run::new("sh").args(words).cwd(&change.root).interactive().run()?;
        if ended.success() {
            return match missing_file(&change.root)? {
                None => Ok(()),
                Some(missing) => Err(Error::failed("the build did not make what the plugin's manifest runs")
                    .fact("missing", missing)
                    .fact("in", self.paths.show(&change.root))),
            };
        }
        let script = change.root.join("build.sh");
        Err(Error::failed(format!("{} ended with {}", self.paths.show(&script), ended.code())))
    }
}

/// What the manifest of the checkout in `root` starts and is not there: a program, or the script of an interpreter.
///
/// # Errors
/// The manifest cannot be read any more.
pub(in crate::setup) fn missing_file(root: &Path) -> Result<Option<String>> {
    let manifest = Manifest::read(root).map_err(|bad| Error::failed(bad.to_string()))?;
    let script = manifest.files().into_iter().find(|file| !root.join(file).is_file());
    let program = || manifest.programs().into_iter().find(|name| Manifest::resolve(root, name).is_none());
    Ok(script.or_else(program).map(str::to_owned))
}
