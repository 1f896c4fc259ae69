//! What a box would change here, asked of it and judged; and what it has besides.

use crate::action::mapping::{ActionContext, box_id};
use crate::command;
use crate::error::{Error, Result};
use crate::journey::ProviderBox;
use crate::merge::{self, Ledger, OnClash, Proposal};
use crate::state::Record;
use crate::worktree::Base;
use std::io::ErrorKind;
use std::path::Path;

/// What was in step with a record's box, and what came home from it.
///
/// # Errors
/// The box was never made, or its folder cannot be.
pub(crate) fn ledger(context: &ActionContext, record: &Record) -> Result<Ledger> {
    Ok(Ledger::new(context.store.box_folder(&box_id(record)?)?))
}

/// Asks a running box what it would change here.
///
/// # Errors
/// The worktree is gone, the box cannot be asked, or its answer cannot be trusted.
pub(crate) fn propose(
    context: &ActionContext,
    record: &Record,
    remote: &mut ProviderBox,
    ledger: &Ledger,
    on_clash: OnClash,
) -> Result<Proposal> {
    is_there(context, record)?;
    let base = in_step(remote, record, ledger)?;
    judged(context, record, remote, &base, on_clash)
}

/// The same for all that the box did since its start, whatever came home of it.
pub(crate) fn propose_again(
    context: &ActionContext,
    record: &Record,
    remote: &mut ProviderBox,
    ledger: &Ledger,
    on_clash: OnClash,
) -> Result<Proposal> {
    let in_step = in_step(remote, record, ledger)?;
    Ok(judged(context, record, remote, &ledger.start()?, on_clash)?.over(in_step))
}

fn judged(
    context: &ActionContext,
    record: &Record,
    remote: &mut ProviderBox,
    base: &Base,
    on_clash: OnClash,
) -> Result<Proposal> {
    let rules = context.config()?.rules(&record.worktree);
    let (git, root) = (context.git()?, record.remote_root.get()?);
    remote.propose(&root, &record.worktree, base, &git, &rules, on_clash)
}

/// What was last in step. A box that the earlier plugin started, or whose record is lost, is asked for it once.
pub(crate) fn in_step(remote: &mut ProviderBox, record: &Record, ledger: &Ledger) -> Result<Base> {
    if !ledger.has_base() {
        ledger.begin(&merge::adopt(remote, &record.remote_root.get()?)?)?;
    }
    ledger.base()
}

/// What a box has besides its checked-out tree, and what of that could not be seen, in sentences.
pub(crate) fn elsewhere(remote: &mut ProviderBox, record: &Record) -> (Vec<String>, Vec<String>) {
    match record.remote_root.get().and_then(|root| merge::elsewhere(remote, &root)) {
        Ok(found) => (found.work, found.unknown.iter().map(|place| unknown_words(place)).collect()),
        Err(error) => {
            let unseen = "what the box has besides its files could not be seen";
            (Vec::new(), vec![format!("{unseen}: {}", error.message())])
        }
    }
}

/// A repository of which only the place is known.
pub(crate) fn unknown_words(place: &str) -> String {
    format!("git in the box cannot look into {place}")
}

/// Says what to do about a worktree that is gone.
pub(crate) fn is_there(context: &ActionContext, record: &Record) -> Result<()> {
    let git = record.worktree.join(".git");
    match std::fs::symlink_metadata(&git) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let place = context.paths.show(&record.worktree);
            let what = match record.worktree.is_dir() {
                true => format!("{place} is no git worktree any more; it is the one of box {}", record.name),
                false => format!("the worktree of box {} is gone: {place}", record.name),
            };
            Err(Error::failed(what)
                .help(format!(
                    "the work is still in the box: add a worktree at the same path, and apply brings it there: {}",
                    command::program("git", ["worktree", "add"]).path(&record.worktree).word("BRANCH")
                ))
                .help(format!(
                    "or keep the work as a patch: {}",
                    command::action("apply").with("--to-patch", format!("{}.patch", record.name)).on(&record.name)
                )))
        }
        Err(error) => Err(Error::io("look at", &git, &error)),
    }
}

/// A path of this machine in a command to paste.
pub(crate) fn pasted(context: &ActionContext, path: &Path) -> String {
    let shown = context.paths.show(path);
    if shown.chars().all(|c| c.is_ascii_alphanumeric() || "._-/~".contains(c)) {
        return shown;
    }
    command::quoted(&path.display().to_string())
}
