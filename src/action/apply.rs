//! `apply`: the box's new work comes home. The merge is `merge`'s; this is its driver and result line.

use super::bring_back::run_box;
use super::report::{Notice, Report};
use super::session::{Session, box_id};
use super::which::choose;
use crate::cli::ClashArg;
use crate::command;
use crate::error::{Error, Result};
use crate::merge::{self, Applied, Fate, Filters, Judged, Ledger, OnClash, Outcome, Proposal, Settled};
use crate::state::Record;
use crate::ui;
use crate::worktree::{RelPath, stays_home};
use std::fmt::Write;
use std::path::Path;

/// So many paths are named in the words for people; the result line has more.
const NAMED: usize = 12;

/// Brings the work home. A paused box is resumed for it. `on_clash`: what a person has decided.
///
/// # Errors
/// There is no box, it cannot be asked, or its work conflicts with the worktree: then nothing is changed.
pub(super) fn apply(session: &Session, on_clash: Option<ClashArg>) -> Result<Report> {
    let chosen = choose(session)?;
    let record = &chosen.record;
    let remote = session.remote(record)?;
    run_box(session, record, &remote.provider, &remote.id)?;
    let ledger = ledger(session, record)?;
    let notes = ledger.recover()?;
    let on_clash = match on_clash {
        None => OnClash::Refuse,
        Some(ClashArg::Mark) => OnClash::Mark,
        Some(ClashArg::Mine) => OnClash::Mine,
        Some(ClashArg::Theirs) => OnClash::Theirs,
    };
    let proposal = propose(session, record, &ledger, on_clash)?;
    carry_out(session, record, proposal, &ledger, notes, chosen.by_worktree)
}

/// Applies a proposal and reports it.
///
/// # Errors
/// The worktree changed meanwhile, or a write failed; nothing is changed then.
pub(super) fn carry_out(
    session: &Session,
    record: &Record,
    proposal: Proposal,
    ledger: &Ledger,
    mut notes: Vec<String>,
    by_worktree: bool,
) -> Result<Report> {
    let nested: Vec<_> = proposal.nested.iter().map(|path| path.to_string()).collect();
    if !nested.is_empty() {
        notes.push(format!("a repository of its own stays in the box: {}", some(&nested)));
    }
    let unreadable: Vec<_> = proposal.unreadable.iter().map(|path| path.to_string()).collect();
    if !unreadable.is_empty() {
        notes.push(format!("the box's user cannot read: {}", some(&unreadable)));
    }
    let applied = proposal.apply(&mut session.remote(record)?, ledger)?;
    if applied.outcome == Outcome::Conflict {
        let clashes = names(&applied.judged, |judged| matches!(judged.fate, Fate::Conflict(_)));
        return Ok(Report::refused(conflict(session, record, &applied))
            .field("result", applied.outcome.word())
            .field("box", record.name.as_str())
            .field("bytes", applied.bytes)
            .field("files", clashes)
            .field("patch", applied.patch.map(|patch| patch.display().to_string())));
    }
    Ok(report(session, record, &applied, &notes, by_worktree))
}

/// Takes the last apply back, where every file is still as it left them.
///
/// # Errors
/// There is none, or files were changed since: they are named and nothing is changed.
pub(super) fn undo(session: &Session) -> Result<Report> {
    let record = choose(session)?.record;
    let undone = ledger(session, &record)?.undo(&record.worktree).map_err(|error| match error.hints() {
        [] => {
            error.help(format!("see what the box has with: {}", command::action("review").on(&record.name)))
        }
        _ => error,
    })?;
    let paths: Vec<_> = undone.paths.iter().map(|path| path.to_string()).collect();
    Ok(Report::new(format!("the last apply of box {} was taken back: {}", record.name, some(&paths)))
        .field("result", "undone")
        .field("box", record.name.as_str())
        .field("files", paths.len())
        .on(record.pane.as_ref()))
}

/// What was in step with a record's box, and what came home from it.
///
/// # Errors
/// The box was never made, or its folder cannot be.
pub(super) fn ledger(session: &Session, record: &Record) -> Result<Ledger> {
    Ok(Ledger::new(session.store.box_folder(&box_id(record)?)?))
}

/// Asks a running box what it would change here.
///
/// # Errors
/// The box cannot be asked, or its answer cannot be trusted.
pub(super) fn propose(
    session: &Session,
    record: &Record,
    ledger: &Ledger,
    on_clash: OnClash,
) -> Result<Proposal> {
    let mut remote = session.remote(record)?;
    let rules = session.config()?.rules();
    let base = ledger.base()?;
    let keeps_home = |path: &RelPath| {
        let why = stays_home(path, base.get(path).is_some(), &rules);
        why.map(|(reason, rule)| format!("{} ({rule})", reason.words()))
    };
    let root = record.remote_root.parse()?;
    let filters = Filters { git: &session.git()?, keeps_home: &keeps_home, on_clash };
    merge::fetch(&mut remote, &root, &record.worktree, &base, &filters)
}

