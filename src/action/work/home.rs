//! What a box has that is not here: asked before anything is deleted, and told by `info`.

use super::propose::{RunningBox, unknown_words};
use crate::action::mapping::{ActionContext, box_id, ours};
use crate::createos::{Refusal, Status};
use crate::error::{Error, Result};
use crate::fs::digest;
use crate::journey::ProviderBox;
use crate::merge::{self, Fate, OnClash};
use crate::state::{Phase, Record};
use crate::ui;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a script of a look may take: a box that does not answer hinders nobody.
const LOOK: Duration = Duration::from_secs(60);

/// What would be lost with a box. What cannot be looked at counts as work that is not home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NotHome {
    /// Files whose work is not in the worktree.
    pub(crate) files: Vec<String>,
    /// What is not in the box's checked-out tree, in sentences.
    pub(crate) elsewhere: Vec<String>,
    /// Why something could not be looked at.
    pub(crate) unknown: Vec<String>,
    /// The box was not looked into because it does not run, and would if it were resumed.
    pub(crate) paused: bool,
}

impl NotHome {
    /// What cannot be looked at at all.
    pub(crate) fn unknown(error: &Error) -> Self {
        Self { unknown: vec![error.message().to_owned()], ..Self::default() }
    }

    /// All is proven to be here.
    pub(crate) fn is_home(&self) -> bool {
        self.files.is_empty() && self.elsewhere.is_empty() && self.unknown.is_empty()
    }

    /// For people, each with its label: what of the files is not applied, and what else there is.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let files = match self.files.as_slice() {
            [] if !self.unknown.is_empty() => format!("unknown, {}", self.unknown.join("; ")),
            [] => "nothing".to_owned(),
            [first @ .., _] if first.len() < 2 => self.files.join(", "),
            files => format!("{} files", ui::some(&files[..2], files.len())),
        };
        let mut rows = vec![("not applied", files)];
        if !self.elsewhere.is_empty() {
            rows.push(("elsewhere", self.elsewhere.join(", ")));
        }
        if !self.files.is_empty() && !self.unknown.is_empty() {
            rows.push(("unknown", self.unknown.join("; ")));
        }
        rows
    }

    /// One line of it.
    pub(crate) fn words(&self) -> String {
        let mut words = Vec::new();
        match self.files.as_slice() {
            [] => {}
            [only] => words.push(format!("{only} is not applied")),
            several => words.push(format!("{} are not applied", ui::count(several.len() as u64, "file"))),
        }
        words.extend(self.elsewhere.iter().cloned());
        words.extend(self.unknown.iter().cloned());
        words.join(", ")
    }

    fn take(&mut self, elsewhere: merge::Elsewhere) {
        self.elsewhere = elsewhere.work;
        self.unknown.extend(elsewhere.unknown.iter().map(|place| unknown_words(place)));
    }

    /// A word for each thing that was named, by which a later look tells what was added.
    pub(crate) fn marks(&self) -> BTreeSet<String> {
        let mark = |text: &String| digest(text.as_bytes()).to_string()[..16].to_owned();
        self.files.iter().chain(&self.elsewhere).map(mark).collect()
    }
}

/// Looks into a box that runs; one that does not is not resumed for it.
pub(crate) fn look(context: &ActionContext, record: &Record) -> NotHome {
    // A start that failed has no agent that could have worked.
    if record.phase != Phase::Ready {
        return NotHome::default();
    }
    let mut found = NotHome::default();
    if let Err(error) = look_into(context, record, &mut found) {
        found.unknown.push(error.message().to_owned());
    }
    found
}

fn look_into(context: &ActionContext, record: &Record, found: &mut NotHome) -> Result<()> {
    let mut remote = context.remote(record)?.within(LOOK);
    let status = match remote.provider.get(&remote.id) {
        Ok(view) => view.status,
        Err(failure) if failure.refusal == Refusal::NotFound => {
            if !remote.provider.is_gone(&remote.id, &ours(context))? {
                found.unknown.push("its provider does not find the box".into());
            }
            return Ok(());
        }
        Err(failure) => return Err(failure.into()),
    };
    if !runs(&status, found) {
        return Ok(());
    }
    match RunningBox::new(context, record, remote.clone()).and_then(pending) {
        Ok(files) => found.files = files,
        Err(error) => found.unknown.push(error.message().to_owned()),
    }
    found.take(merge::elsewhere(&mut remote, &record.remote_root.get()?)?);
    Ok(())
}

