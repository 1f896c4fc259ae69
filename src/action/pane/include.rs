//! The question about a worktree's `.worktreeinclude`: on the terminal where a start was typed, in a popup after its key,
//! else in its pane. And the answer, as one of the rules for what leaves.

use super::sheet::Sheet;
use crate::action::mapping::ActionContext;
use crate::config::Config;
use crate::error::Result;
use crate::herdr::{Caller, Place};
use crate::state::{Record, Store};
use crate::worktree::{self, Asked, INCLUDE, Rules, Worktree};
use crate::{command, ui};
use std::path::Path;
use std::time::{Duration, Instant};

/// Names in a question; all of them are in `upload --dry-run`.
const NAMED: usize = 20;
/// More files, or more bytes, are said to be many.
const MANY: (usize, u64) = (200, 50_000_000);
/// How long the process of a popup may take to ask.
const POPUP: Duration = Duration::from_secs(20);

/// The rules of a worktree, with the user's yes.
pub(crate) fn rules(config: &Config, store: &Store, root: &Path) -> Result<Rules> {
    let mut rules = config.rules(root);
    let state = store.read()?;
    let answer = state.answers.iter().find(|answer| answer.worktree == root && answer.yes);
    rules.trusted = answer.map(|answer| answer.hash.clone());
    Ok(rules)
}

/// Asks once where a start was typed, or its key pressed, if that is new. Elsewhere, and where a popup gave no answer, the
/// pane asks.
///
/// # Errors
/// The question cannot be asked, or was left with Ctrl-C.
pub(crate) fn ask_before_start(context: &ActionContext, worktree: &Worktree) -> Result<()> {
    let by_key = context.invocation.caller == Caller::Key;
    if !by_key && !ui::is_on_terminal() {
        return Ok(());
    }
    let Some(asked) = unanswered(context, worktree)? else { return Ok(()) };
    if by_key {
        return ask_by_popup(context, worktree, &asked.hash);
    }
    ui::paragraph(question(&context.paths.show(worktree.root()), &asked));
    let yes = ui::confirm("Let them leave with the rest?", false)?;
    remember(&context.store, worktree.root(), &asked.hash, yes)
}

/// Opens the popup, and waits until it has an answer or is gone.
fn ask_by_popup(context: &ActionContext, worktree: &Worktree, hash: &str) -> Result<()> {
    if context.herdr.open_plugin_pane("trust", Place::Popup, Some(worktree.root()), &[]).is_err() {
        // One is open already.
        return Ok(());
    }
    let (began, mut was_asked) = (Instant::now(), false);
    loop {
        let is_asked = context.store.is_asked(worktree.root())?;
        let gone = !is_asked && (was_asked || began.elapsed() > POPUP);
        if gone || context.store.read()?.is_answered(worktree.root(), hash) {
            return Ok(());
        }
        was_asked |= is_asked;
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The process of the popup, in the worktree.
///
/// # Errors
/// The worktree cannot be listed, or the answer cannot be kept.
pub(crate) fn ask_in_popup(context: &ActionContext) -> Result<()> {
    let worktree = context.worktree()?;
    let _asked = context.store.ask(worktree.root())?;
    ask(context, &worktree)
}

/// Asks in the pane of a start what was answered nowhere before.
///
/// # Errors
/// The worktree cannot be listed, or the answer cannot be kept.
pub(crate) fn ask_in_pane(context: &ActionContext, record: &Record) -> Result<()> {
    ask(context, &Worktree::discover(&context.git()?, &record.worktree)?)
}

fn ask(context: &ActionContext, worktree: &Worktree) -> Result<()> {
    let Some(asked) = unanswered(context, worktree)? else { return Ok(()) };
    let mut sheet = Sheet::new(
        question(&context.paths.show(worktree.root()), &asked),
        "  y               let them leave with the rest\n  any other key   keep them home",
        "y lets them leave, other keys keep them home",
    )
    .opens_by_itself();
    let answer = sheet.ask(|typed| match typed {
        // Herdr's prefix reaches a pane, too.
        [first, ..] if *first < 0x20 && *first != 0x03 && *first != 0x1b => None,
        typed => Some(typed == b"y"),
    })?;
    answer.map_or(Ok(()), |yes| remember(&context.store, worktree.root(), &asked.hash, yes))
}

/// What there is to ask, if this content was not answered before.
fn unanswered(context: &ActionContext, worktree: &Worktree) -> Result<Option<Asked>> {
    let rules = rules(&context.config()?, &context.store, worktree.root())?;
    let state = context.store.read()?;
    Ok(worktree::asked(worktree, &rules)?.filter(|asked| !state.is_answered(worktree.root(), &asked.hash)))
}

pub(crate) fn remember(store: &Store, root: &Path, hash: &str, yes: bool) -> Result<()> {
    store.edit(|state| state.answer(root, hash, yes))
}

pub(crate) fn question(place: &str, asked: &Asked) -> String {
    let count = ui::count(asked.files.len() as u64, "file");
    let mut text = format!(
        "{INCLUDE} of {place} names {count} that git ignores, {}.\nThey would go into the box, which may be in the cloud:\n",
        ui::bytes(asked.bytes)
    );
    if asked.files.len() > MANY.0 || asked.bytes > MANY.1 {
        text += &format!("\n  note: that is more than {} files or {}\n", MANY.0, ui::bytes(MANY.1));
    }
    for path in asked.files.iter().take(NAMED) {
        text += &format!("\n  {}", ui::visible_line(&path.to_string()));
    }
    if asked.files.len() > NAMED {
        let all = command::action("upload").flag("--dry-run");
        text += &format!("\n  and {} more; all: {all}", asked.files.len() - NAMED);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::RelPath;

    fn asked(count: usize, bytes: u64) -> Asked {
        let file = |number: usize| RelPath::new(format!("f{number:03}").as_bytes()).unwrap();
        Asked { hash: String::new(), files: (0..count).map(file).collect(), bytes }
    }

    #[test]
    fn a_question_names_twenty_files_and_says_when_there_are_many() {
        let few = question("~/shop", &asked(2, 300));
        assert!(few.contains("names 2 files") && few.contains("f001") && !few.contains("note:"), "{few}");
        let many = question("~/shop", &asked(201, 300));
        assert!(many.contains("more than 200 files or 50.0 MB") && many.contains("and 181 more"), "{many}");
        assert!(question("~/shop", &asked(1, 50_000_001)).contains("more than 200 files"));
    }
}
