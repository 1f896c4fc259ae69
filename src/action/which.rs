//! Which box an action is about.

use super::session::Session;
use crate::error::{Error, Result};
use crate::state::{Phase, Record};
use crate::worktree::Worktree;
use std::path::Path;

/// A box, and whether it was found over the worktree instead of the pane.
#[derive(Debug)]
pub(super) struct Chosen {
    /// Its record.
    pub(super) record: Record,
    /// The focused pane does not show it: messages must name it.
    pub(super) by_worktree: bool,
}

/// The mapping of the focused pane, if it shows one.
///
/// # Errors
/// Herdr or the state cannot be read.
pub(super) fn of_pane(session: &Session) -> Result<Option<Record>> {
    let Some(pane) = session.focus()? else { return Ok(None) };
    let state = session.store.read()?;
    Ok(state.of_terminal(&session.socket, &pane.terminal).cloned())
}

/// The focused pane's box, else the only one of this worktree in this session.
///
/// # Errors
/// There is none, or several: they are listed.
pub(super) fn choose(session: &Session) -> Result<Chosen> {
    if let Some(record) = of_pane(session)? {
        return ready(record).map(|record| Chosen { record, by_worktree: false });
    }
    let nothing = || {
        Error::failed("this pane has no box")
            .help("start one with: createos-sandbox herdr start (in Herdr, the start key)")
    };
    let Ok(folder) = session.folder() else { return Err(nothing()) };
    let Ok(worktree) = Worktree::discover(&session.git()?, &folder) else { return Err(nothing()) };
    let found = of_worktree(session, worktree.root())?;
    match found.as_slice() {
        [] => Err(nothing().fact("worktree", session.paths.show(worktree.root()))),
        [only] => ready(only.clone()).map(|record| Chosen { record, by_worktree: true }),
        several => {
            let mut error = Error::failed(format!(
                "this pane has no box, and {} boxes belong to its worktree",
                several.len()
            ));
            for record in several {
                let pane = record.pane.as_ref().map_or("no pane".to_owned(), |pane| format!("pane {pane}"));
                error = error.fact(record.name.as_str(), pane);
            }
            Err(error.help("press the key in the pane of the box that you mean"))
        }
    }
}

fn of_worktree(session: &Session, root: &Path) -> Result<Vec<Record>> {
    let state = session.store.read()?;
    let here = |record: &&Record| {
        record.socket == session.socket && record.worktree == root && record.phase == Phase::Ready
    };
    Ok(state.records.iter().filter(here).cloned().collect())
}

fn ready(record: Record) -> Result<Record> {
    match record.phase {
        Phase::Ready => Ok(record),
        Phase::Starting => Err(Error::failed(format!("box {} is still starting", record.name))
            .help("wait for its pane, then try again")),
        Phase::Failed => Err(Error::failed(format!("the start of box {} failed", record.name))
            .help("read its pane, close it, and start again")),
        Phase::Leftover => {
            Err(Error::failed(format!("box {} could not be deleted after its start failed", record.name))
                .help("delete it with: createos-sandbox herdr prune"))
        }
    }
}
