//! `trust`: a yes to the worktree's `.worktreeinclude`, the repository's list of ignored files that leave with the rest.

use crate::action::mapping::session::{Session, state_folder};
use crate::action::pane::sheet::Sheet;
use crate::cli::TrustArgs;
use crate::command;
use crate::config::Config;
use crate::error::{Error, IoContext, Result};
use crate::paths::Paths;
use crate::state::{Record, Store};
use crate::ui;
use crate::worktree::{self, Asked, INCLUDE, Rules, Worktree};
use std::path::Path;

/// Names in a question; all of them are in `upload --dry-run`.
const NAMED: usize = 20;
/// More files, or more bytes, are said to be many.
const MANY: (usize, u64) = (200, 50_000_000);

/// Runs it for the worktree of the current folder.
///
/// # Errors
/// There is nobody to ask, the folder is in no worktree, or the answer cannot be kept.
pub(crate) fn trust(args: &TrustArgs) -> Result<u8> {
    let here = std::env::current_dir().at("enter", Path::new("."))?;
    let worktree = Worktree::discover(Path::new("git"), &here)?;
    let paths = Paths::from_env()?;
    let folder = state_folder(&paths);
    paths.refuse_foreign_home(&folder)?;
    let store = Store::open(&folder);
    let place = paths.show(worktree.root());
    if args.revoke {
        store.update(|state| {
            state.answers.retain(|answer| answer.worktree != worktree.root());
            Ok(())
        })?;
        ui::line(format!("what {INCLUDE} names in {place} stays home"));
        return Ok(0);
    }
    let rules = rules(&Config::load(&paths.plugin_config())?, &store, worktree.root())?;
    let Some(asked) = worktree::asked(&worktree, &rules)? else {
        let why = if rules.trusted.is_some() {
            "it is trusted already, or names no file"
        } else {
            "it is not there, or names no file"
        };
        ui::line(format!("nothing to ask about {INCLUDE} in {place}: {why}"));
        return Ok(0);
    };
    ui::paragraph(question(&place, &asked));
    let yes = if args.yes {
        true
    } else if ui::is_on_terminal() {
        ui::confirm("Let them leave with the rest?", false)?
    } else {
        return Err(Error::usage("there is nobody to ask")
            .help(format!("if you have read it, say yes with: {}", command::own(["trust"]).flag("--yes"))));
    };
    remember(&store, worktree.root(), &asked.hash, yes)?;
    let done = if yes { "they leave from now on, until the file changes" } else { "they stay home" };
    ui::line(done);
    Ok(u8::from(!yes))
}

/// The rules of a worktree, with the user's yes.
///
/// # Errors
/// The state cannot be read.
pub(crate) fn rules(config: &Config, store: &Store, root: &Path) -> Result<Rules> {
    let mut rules = config.rules(root);
    let state = store.read()?;
    let answer = state.answers.iter().find(|answer| answer.worktree == root && answer.yes);
    rules.trusted = answer.map(|answer| answer.hash.clone());
    Ok(rules)
}

/// Asks once on the terminal of a start that was typed, where that is new.
///
/// # Errors
/// The question cannot be asked, or was left with Ctrl-C.
pub(crate) fn ask_on_terminal(session: &Session, worktree: &Worktree) -> Result<()> {
    if !ui::is_on_terminal() {
        return Ok(());
    }
    let Some(asked) = unanswered(session, worktree)? else { return Ok(()) };
    ui::paragraph(question(&session.paths.show(worktree.root()), &asked));
    let yes = ui::confirm("Let them leave with the rest?", false)?;
    remember(&session.store, worktree.root(), &asked.hash, yes)
}

/// Asks once in the pane of a start, where nobody was asked before.
///
/// # Errors
/// The worktree cannot be listed, or the answer cannot be kept.
pub(crate) fn ask_in_pane(session: &Session, record: &Record) -> Result<()> {
    let worktree = Worktree::discover(&session.git()?, &record.worktree)?;
    let Some(asked) = unanswered(session, &worktree)? else { return Ok(()) };
    let mut sheet = Sheet::new(
        question(&session.paths.show(worktree.root()), &asked),
        "  y               let them leave with the rest\n  any other key   keep them home",
        "y lets them leave, other keys keep them home",
    );
    let answer = sheet.ask(|typed| match typed {
        // Herdr's prefix reaches a pane, too.
        [first, ..] if *first < 0x20 && *first != 0x03 && *first != 0x1b => None,
        typed => Some(typed == b"y"),
    })?;
    match answer {
        Some(yes) => remember(&session.store, worktree.root(), &asked.hash, yes),
        None => Ok(()),
    }
}

/// What there is to ask, if this content was not answered before.
fn unanswered(session: &Session, worktree: &Worktree) -> Result<Option<Asked>> {
    let rules = rules(&session.config()?, &session.store, worktree.root())?;
    let state = session.store.read()?;
    let known = |hash: &str| {
        state.answers.iter().any(|answer| answer.worktree == worktree.root() && answer.hash == hash)
    };
    Ok(worktree::asked(worktree, &rules)?.filter(|asked| !known(&asked.hash)))
}

fn remember(store: &Store, root: &Path, hash: &str, yes: bool) -> Result<()> {
    store.update(|state| {
        state.answer(root, hash, yes);
        Ok(())
    })
}

fn question(place: &str, asked: &Asked) -> String {
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
