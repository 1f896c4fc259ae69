//! Which box an action is about.

use super::context::{ActionContext, Called};
use super::naming::{start_one, title};
use crate::command;
use crate::error::{Error, Result};
use crate::state::{Phase, Record};
use crate::worktree::Worktree;
use std::path::Path;

/// A box, and whether it was found over the worktree instead of the pane.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) record: Record,
    /// The focused pane does not show it: messages must name it.
    pub(crate) by_worktree: bool,
}

impl Chosen {
    /// Behind the words about it: why this box.
    pub(crate) fn why(&self) -> &'static str {
        if self.by_worktree { " (the only box of this worktree)" } else { "" }
    }
}

/// The mapping that the command line names, else that of the focused pane.
pub(crate) fn meant(context: &ActionContext) -> Result<Option<Record>> {
    named(context)?.map_or_else(|| record_of_pane(context), |record| Ok(Some(record)))
}

/// The mapping of the focused pane, if it shows one.
fn record_of_pane(context: &ActionContext) -> Result<Option<Record>> {
    let Some(pane) = context.focus()? else { return Ok(None) };
    let state = context.store.read()?;
    Ok(state.of_terminal(&context.socket, &pane.terminal).cloned())
}

/// The box that the command line names, by its name or id, whatever shows it.
///
/// # Errors
/// No box that was made here is called so.
pub(crate) fn named(context: &ActionContext) -> Result<Option<Record>> {
    let Some(wanted) = &context.wanted else { return Ok(None) };
    let state = context.store.read()?;
    let is = |record: &&Record| {
        record.name.as_str() == wanted || record.box_id.as_ref().is_some_and(|id| id.as_str() == wanted)
    };
    let found = state.records.iter().filter(is);
    // A name is unique at its provider, and there are two.
    let here = found.clone().find(|record| record.socket == context.socket);
    match here.or_else(|| found.clone().next()) {
        Some(record) => Ok(Some(record.clone())),
        None => Err(Error::failed(format!("no box that was started here is called {wanted}"))
            .help(format!("see the boxes with: {}", command::action("boxes")))),
    }
}

/// The box that the command line names, else the focused pane's, else the only one of this worktree in this
/// session.
///
/// # Errors
/// There is none, or several: they are listed.
pub(crate) fn choose(context: &ActionContext) -> Result<Chosen> {
    if let Some(record) = meant(context)? {
        return ready(record).map(|record| Chosen { record, by_worktree: false });
    }
    let what = match context.called {
        Called::InHerdr => "this pane has no box",
        Called::Anywhere => "this worktree has no box",
    };
    let nothing = || Error::failed(what).help(start_one("start one"));
    let Ok(folder) = context.folder() else { return Err(nothing()) };
    let Ok(worktree) = Worktree::discover(&context.git()?, &folder) else { return Err(nothing()) };
    let found = of_worktree(context, worktree.root())?;
    match found.as_slice() {
        [] => Err(nothing().fact("worktree", context.paths.show(worktree.root()))),
        [only] => ready(only.clone()).map(|record| Chosen { record, by_worktree: true }),
        several => Err(which_of(context, several)?),
    }
}

/// Several boxes belong to the worktree: where each is, and what to type for it.
fn which_of(context: &ActionContext, several: &[Record]) -> Result<Error> {
    let count = several.len();
    let (what, panes) = match context.called {
        Called::InHerdr => (
            format!("this pane has no box, and {count} boxes belong to its worktree"),
            context.herdr.panes()?,
        ),
        Called::Anywhere => {
            (format!("{count} boxes belong to this worktree"), context.herdr.panes().unwrap_or_default())
        }
    };
    let mut error = Error::failed(what);
    let mut shown = false;
    for record in several {
        // The stored id may be one from before a move or a restart: only the terminal counts.
        let pane = panes.iter().find(|pane| record.terminal.as_ref() == Some(&pane.terminal));
        shown |= pane.is_some();
        let place = pane.map_or_else(|| "in no pane".to_owned(), |pane| format!("in pane {}", pane.id));
        let agent = format!("{}, {place}", title(record));
        error =
            error.fact(record.name.as_str(), if context.called == Called::Anywhere { agent } else { place });
    }
    if shown && context.called == Called::InHerdr {
        error = error.help("press the key in the pane of the box that you mean, or name the box:");
    }
    Ok(several
        .iter()
        .fold(error, |error, record| error.help(command::action(context.action).on(&record.name))))
}

fn of_worktree(context: &ActionContext, root: &Path) -> Result<Vec<Record>> {
    let state = context.store.read()?;
    let here = |record: &&Record| {
        (context.called == Called::Anywhere || record.socket == context.socket || record.is_of_any_session())
            && record.worktree == root
            && record.phase == Phase::Ready
    };
    Ok(state.records.iter().filter(here).cloned().collect())
}

/// A record whose box is up or was.
///
/// # Errors
/// Its start is under way, or has failed.
pub(crate) fn ready(record: Record) -> Result<Record> {
    match record.phase {
        Phase::Ready => Ok(record),
        Phase::Starting => Err(Error::failed(format!("box {} is still starting", record.name))
            .help("wait for its pane, then try again")),
        Phase::Failed => Err(Error::failed(format!("the start of box {} failed", record.name))
            .help("read its pane, close it, and start again")),
        Phase::Leftover => {
            Err(Error::failed(format!("the start of box {} failed, and its box may be left", record.name))
                .help(format!("delete it with: {}", command::action("delete").on(&record.name))))
        }
    }
}