/// Whether the box can be asked; if not, and there is something that could be lost, it is said.
fn runs(status: &Status, found: &mut NotHome) -> bool {
    match status {
        Status::Running => return true,
        Status::Destroyed | Status::Destroying => {}
        Status::Paused | Status::Pausing => {
            found.paused = true;
            found.unknown.push("the box is paused".into());
        }
        status => found.unknown.push(format!("the box is {status}")),
    }
    false
}

/// The files of a running box whose work is not here.
fn pending(mut running: RunningBox<'_>) -> Result<Vec<String>> {
    let proposal = running.propose(OnClash::Refuse)?;
    let pending = proposal.judged.iter().filter(|judged| judged.fate != Fate::AlreadyHere);
    let unreadable = proposal.unreadable.iter().map(|path| path.to_string());
    Ok(pending.map(|judged| judged.name.clone()).chain(unreadable).collect())
}

/// Looks into a box that no mapping ties to a worktree: what it did since it was started, as it tells itself.
pub(crate) fn look_unmapped(context: &ActionContext, remote: ProviderBox, status: &Status) -> NotHome {
    let mut remote = remote.within(LOOK);
    let mut found = NotHome::default();
    if !runs(status, &mut found) {
        return found;
    }
    let mut looked = || -> Result<()> {
        let root = context.config()?.remote_root;
        if let Some(count) = merge::changed_there(&mut remote, &root)? {
            if count > 0 {
                found.files = vec![format!("{} of its workspace", ui::count(count as u64, "file"))];
            }
            found.take(merge::elsewhere(&mut remote, &root)?);
        }
        Ok(())
    };
    if let Err(error) = looked() {
        found.unknown.push(error.message().to_owned());
    }
    found
}

/// The place in which it is written down what the first of two deletes has named.
fn named_file(context: &ActionContext, record: &Record) -> Result<std::path::PathBuf> {
    Ok(context.store.box_folder(&box_id(record)?)?.join("named-before-delete"))
}

pub(crate) fn remember_named(context: &ActionContext, record: &Record, found: &NotHome) -> Result<()> {
    if record.box_id.is_none() {
        return Ok(());
    }
    let text = found.marks().into_iter().collect::<Vec<_>>().join("\n");
    crate::fs::write_atomic(&named_file(context, record)?, text.as_bytes(), crate::fs::Mode::Private)
}

/// Whether there is more than was named. What could not be looked at was said, and is no more than that.
pub(crate) fn is_more_than_named(context: &ActionContext, record: &Record, found: &NotHome) -> Result<bool> {
    if record.box_id.is_none() {
        return Ok(false);
    }
    let named = crate::fs::read_if_there(&named_file(context, record)?)?.unwrap_or_default();
    let named = String::from_utf8_lossy(&named);
    let named: BTreeSet<String> = named.lines().map(str::to_owned).collect();
    Ok(!found.marks().is_subset(&named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str], elsewhere: &[&str], unknown: &[&str]) -> NotHome {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        NotHome { files: owned(files), elsewhere: owned(elsewhere), unknown: owned(unknown), paused: false }
    }

    #[test]
    fn what_is_there_has_words_and_what_is_unknown_is_never_home() {
        assert!(NotHome::default().is_home());
        assert_eq!(NotHome::default().rows(), [("not applied", "nothing".to_owned())]);
        let some = found(&["a", "b", "c"], &["branch feat: 2 commits", "a stash"], &["x"]);
        assert_eq!(
            some.rows(),
            [
                ("not applied", "a, b and 1 more files".to_owned()),
                ("elsewhere", "branch feat: 2 commits, a stash".to_owned()),
                ("unknown", "x".to_owned())
            ]
        );
        assert_eq!(some.words(), "3 files are not applied, branch feat: 2 commits, a stash, x");
        let unknown = found(&[], &[], &["the box is paused"]);
        assert_eq!(unknown.rows(), [("not applied", "unknown, the box is paused".to_owned())]);
        assert!(!unknown.is_home());
    }

    #[test]
    fn more_is_what_was_not_named_and_not_what_is_unknown() {
        let named = found(&["a", "b"], &["branch feat: 2 commits"], &[]).marks();
        let within = |files, elsewhere, unknown| found(files, elsewhere, unknown).marks().is_subset(&named);
        assert!(within(&["b"], &["branch feat: 2 commits"], &["the box is paused"]));
        assert!(!within(&["c"], &[], &[]));
        assert!(!within(&["a"], &["branch feat: 3 commits"], &[]), "a commit was added");
    }
}
