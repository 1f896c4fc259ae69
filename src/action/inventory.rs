//! Every box with what we know of it: whose it is, which pane shows it. For `boxes` and `prune`.

use super::session::Session;
use super::start::{is_ours, provider_kind};
use crate::createos::{BoxId, BoxView, ProviderKind, Scope};
use crate::error::Result;
use crate::herdr::TerminalId;
use crate::state::{Phase, Record, State};
use std::path::PathBuf;

/// Whose a box is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// A pane shows it.
    Pane(String),
    /// Its mapping is here and no pane shows it.
    Orphan,
    /// We made it and have no mapping any more.
    Unmapped,
    /// Another installation, another machine, another program.
    Elsewhere,
}

/// One box.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Who made it.
    pub(super) provider: ProviderKind,
    /// What the provider says.
    pub(super) view: BoxView,
    /// Whose it is.
    pub(super) owner: Owner,
    /// Its worktree, if a mapping names it.
    pub(super) worktree: Option<PathBuf>,
}

impl Item {
    /// Only a box that was made here may be deleted from a list.
    pub(super) fn is_ours(&self) -> bool {
        self.owner != Owner::Elsewhere
    }
}

/// Lists the live boxes of the provider in the settings and of every mapping.
///
/// # Errors
/// A provider cannot be asked.
pub(super) fn inventory(session: &Session) -> Result<Vec<Item>> {
    let state = session.store.read()?;
    let mut kinds = vec![provider_kind(&session.config()?)];
    for record in &state.records {
        if !kinds.contains(&record.provider) {
            kinds.push(record.provider);
        }
    }
    // Without Herdr the list is as good, only without panes.
    let panes = session.herdr.panes().unwrap_or_default();
    let terminals: Vec<_> = panes.into_iter().map(|pane| pane.terminal).collect();
    let mut items = Vec::new();
    for kind in kinds {
        let listing = session.provider(kind)?.list(Scope::Live)?;
        items.extend(
            listing.boxes.into_iter().map(|view| item(&state, &session.socket, &terminals, kind, view)),
        );
    }
    items.sort_by_key(|item| !item.is_ours());
    Ok(items)
}

fn item(
    state: &State,
    socket: &str,
    terminals: &[TerminalId],
    provider: ProviderKind,
    view: BoxView,
) -> Item {
    let record = state.records.iter().find(|record| record.box_id.as_ref() == Some(&view.id));
    let owner = match record {
        Some(record) if shown(record, socket, terminals) => {
            Owner::Pane(record.pane.as_ref().map_or_else(String::new, |pane| pane.as_str().to_owned()))
        }
        Some(_) => Owner::Orphan,
        None if once_here(state, &view.id, &view.name) => Owner::Unmapped,
        None => Owner::Elsewhere,
    };
    Item { provider, view, owner, worktree: record.map(|record| record.worktree.clone()) }
}

/// Panes of other sessions cannot be seen from here: they are believed.
fn shown(record: &Record, socket: &str, terminals: &[TerminalId]) -> bool {
    match &record.terminal {
        Some(terminal) => record.socket != socket || terminals.contains(terminal),
        None => record.phase == Phase::Starting,
    }
}

/// This installation's id is in its name, and it was once in this state folder.
pub(super) fn once_here(state: &State, id: &BoxId, name: &str) -> bool {
    is_ours(name, &state.installation)
        && state.made.iter().any(|made| made.id == *id && made.name.as_str() == name)
}
