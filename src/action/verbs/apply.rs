//! `apply`: the box's new work comes home. The merge is `merge`'s; this is its driver and result line.

use crate::action::mapping::{ActionContext, Chosen, choose, run_box};
use crate::action::report::{Notice, Report};
use crate::action::work::{elsewhere, in_step, is_there, ledger, pasted, propose, propose_again};
use crate::cli::{ApplyArgs, ClashArg};
use crate::command;
use crate::error::{Error, Result};
use crate::journey::ProviderBox;
use crate::merge::{self, Applied, Fate, Judged, Ledger, OnClash, Outcome, Proposal, Settled};
use crate::state::Record;
use crate::ui;
use crate::worktree::{Base, RelPath};
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
    let record = &chosen.record;
    if args.to_patch.is_none() {
        is_there(context, record)?;
    }
    let mut remote = context.remote(record)?;
    run_box(context, record, &remote)?;
    let ledger = ledger(context, record)?;
    if let Some(to) = &args.to_patch {
        let in_step = in_step(&mut remote, record, &ledger)?;
        let since = if args.again { ledger.start()? } else { in_step };
        return to_patch(context, record, remote, &since, to);
    }
    let notes = ledger.recover()?;
    let (on_clash, word) = match args.on_clash {
        None => (OnClash::Refuse, None),
        Some(ClashArg::Mark) => (OnClash::Mark, Some("mark")),
        Some(ClashArg::Mine) => (OnClash::Mine, Some("mine")),
        Some(ClashArg::Theirs) => (OnClash::Theirs, Some("theirs")),
    };
    let proposal = match args.again {
        true => propose_again(context, record, &mut remote, &ledger, on_clash)?,
        false => propose(context, record, &mut remote, &ledger, on_clash)?,
    };
    if let Some(report) = asked(context, record, &proposal, args, word)? {
        return Ok(report);
    }
    carry_out(context, &chosen, remote, proposal, &ledger, notes)
}

/// When most of the files would be deleted here, a person has to want it; what is reported when nobody does.
fn asked(
    context: &ActionContext,
    record: &Record,
    proposal: &Proposal,
    args: &ApplyArgs,
    on_clash: Option<&str>,
) -> Result<Option<Report>> {
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
        return Ok(Some(
            Report::new("nothing was applied").field("result", "declined").field("box", record.name.as_str()),
        ));
    }
    let again = command::action("apply").on(&record.name).flag("--allow-deletions");
    let again = if args.again { again.flag("--again") } else { again };
    let again = on_clash.iter().fold(again, |again, how| again.with("--on-clash", *how));
    let refusal = Error::failed(format!("{what}; nothing was changed"))
        .help(format!("see which with: {review}"))
        .help(format!("if that is meant: {again}"));
    Ok(Some(
        Report::refused(refusal)
            .field("result", "too-many-deletions")
            .field("box", record.name.as_str())
            .field("deletedFiles", proposal.deletions()),
    ))
}

/// Writes what the box did to a file.
fn to_patch(
    context: &ActionContext,
    record: &Record,
    mut remote: ProviderBox,
    since: &Base,
    to: &Path,
) -> Result<Report> {
    let root = record.remote_root.get()?;
    let report = |text: String| Report::new(text).field("box", record.name.as_str());
    let Some(written) = merge::export(&mut remote, &root, &record.worktree, since, to)? else {
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
pub(crate) fn carry_out(
    context: &ActionContext,
    chosen: &Chosen,
    mut remote: ProviderBox,
    proposal: Proposal,
    ledger: &Ledger,
    mut notes: Vec<String>,
) -> Result<Report> {
    let record = &chosen.record;
    let note = |what: &str, names: &[String]| (!names.is_empty()).then(|| format!("{what}: {}", some(names)));
    notes.extend(note("a repository of its own stays in the box", &names_of(&proposal.nested)));
    let (stays, unknown) = elsewhere(&mut remote, record);
    notes.extend(unknown);
    notes.extend(note("not in the checked-out tree, and stays in the box", &stays));
    let put_back = put_back(ledger, record, proposal.outcome())?;
    if !put_back.is_empty() {
        notes.push(put_back_words(&put_back, record));
    }
    notes.extend(note("the box's user cannot read", &names_of(&proposal.unreadable)));
    let applied = proposal.apply(&mut remote, ledger)?;
    if applied.outcome == Outcome::Conflict {
        let clashes = names(&applied.judged, |judged| matches!(judged.fate, Fate::Conflict(_)));
        return Ok(Report::refused(conflict(context, record, &applied))
            .field("result", applied.outcome.word())
            .field("box", record.name.as_str())
            .field("bytes", applied.bytes)
            .field("files", clashes)
            .field("elsewhere", stays)
            .field("patch", applied.patch.map(|patch| patch.display().to_string())));
    }
    let report = report(context, chosen, &applied, &notes);
    Ok(report.field("elsewhere", stays).field("putBack", put_back))
}

/// What came home earlier and is not here any more, where nothing comes now.
pub(crate) fn put_back(ledger: &Ledger, record: &Record, outcome: Outcome) -> Result<Vec<String>> {
    match outcome {
        Outcome::NoChanges | Outcome::AlreadyApplied => Ok(names_of(&ledger.put_back(&record.worktree)?)),
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

fn report(context: &ActionContext, chosen: &Chosen, applied: &Applied, notes: &[String]) -> Report {
    let record = &chosen.record;
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
    text.push_str(chosen.why());
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
        .field("result", applied.outcome.word())
        .field("box", name.as_str())
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

fn conflict(context: &ActionContext, record: &Record, applied: &Applied) -> Error {
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
    let error = match &applied.patch {
        Some(patch) => error.help(format!("see what the box did with: less {}", pasted(context, patch))),
        None => error,
    };
    let apply = |how: &str| command::action("apply").on(&record.name).with("--on-clash", how);
    error
        .help(format!("get both versions, with git's conflict marks: {}", apply("mark")))
        .help(format!("or keep your files where they clash: {}", apply("mine")))
        .help(format!("or take the box's there: {}", apply("theirs")))
}
