//! What a box would change here, asked of it and judged; and what it has besides.

use crate::action::mapping::{ActionContext, box_id, run_box};
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

/// A record's box that runs, to be asked for its work.
pub(crate) struct RunningBox<'a> {
    pub(crate) context: &'a ActionContext,
    pub(crate) record: &'a Record,
    pub(crate) remote: ProviderBox,
    /// What was in step with it, and what came home from it.
    pub(crate) ledger: Ledger,
    /// What is to be said besides.
    pub(crate) notes: Vec<String>,
}

impl<'a> RunningBox<'a> {
    /// Of a box that may have to be resumed for it.
    ///
    /// # Errors
    /// It cannot be brought to run.
    pub(crate) fn wake(context: &'a ActionContext, record: &'a Record) -> Result<Self> {
        let remote = context.remote(record)?;
        run_box(context, record, &remote)?;
        Self::new(context, record, remote)
    }

    /// Of a box that is known to run.
    ///
    /// # Errors
    /// As of [`ledger`].
    pub(super) fn new(context: &'a ActionContext, record: &'a Record, remote: ProviderBox) -> Result<Self> {
        Ok(Self { context, record, remote, ledger: ledger(context, record)?, notes: Vec::new() })
    }

    /// Asks what it would change here.
    ///
    /// # Errors
    /// The worktree is gone, the box cannot be asked, or its answer cannot be trusted.
    pub(crate) fn propose(&mut self, on_clash: OnClash) -> Result<Proposal> {
        is_there(self.context, self.record)?;
        let base = self.in_step()?;
        self.judged(&base, on_clash)
    }

    /// The same for all that the box did since its start, whatever came home of it.
    pub(crate) fn propose_again(&mut self, on_clash: OnClash) -> Result<Proposal> {
        let in_step = self.in_step()?;
        Ok(self.judged(&self.ledger.start()?, on_clash)?.over(in_step))
    }

    fn judged(&mut self, base: &Base, on_clash: OnClash) -> Result<Proposal> {
        let Self { context, record, remote, .. } = self;
        let rules = context.config()?.rules(&record.worktree);
        let (git, root) = (context.git()?, record.remote_root.get()?);
        remote.propose(&root, &record.worktree, base, &git, &rules, on_clash)
    }

    /// What was last in step. A box that the earlier plugin started, or whose record is lost, is asked for it once.
    pub(crate) fn in_step(&mut self) -> Result<Base> {
        if !self.ledger.has_base() {
            self.ledger.begin(&merge::adopt(&mut self.remote, &self.record.remote_root.get()?)?)?;
        }
        self.ledger.base()
    }

    /// What it has besides its checked-out tree, and what of that could not be seen, in sentences.
    pub(crate) fn elsewhere(&mut self) -> (Vec<String>, Vec<String>) {
        match self.record.remote_root.get().and_then(|root| merge::elsewhere(&mut self.remote, &root)) {
            Ok(found) => (found.work, found.unknown.iter().map(|place| unknown_words(place)).collect()),
            Err(error) => {
                let unseen = "what the box has besides its files could not be seen";
                (Vec::new(), vec![format!("{unseen}: {}", error.message())])
            }
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
