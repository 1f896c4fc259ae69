//! Carries out a plan: each change completely or not at all; a failure takes back the ones before it, last
//! first, and what cannot be taken back is named.

use super::ledger::{Ledger, Purpose};
use super::step::{Done, Work};
use super::{Change, FileChange};
use crate::command::{self, Command};
use crate::error::{Error, Result};
use crate::fs::kill_point;
use crate::paths::Paths;
use crate::setup::observe::files::absolute;
use crate::setup::receipt::{Progress, Receipt, disk};
use crate::ui;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Applies the changes in order, after the setup of the receipt `before`. An undo may come out short: what it could
/// not bring back is said, each with the command that does. `again` finishes a run that is ended half way.
///
/// # Errors
/// A change failed; those before it were taken back, or the error says which were not.
pub(crate) fn apply(
    changes: &[Change],
    before: Option<Receipt>,
    mut work: Work<'_>,
    again: &Command,
) -> Result<Vec<Error>> {
    let (paths, purpose) = (work.paths, work.ledger.purpose());
    sweep(changes, before.as_ref(), paths);
    let _half_way = HalfWay::begin(purpose, again);
    let prepared = match purpose {
        Purpose::Setup => prepare(changes, &mut work.ledger, paths),
        Purpose::Undo if before.is_some() => work.ledger.write(),
        // Without a receipt an undo works from what is there, so one that is killed is finished by the next.
        Purpose::Undo => Ok(()),
    };
    if let Err(error) = prepared {
        return Err(roll_back(&[], before, &mut work, error));
    }
    kill_point();
    let (mut done, mut short) = (Vec::new(), Vec::new());
    for change in changes {
        match change.step().apply(&mut work) {
            Ok(Done::Already) => {}
            Ok(Done::Made) => done.push(change),
            Ok(Done::Short(error)) => {
                done.push(change);
                short.push(error);
            }
            Err(error) => {
                done.extend(change.step().may_be_half().then_some(change));
                return Err(roll_back(&done, before, &mut work, error));
            }
        }
        kill_point();
    }
    match purpose {
        Purpose::Setup => {
            work.ledger.receipt.state = Progress::Complete;
            if let Err(error) = work.ledger.write() {
                return Err(roll_back(&done, before, &mut work, error));
            }
        }
        Purpose::Undo if before.is_some() => disk::remove_with_folders(&work.ledger.receipt, paths)?,
        Purpose::Undo => {}
    }
    Ok(short)
}

/// The receipt and the originals. The receipt comes first, so that nothing is ever kept that no undo knows of.
fn prepare(changes: &[Change], ledger: &mut Ledger<'_>, paths: &Paths) -> Result<()> {
    ledger.receipt.herdr_config.get_or_insert(absolute(paths.herdr_config_dir()));
    ledger.open()?;
    let mut receipt = ledger.receipt.clone();
    changes.iter().try_for_each(|change| change.step().begin(&mut receipt, paths))?;
    ledger.receipt = receipt;
    ledger.write()
}

/// What a write that was killed left behind, now or in an earlier run.
fn sweep(changes: &[Change], before: Option<&Receipt>, paths: &Paths) {
    let changed = changes.iter().filter_map(|change| match change {
        Change::File(FileChange { path, .. }) => Some(path),
        _ => None,
    });
    let earlier = before.iter().flat_map(|receipt| &receipt.files).map(|file| &file.path);
    let receipts = paths.receipts();
    let mut folders = vec![receipts.join("originals"), receipts, paths.bundled_plugin()];
    for path in changed.chain(earlier) {
        let real = crate::fs::resolve(path).ok();
        let parents = [Some(path.as_path()), real.as_deref()].into_iter().flatten();
        folders.extend(parents.filter_map(Path::parent).map(Path::to_path_buf));
    }
    folders.extend(disk::folders(paths));
    for staged in folders.iter().flat_map(|folder| disk::staged_in(folder, paths)) {
        let _stays_until_the_next_run = disk::remove_staged(&staged, paths);
    }
}

/// Takes back what was done, last first, and adds to the error what could not be.
fn roll_back(done: &[&Change], before: Option<Receipt>, work: &mut Work<'_>, error: Error) -> Error {
    // What a signal ended is not taken back in the moment that is left: the last words say what is so.
    crate::exec::stay_when_ending();
    let mut stuck = Vec::new();
    for change in done.iter().rev() {
        if let Err(failed) = change.step().revert(work) {
            let line = change.step().line(work.paths);
            stuck.push(format!("{} {}: {failed}", line.verb, line.thing));
        }
    }
    if !stuck.is_empty() {
        let error = error.fact("not taken back", stuck.join("; "));
        let undo = command::setup().flag("--undo");
        return error.help(format!("take the rest back with: {undo}"));
    }
    let cleared = match &before {
        Some(receipt) => receipt.write(work.paths),
        None if work.ledger.purpose() == Purpose::Undo => Ok(()),
        None => disk::remove_receipt(&work.ledger.receipt, work.paths),
    };
    // Those of this run only, and only when they are empty.
    work.ledger.remove_made();
    match cleared {
        Ok(()) if done.is_empty() => error.fact("nothing was changed", "it failed at the first step"),
        Ok(()) => error.fact("taken back", "everything that was changed before it"),
        Err(failed) => error.fact("the receipt stays", failed.message()),
    }
}

static WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Says on stderr how a run that is ended now is finished or taken back.
pub(crate) fn last_words() {
    let words = WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
    words.into_iter().for_each(ui::note);
}

/// Lives while a run changes something.
struct HalfWay;

impl HalfWay {
    /// `again` is the command that finishes a setup.
    fn begin(purpose: Purpose, again: &Command) -> Self {
        let undo = command::setup().flag("--undo");
        set(Some(match purpose {
            Purpose::Setup => {
                format!("stopped half way; finish it with: {again}\nor take it back with: {undo}")
            }
            Purpose::Undo => format!("stopped half way; finish it with: {undo}"),
        }));
        Self
    }
}

impl Drop for HalfWay {
    fn drop(&mut self) {
        set(None);
    }
}

fn set(words: Option<String>) {
    *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}