fn some(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(NAMED).map(|name| ui::visible(name)).collect();
    match names.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

fn names(judged: &[Judged], test: impl Fn(&Judged) -> bool) -> Vec<String> {
    judged.iter().filter(|judged| test(judged)).map(|judged| judged.name.clone()).collect()
}

fn report(
    session: &Session,
    record: &Record,
    applied: &Applied,
    notes: &[String],
    by_worktree: bool,
) -> Report {
    let name = &record.name;
    let place = session.paths.show(&record.worktree);
    let mut text = match applied.outcome {
        Outcome::Applied => format!(
            "{} of box {name} came home to {place}: +{} -{}",
            ui::count(applied.files as u64, "file"),
            applied.lines.insertions,
            applied.lines.deletions
        ),
        Outcome::AlreadyApplied => format!("all of box {name}'s work is in {place} already"),
        Outcome::NoChanges => format!("box {name} has nothing new for {place}"),
        Outcome::Conflict => String::new(),
    };
    if by_worktree {
        text.push_str(" (the only box of this worktree)");
    }
    let runs_code = names(&applied.judged, |judged| judged.runs_code.is_some() && judged.fate.touches());
    let dropped = names(&applied.judged, |judged| matches!(judged.fate, Fate::Dropped(_)));
    let merged = names(&applied.judged, |judged| judged.fate == Fate::Merged);
    let settled = |how| names(&applied.judged, |judged| judged.fate == Fate::Settled(how));
    let marked = settled(Settled::Marked);
    for (label, names) in [
        ("look at, runs code here", &runs_code),
        ("stays in the box", &dropped),
        ("both sides' changes", &merged),
        ("both versions, marked for you to choose", &marked),
        ("yours, against the box's", &settled(Settled::Mine)),
        ("the box's, against yours", &settled(Settled::Theirs)),
    ] {
        if !names.is_empty() {
            let _into_a_string = write!(text, "\n  {label}: {}", some(names));
        }
    }
    for note in notes.iter().chain(&applied.notes) {
        let _into_a_string = write!(text, "\n  note: {}", ui::visible(note));
    }
    if applied.outcome == Outcome::Applied {
        let _into_a_string = write!(text, "\n  take it back with: {}", command::action("undo").on(name));
    }
    // What must be read is not a toast.
    let popup = !(runs_code.is_empty()
        && dropped.is_empty()
        && marked.is_empty()
        && notes.is_empty()
        && applied.notes.is_empty());
    Report::new(text)
        .field("result", applied.outcome.word())
        .field("box", name.as_str())
        .field("bytes", applied.bytes)
        .field("files", applied.files)
        .field("insertions", applied.lines.insertions)
        .field("deletions", applied.lines.deletions)
        .field("runsCode", runs_code)
        .field("dropped", dropped)
        .field("marked", marked)
        .notice(if popup { Notice::Popup } else { Notice::Toast })
        .on(record.pane.as_ref())
}

/// A path of this machine in a command to paste.
fn pasted(session: &Session, path: &Path) -> String {
    let shown = session.paths.show(path);
    if shown.chars().all(|c| c.is_ascii_alphanumeric() || "._-/~".contains(c)) {
        return shown;
    }
    command::quoted(&path.display().to_string())
}

fn conflict(session: &Session, record: &Record, applied: &Applied) -> Error {
    let mut error = Error::failed(format!(
        "the work of box {} and {} clash, nothing was changed",
        record.name,
        session.paths.show(&record.worktree)
    ));
    let clashes = applied.judged.iter().filter_map(|judged| match &judged.fate {
        Fate::Conflict(why) => Some((judged.name.as_str(), why.as_str())),
        _ => None,
    });
    let (mut count, mut shown) = (0, 0);
    for (name, why) in clashes {
        count += 1;
        if shown < NAMED {
            shown += 1;
            error = error.fact(ui::visible(name), why);
        }
    }
    if count > shown {
        error = error.fact("and", format!("{} more", ui::count((count - shown) as u64, "file")));
    }
    let error = match &applied.patch {
        Some(patch) => error.help(format!("see what the box did with: less {}", pasted(session, patch))),
        None => error,
    };
    let apply = |how: &str| command::action("apply").on(&record.name).with("--on-clash", how);
    error
        .help(format!("get both versions, with git's conflict marks: {}", apply("mark")))
        .help(format!("or keep your files where they clash: {}", apply("mine")))
        .help(format!("or take the box's there: {}", apply("theirs")))
}
