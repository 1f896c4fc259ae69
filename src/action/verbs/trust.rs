//! `trust`: a yes to the worktree's `.worktreeinclude`, the repository's list of ignored files that leave with the rest.

use crate::action::mapping::state_folder;
use crate::action::pane::include::{question, remember, rules};
use crate::cli::TrustArgs;
use crate::config::Config;
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::paths::Paths;
use crate::state::Store;
use crate::worktree::{self, INCLUDE, Worktree};
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
        ui::line(format!("what {INCLUDE} names in {place} stays home"));
        return Ok(Exit::DONE);
    }
    let rules = rules(&Config::load(&paths.plugin_config())?, &store, worktree.root())?;
    let Some(asked) = worktree::asked(&worktree, &rules)? else {
        let why = if rules.trusted.is_some() {
            "it is trusted already, or names no file"
        } else {
            "it is not there, or names no file"
        };
        ui::line(format!("nothing to ask about {INCLUDE} in {place}: {why}"));
        return Ok(Exit::DONE);
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
    Ok(Exit::failed_if(!yes))
}
