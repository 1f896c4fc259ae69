//! `apply`: the box's new work comes home. The merge is `merge`'s; this is its driver and result line.

use crate::action::mapping::{ActionContext, choose};
use crate::action::report::{Notice, Report};
use crate::action::work::{RunningBox, is_there, pasted};
use crate::cli::{ApplyArgs, ClashArg};
use crate::error::{Error, Result};
use crate::merge::{self, Applied, Fate, Judged, OnClash, Outcome, Proposal, Settled};
use crate::state::Record;
use crate::worktree::RelPath;
use crate::{command, ui};
use clap::ValueEnum;
use std::fmt::Write;
use std::path::Path;

/// So many paths are named in the words for people; the result line has more.
const NAMED: usize = 12;

/// Brings the work home, or writes it to a file. A paused box is resumed for it.
///
/// # Errors
/// There is no box, it cannot be asked, or its work conflicts with the worktree: then nothing is changed.
pub(crate) fn apply(context: &ActionContext, args: &ApplyArgs) -> Result<Report> {
    let chosen = choose(context)?;
    if args.to_patch.is_none() {
        is_there(context, &chosen.record)?;
    }
    let mut running = RunningBox::wake(context, &chosen.record)?;
    if let Some(to) = &args.to_patch {
        return to_patch(running, args.again, to);
    }
    running.notes = running.ledger.recover()?;
    let on_clash = match args.on_clash {
        None => OnClash::Refuse,
        Some(ClashArg::Mark) => OnClash::Mark,
        Some(ClashArg::Mine) => OnClash::Mine,
        Some(ClashArg::Theirs) => OnClash::Theirs,
    };
    let proposal = if args.again { running.propose_again(on_clash)? } else { running.propose(on_clash)? };
    if let Some(report) = asked(&running, &proposal, args)? {
        return Ok(report);
    }
    carry_out(running, chosen.why(), proposal)
}

/// When most of the files would be deleted here, a person has to want it; what is reported when nobody does.
fn asked(running: &RunningBox<'_>, proposal: &Proposal, args: &ApplyArgs) -> Result<Option<Report>> {
    let RunningBox { context, record, .. } = running;
    if args.allow_deletions || proposal.outcome() != Outcome::Applied || !proposal.deletes_most() {
        return Ok(None);
    }
    let place = context.paths.show(&record.worktree);
    let count = ui::count(proposal.deletions() as u64, "file");
    let what = format!("box {} deleted {count}, more than half of those in {place}", record.name);
    let review = command::action("review").on(&record.name);
    if ui::is_on_terminal() {
        ui::line(format!("{what}; see which with: {review}"));
        if ui::confirm("Delete them here, too?", false)? {
            return Ok(None);
        }
        return Ok(Some(Report::new("nothing was applied").about("declined", record.name.as_str())));
    }
    let again = command::action("apply").on(&record.name).flag("--allow-deletions");
    let again = if args.again { again.flag("--again") } else { again };
    let how = args.on_clash.and_then(|how| how.to_possible_value());
    let again = how.iter().fold(again, |again, how| again.with("--on-clash", how.get_name()));
    let refusal = Error::failed(format!("{what}; nothing was changed"))
        .help(format!("see which with: {review}"))
        .help(format!("if that is meant: {again}"));
    let report = Report::refused(refusal).about("too-many-deletions", record.name.as_str());
    Ok(Some(report.field("deletedFiles", proposal.deletions())))
}

/// Writes what the box did to a file.
fn to_patch(mut running: RunningBox<'_>, again: bool, to: &Path) -> Result<Report> {
    let in_step = running.in_step()?;
    let since = if again { running.ledger.start()? } else { in_step };
    let RunningBox { context, record, mut remote, .. } = running;
    let root = record.remote_root.get()?;
    let report = |text: String| Report::new(text).field("box", record.name.as_str());
    let Some(written) = merge::export(&mut remote, &root, &record.worktree, &since, to)? else {
        return Ok(report(format!("box {} has nothing new, no file was written", record.name))
            .field("result", Outcome::NoChanges.word()));
    };
    Ok(report(format!(
        "what box {} did is in {}: {}, +{} -{}\n  bring it into a worktree with: git apply {}",
        record.name,
        context.paths.show(to),
        ui::count(written.files as u64, "file"),
        written.lines.insertions,
        written.lines.deletions,
        pasted(context, to)
    ))
    .field("result", "written")
    .field("bytes", written.bytes)
    .field("files", written.files)
    .field("patch", to.display().to_string()))
}

/// Applies a proposal and reports it.
///
/// # Errors
/// The worktree changed meanwhile, or a write failed; nothing is changed then.
pub(crate) fn carry_out(mut running: RunningBox<'_>, why: &str, proposal: Proposal) -> Result<Report> {
    let record = running.record;
    let mut notes = std::mem::take(&mut running.notes);
    let note = |what: &str, names: &[String]| (!names.is_empty()).then(|| format!("{what}: {}", some(names)));
    notes.extend(note("a repository of its own stays in the box", &names_of(&proposal.nested)));
    let (stays, unknown) = running.elsewhere();
    notes.extend(unknown);
    notes.extend(note("not in the checked-out tree, and stays in the box", &stays));
    let put_back = put_back(&running, proposal.outcome())?;
    if !put_back.is_empty() {
        notes.push(put_back_words(&put_back, record));
    }
    notes.extend(note("the box's user cannot read", &names_of(&proposal.unreadable)));
    running.notes = notes;
    let applied = proposal.apply(&mut running.remote, &running.ledger)?;
    if applied.outcome == Outcome::Conflict {
        let clashes = names(&applied.judged, |judged| matches!(judged.fate, Fate::Conflict(_)));
        return Ok(Report::refused(conflict(&running, &applied))
            .about(applied.outcome.word(), record.name.as_str())
            .field("bytes", applied.bytes)
            .field("files", clashes)
            .field("elsewhere", stays)
            .field("patch", applied.patch.map(|patch| patch.display().to_string())));
    }
    let report = report(&running, why, &applied);
    Ok(report.field("elsewhere", stays).field("putBack", put_back))
}

