//! `undo`: takes applies back, also those of a box that is gone.

use super::apply::{names_of, put_back_words, some};
use crate::action::mapping::{ActionContext, choose, named};
use crate::action::report::{Notice, Report};
use crate::action::work::{is_there, ledger};
use crate::cli::UndoArgs;
use crate::error::{Error, Result};
use crate::merge::{KEEP_CHANGED, Ledger, Level};
use crate::state::{PastBox, Record};
use crate::worktree::Worktree;
use crate::{command, ui};
use std::time::SystemTime;

/// Whose applies are meant.
struct Of {
    name: String,
    ledger: Ledger,
    /// None of a box that is gone.
    record: Option<Record>,
}

/// Takes the last apply back, where every file is still as it left them, or lists what could be taken back.
///
/// # Errors
/// There is none, or files were changed since: they are named and nothing is changed.
pub(crate) fn undo(context: &ActionContext, args: &UndoArgs) -> Result<Report> {
    let of = chosen(context)?;
    let levels = of.ledger.levels()?;
    if args.list {
        return Ok(list(context, &of, &levels));
    }
    let worktree = match &of.record {
        Some(record) => {
            is_there(context, record)?;
            record.worktree.clone()
        }
        None => levels.first().map(|level| level.worktree.clone()).unwrap_or_default(),
    };
    let undone = of.ledger.undo(&worktree, args.keep_changed).map_err(|error| refused(&of, error))?;
    let (paths, kept) = (names_of(&undone.paths), names_of(&undone.kept));
    let mut text = format!("the last apply of box {} was taken back: {}", of.name, some(&paths));
    if !kept.is_empty() {
        text.push_str(&format!("\n  changed since, and left as it is: {}", some(&kept)));
    }
    Ok(Report::new(text)
        .about("undone", &of.name)
        .field("files", paths.len())
        .field("kept", kept)
        .on(of.record.as_ref().and_then(|record| record.pane.as_ref())))
}

/// The refusal with what to type about it.
fn refused(of: &Of, error: Error) -> Error {
    let name = &of.name;
    let told = error
        .facts()
        .iter()
        .fold(Error::new(error.kind(), error.message()), |told, (label, value)| told.fact(label, value));
    let told = error.hints().iter().fold(told, |told, hint| match hint == KEEP_CHANGED {
        true => {
            told.help(format!("{KEEP_CHANGED}: {}", command::action("undo").flag("--keep-changed").on(name)))
        }
        false => told.help(hint),
    });
    let Some(record) = &of.record else { return told };
    match of.ledger.put_back(&record.worktree) {
        Ok(paths) if !paths.is_empty() => told.help(put_back_words(&names_of(&paths), record)),
        _ if told.hints().is_empty() => {
            told.help(format!("see what the box has with: {}", command::action("review").on(name)))
        }
        _ => told,
    }
}

fn list(context: &ActionContext, of: &Of, levels: &[Level]) -> Report {
    let name = &of.name;
    let mut lines = vec![match levels {
        [] => format!("there is no apply of box {name} to take back"),
        _ => format!("applies of box {name}, the next undo first"),
    }];
    for (at, level) in levels.iter().enumerate() {
        let place = match &of.record {
            Some(_) => String::new(),
            None => format!(" in {}", context.paths.show(&level.worktree)),
        };
        lines.push(format!(
            "  {:>2}   {:<14}   {}{}: {}",
            at + 1,
            level.at.map(age).unwrap_or_default(),
            ui::count(level.paths.len() as u64, "file"),
            ui::visible_line(&place),
            some(&names_of(&level.paths))
        ));
    }
    if !levels.is_empty() {
        lines.push(format!("  take the first back with: {}", command::action("undo").on(name)));
    }
    let seconds = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let levels: Vec<_> = levels
        .iter()
        .map(|level| serde_json::json!({ "files": level.paths.len(), "at": level.at.map(seconds) }))
        .collect();
    Report::new(lines.join("\n")).about("listed", name).field("levels", levels).notice(Notice::Popup)
}

/// How long ago something was.
fn age(at: SystemTime) -> String {
    let seconds = at.elapsed().map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => "just now".into(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// The box that is named, whether it is there or gone; else the pane's, else the only one of this worktree.
fn chosen(context: &ActionContext) -> Result<Of> {
    let of = |record: Record| {
        Ok(Of { name: record.name.to_string(), ledger: ledger(context, &record)?, record: Some(record) })
    };
    let past = context.store.past();
    let wanted = match named(context) {
        Ok(Some(record)) => return of(record),
        Ok(None) => choose(context).map(|chosen| chosen.record),
        Err(error) => {
            let is_meant = |past: &PastBox| context.wanted.as_ref() == Some(&past.name);
            let past = past.into_iter().find(is_meant).ok_or(error)?;
            return Ok(Of { name: past.name, ledger: Ledger::new(past.folder), record: None });
        }
    };
    let error = match wanted {
        Ok(record) => return of(record),
        Err(error) => error,
    };
    // Which of the boxes that are gone is meant, nobody can know: they are named.
    let Ok(worktree) = context.folder().and_then(|folder| Worktree::discover(&context.git()?, &folder))
    else {
        return Err(error);
    };
    let here = past.into_iter().filter(|past| {
        let levels = Ledger::new(&past.folder).levels().unwrap_or_default();
        levels.first().is_some_and(|level| level.worktree == worktree.root())
    });
    Err(here.take(3).fold(error, |error, past| {
        let undo = command::action("undo").on(past.name);
        error.help(format!("take back what came home from a box that is gone: {undo}"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_age_has_one_unit() {
        let ages =
            [5, 90, 7_300, 300_000].map(|seconds| age(SystemTime::now() - Duration::from_secs(seconds)));
        assert_eq!(ages, ["just now", "1 min ago", "2 h ago", "3 days ago"]);
    }
}
