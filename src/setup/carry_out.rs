//! A plan is applied under the lock, and only to what it was made from; then Herdr is told.

use super::change::{self, Ledger, Purpose, Work};
use super::observe::Observed;
use super::observe::files::absolute;
use super::observe::plugin::{bundled_files, registered};
use super::plan::Plan;
use super::receipt::Receipt;
use super::talk::Talk;
use crate::error::{Error, IoContext, Result};
use crate::herdr::{Herdr, Reload};
use crate::paths::Paths;
use crate::{command, ui};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Applies the plan. What an undo could not bring back comes back as errors.
///
/// # Errors
/// Another run is, or was, faster; or a change failed.
pub(super) fn apply_plan(
    talk: &Talk<'_>,
    observed: &Observed,
    plan: &Plan,
    purpose: Purpose,
) -> Result<Vec<Error>> {
    // Two setups at once would not see each other's receipts.
    let _lock = lock(talk.paths)?;
    let before = unchanged(observed, talk.paths)?;
    let work = Work {
        paths: talk.paths,
        herdr: herdr(observed),
        diagnostics: match (&observed.diagnostics, purpose) {
            (Some(diagnostics), Purpose::Setup) => diagnostics.clone()?,
            _ => Default::default(),
        },
        quiet: talk.request.json,
        ledger: Ledger::new(talk.paths, before.clone(), purpose),
    };
    change::apply(&plan.changes, before, work, &talk.request.again)
}

/// Lets running servers read their file again. It is worth a warning when they do not, no more.
pub(super) fn reload(talk: &Talk<'_>, observed: &Observed) {
    let Some(herdr) = herdr(observed) else { return };
    match herdr.reload() {
        Ok(Reload::Applied) => talk.say("The running Herdr has taken the keys over."),
        Ok(Reload::NoServer) => {}
        Ok(Reload::Refused(words)) => ui::note(format!(
            "warning: the running Herdr did not take all of config.toml over: {}",
            ui::visible(&words.join("; "))
        )),
        Err(error) => ui::note(format!("warning: Herdr could not be told: {}", ui::visible(error.message()))),
    }
}

/// Another configuration folder has another registry and another `config.json`.
///
/// # Errors
/// The setup of this receipt was done in another one.
pub(super) fn refuse_other_folder(receipt: &Receipt, paths: &Paths) -> Result<()> {
    let real = |path: &Path| {
        let path = absolute(path);
        path.canonicalize().unwrap_or(path)
    };
    let now = paths.herdr_config_dir();
    let Some(known) = receipt.herdr_config.as_deref().filter(|known| real(known) != real(now)) else {
        return Ok(());
    };
    let folder = known.parent().unwrap_or(known);
    Err(Error::failed("Herdr was set up in another configuration folder; nothing was changed")
        .fact("it was", known.display().to_string())
        .fact("it is", absolute(now).display().to_string())
        .help(format!(
            "take that back first: {}",
            command::setup().flag("--undo").variable("XDG_CONFIG_HOME", &folder.to_string_lossy())
        )))
}

/// The lock is on the home folder itself: it is always there, and no file has to be left for it. Where the file
/// system has no locks (some network homes), two setups at once are the user's to avoid.
///
/// # Errors
/// Another setup has it.
pub(super) fn lock(paths: &Paths) -> Result<Option<File>> {
    let home = paths.home();
    let folder = File::open(home).at("open", home)?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => {
            Err(Error::failed("another setup is running").help("wait for it to end, then run this again"))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// The receipt, when everything that the plan is made from is still as it was seen: another setup may have run while
/// this one waited for an answer or for the lock.
fn unchanged(seen: &Observed, paths: &Paths) -> Result<Option<Receipt>> {
    let receipt = Receipt::read(paths)?;
    let plugin = registered(paths);
    let same = Ok(&receipt) == seen.receipt.as_ref().map_err(|_| ())
        && plugin == seen.plugin
        && bundled_files(paths) == seen.bundle;
    if same {
        return Ok(receipt);
    }
    Err(Error::failed("Herdr was set up by another run meanwhile").help("run it again"))
}

fn herdr(observed: &Observed) -> Option<Herdr> {
    observed.path_of("herdr").map(Herdr::new)
}
