//! `trust`: a yes to the worktree's `.worktreeinclude`, the repository's list of ignored files that leave with the rest.

use crate::action::mapping::state_folder;
use crate::action::pane::include::of_worktree;
use crate::cli::TrustArgs;
use crate::config::{PROJECT, Settings};
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::paths::Paths;
use crate::state::{Asks, Store};
use crate::worktree::{INCLUDE, Worktree};
use crate::{command, ui};
use std::path::Path;

/// Runs it for the worktree of the current folder.
///
/// # Errors
/// There is nobody to ask, the folder is in no worktree, or the answer cannot be kept.
pub(crate) fn trust(args: &TrustArgs) -> Result<Exit> {
    let here = std::env::current_dir().at("enter", Path::new("."))?;
    let worktree = Worktree::discover(Path::new("git"), &here)?;
    let paths = Paths::from_env()?;
    let folder = state_folder(&paths);
    paths.refuse_foreign_home(&folder)?;
    let store = Store::open(&folder);
    let place = paths.show(worktree.root());
    if args.revoke {
        store.edit(|state| state.answers.retain(|answer| answer.worktree != worktree.root()))?;
        ui::line(format!("what {INCLUDE} names in {place} stays home, and its {PROJECT} is ignored"));
        return Ok(Exit::DONE);
    }
    let settings = Settings::load(&paths.plugin_config())?;
    let questions = of_worktree(&settings, &store, &worktree, &place)?;
    if questions.is_empty() {
        let names = format!("{INCLUDE} and {PROJECT}");
        ui::line(format!(
            "nothing to ask about {names} in {place}: they are trusted, not there, or name no file"
        ));
        return Ok(Exit::DONE);
    }
    let mut all = true;
    for question in questions {
        ui::paragraph(&question.text);
        let yes = if args.yes {
            true
        } else if ui::is_on_terminal() {
            ui::confirm(question.ask(), false)?
        } else {
            return Err(Error::usage("there is nobody to ask").help(format!(
                "if you have read it, say yes with: {}",
                command::own(["trust"]).flag("--yes")
            )));
        };
        question.remember(&store, worktree.root(), yes)?;
        ui::line(match (question.of, yes) {
            (Asks::Include, true) => "they leave from now on, until the file changes",
            (Asks::Include, false) => "they stay home",
            (Asks::Project, true) => "it counts from now on, until the file changes",
            (Asks::Project, false) => "it is ignored",
        });
        all &= yes;
    }
    Ok(Exit::failed_if(!all))
}