/// What came home earlier and is not here any more, where nothing comes now.
pub(crate) fn put_back(running: &RunningBox<'_>, outcome: Outcome) -> Result<Vec<String>> {
    match outcome {
        Outcome::NoChanges | Outcome::AlreadyApplied => {
            Ok(names_of(&running.ledger.put_back(&running.record.worktree)?))
        }
        Outcome::Applied | Outcome::Conflict => Ok(Vec::new()),
    }
}

/// That work came home and is not here any more, and what brings it again.
pub(crate) fn put_back_words(paths: &[String], record: &Record) -> String {
    format!(
        "came home earlier and is not here any more: {}; bring it again with: {}",
        some(paths),
        command::action("apply").flag("--again").on(&record.name)
    )
}

pub(crate) fn names_of(paths: &[RelPath]) -> Vec<String> {
    paths.iter().map(|path| path.to_string()).collect()
}

/// The first of some names, and how many more there are.
pub(crate) fn some(names: &[String]) -> String {
    ui::some(names.iter().take(NAMED), names.len())
}

fn names(judged: &[Judged], test: impl Fn(&Judged) -> bool) -> Vec<String> {
    judged.iter().filter(|judged| test(judged)).map(|judged| judged.name.clone()).collect()
}

fn report(running: &RunningBox<'_>, why: &str, applied: &Applied) -> Report {
    let RunningBox { context, record, notes, .. } = running;
    let name = &record.name;
    let place = context.paths.show(&record.worktree);
    let mut text = match applied.outcome {
        Outcome::Applied => format!(
            "{} of box {name} came home to {place}: +{} -{}{}",
            ui::count(applied.files as u64, "file"),
            applied.lines.insertions,
            applied.lines.deletions,
            match applied.deleted {
                0 => String::new(),
                count => format!(", {} deleted here", ui::count(count as u64, "file")),
            }
        ),
        Outcome::AlreadyApplied => format!("all of box {name}'s work is in {place} already"),
        Outcome::NoChanges => format!("box {name} has nothing new for {place}"),
        Outcome::Conflict => String::new(),
    };
    text.push_str(why);
    let runs_code = names(&applied.judged, |judged| judged.runs_code.is_some() && judged.fate.touches());
    let dropped = names(&applied.judged, |judged| matches!(judged.fate, Fate::Dropped(_)));
    let why_dropped = applied.judged.iter().filter_map(|judged| match &judged.fate {
        Fate::Dropped(why) => Some(format!("{} ({why})", judged.name)),
        _ => None,
    });
    let why_dropped: Vec<String> = why_dropped.collect();
    let merged = names(&applied.judged, |judged| judged.fate == Fate::Merged);
    let settled = |how| names(&applied.judged, |judged| judged.fate == Fate::Settled(how));
    let marked = settled(Settled::Marked);
    for (label, names) in [
        ("look at, runs code here", &runs_code),
        ("stays in the box", &why_dropped),
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
        .about(applied.outcome.word(), name.as_str())
        .field("bytes", applied.bytes)
        .field("files", applied.files)
        .field("insertions", applied.lines.insertions)
        .field("deletions", applied.lines.deletions)
        .field("deletedFiles", applied.deleted)
        .field("runsCode", runs_code)
        .field("dropped", dropped)
        .field("marked", marked)
        .notice(if popup { Notice::Popup } else { Notice::Toast })
        .on(record.pane.as_ref())
}

fn conflict(RunningBox { context, record, .. }: &RunningBox<'_>, applied: &Applied) -> Error {
    let error = Error::failed(format!(
        "the work of box {} and {} clash, nothing was changed",
        record.name,
        context.paths.show(&record.worktree)
    ));
    let mut clashes = applied.judged.iter().filter_map(|judged| match &judged.fate {
        Fate::Conflict(why) => Some((judged.name.as_str(), why.as_str())),
        _ => None,
    });
    let shown = clashes.by_ref().take(NAMED);
    let error = shown.fold(error, |error, (name, why)| error.fact(ui::visible(name), why));
    let error = match clashes.count() {
        0 => error,
        more => error.fact("and", format!("{} more", ui::count(more as u64, "file"))),
    };
    let less = |patch| format!("see what the box did with: less {}", pasted(context, patch));
    let error = error.help(applied.patch.as_deref().map_or_else(String::new, less));
    let apply = |how: &str| command::action("apply").on(&record.name).with("--on-clash", how);
    error
        .help(format!("get both versions, with git's conflict marks: {}", apply("mark")))
        .help(format!("or keep your files where they clash: {}", apply("mine")))
        .help(format!("or take the box's there: {}", apply("theirs")))
}
