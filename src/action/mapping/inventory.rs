//! Every box with what we know of it: whose it is, which pane shows it. For `boxes` and `prune`.

use super::context::ActionContext;
use super::naming::is_ours;
use crate::createos::{BoxId, BoxView, Failure, Listing, Provider, ProviderKind, Scope};
use crate::error::{Error, Result};
use crate::herdr::{HerdrError, Pane};
use crate::state::{Made, Phase, Record, State};
use crate::ui;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// Whose a box is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A pane shows it, or will when its start is done.
    Pane(String),
    /// Its mapping is here and no pane shows it.
    Orphan,
    /// It was started in a plain terminal, which shows it or may again.
    Terminal,
    /// Its mapping is here, and the session of Herdr whose pane showed it does not run.
    NoSession,
    /// We made it and have no mapping any more.
    Unmapped,
    /// Another installation, another machine, another program.
    Elsewhere,
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) provider: ProviderKind,
    pub(crate) view: BoxView,
    pub(crate) owner: Owner,
    /// Its worktree, if a mapping names it.
    pub(crate) worktree: Option<PathBuf>,
}

impl Item {
    /// Only a box that was made here may be deleted from a list.
    pub(crate) fn is_ours(&self) -> bool {
        self.owner != Owner::Elsewhere
    }
}

/// What could be listed.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    /// The boxes, ours first.
    pub(crate) items: Vec<Item>,
    /// Who could not be asked, and why: the others' boxes are there all the same.
    pub(crate) unasked: Vec<(ProviderKind, Error)>,
    /// Whose list has no end that could be seen: there may be more boxes.
    pub(crate) incomplete: Vec<ProviderKind>,
}

impl Inventory {
    /// A line for each provider whose boxes are not all here.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let unasked = self.unasked.iter().map(|(kind, error)| {
            format!("{} boxes cannot be listed: {}", kind.word(), ui::visible(error.message()))
        });
        let incomplete = self.incomplete.iter().map(|kind| {
            format!("{} does not list all its boxes: there may be more, also of yours", kind.word())
        });
        unasked.chain(incomplete).collect()
    }

    /// The first refusal, when nobody could be asked at all.
    pub(crate) fn or_error(mut self) -> Result<Self> {
        if self.items.is_empty() && !self.unasked.is_empty() {
            return Err(self.unasked.remove(0).1);
        }
        Ok(self)
    }
}

/// Lists the live boxes of the provider in the settings, of every mapping, and of every box that may still come.
pub(crate) fn inventory(context: &ActionContext) -> Result<Inventory> {
    let state = context.store.read()?;
    let mut kinds: Vec<ProviderKind> = state.records.iter().map(|record| record.provider).collect();
    match context.config() {
        Ok(config) => kinds.insert(0, config.provider),
        // Settings that cannot be read hide no box that is mapped.
        Err(error) if kinds.is_empty() => return Err(error),
        Err(_) => {}
    }
    let may_come = state.made.iter().filter(|made| made.id.is_none()).filter_map(|made| made.provider);
    kinds.extend(may_come.filter(|kind| context.provider(*kind).is_ok()));
    let sessions = Sessions::look_at(context, &state);
    let mut inventory = Inventory::default();
    for kind in ProviderKind::ALL {
        if !kinds.contains(&kind) {
            continue;
        }
        match context.provider(kind).and_then(|provider| Ok(live(&provider, &state)?)) {
            Ok(listing) => {
                if !listing.complete {
                    inventory.incomplete.push(kind);
                }
                let items = listing.boxes.into_iter().map(|view| item(&state, &sessions, kind, view));
                inventory.items.extend(items);
            }
            Err(error) => inventory.unasked.push((kind, error)),
        }
    }
    inventory.items.sort_by_key(|item| !item.is_ours());
    Ok(inventory)
}

/// The live boxes. One of ours that the provider hides behind dead ones, as old builds do
/// (docs/measured/createos-cli.md 4.6), is looked for in the list of all, else by its id.
fn live(provider: &Provider, state: &State) -> Result<Listing, Failure> {
    let mut listing = provider.list(Scope::Live)?;
    let mapped = state.records.iter().filter(|record| record.provider == provider.kind());
    let mut hidden: HashSet<BoxId> = mapped.filter_map(|record| record.box_id.clone()).collect();
    hidden.retain(|id| listing.boxes.iter().all(|view| view.id != *id));
    if hidden.is_empty() {
        return Ok(listing);
    }
    let all = provider.list(Scope::Everything)?;
    listing.complete &= all.complete;
    for view in all.boxes {
        if hidden.remove(&view.id) && !view.status.is_gone() {
            listing.boxes.push(view);
        }
    }
    if !all.complete {
        let views = hidden.iter().filter_map(|id| provider.get(id).ok());
        listing.boxes.extend(views.filter(|view| !view.status.is_gone()));
    }
    Ok(listing)
}

fn item(state: &State, sessions: &Sessions, provider: ProviderKind, view: BoxView) -> Item {
    let record = record_of_box(state, provider, &view);
    let owner = match record {
        // What a failed start has left is nothing that a pane shows.
        Some(record) if record.phase == Phase::Leftover => Owner::Unmapped,
        Some(record) if record.is_of_any_session() && record.pane.is_none() => Owner::Terminal,
        Some(record) => sessions.owner(record),
        None if once_here(state, provider, &view) => Owner::Unmapped,
        None => Owner::Elsewhere,
    };
    Item { provider, view, owner, worktree: record.map(|record| record.worktree.clone()) }
}

/// The panes of every session of Herdr that a mapping names.
struct Sessions(BTreeMap<String, Panes>);

enum Panes {
    Listed(Vec<Pane>),
    NotRunning,
    /// Herdr itself could not be asked: what is stored is believed.
    Unknown,
}

impl Sessions {
    fn look_at(context: &ActionContext, state: &State) -> Self {
        let mut found = BTreeMap::new();
        for record in state.records.iter().filter(|record| !record.is_of_any_session()) {
            found.entry(record.socket.clone()).or_insert_with(|| {
                match context.herdr.at_socket(&record.socket).panes() {
                    Ok(panes) => Panes::Listed(panes),
                    Err(HerdrError::NoServer) => Panes::NotRunning,
                    Err(_) => Panes::Unknown,
                }
            });
        }
        Self(found)
    }

    fn owner(&self, record: &Record) -> Owner {
        let stored = || {
            Owner::Pane(record.pane.as_ref().map_or_else(|| "starts".into(), |pane| pane.as_str().to_owned()))
        };
        match self.0.get(&record.socket) {
            Some(Panes::NotRunning) => Owner::NoSession,
            Some(Panes::Listed(panes)) => {
                let shows = |pane: &&Pane| record.terminal.as_ref() == Some(&pane.terminal);
                // After a restart, until the startup hook has bound it anew.
                let restored = |pane: &&Pane| record.is_restored_in(pane);
                match panes.iter().find(shows).or_else(|| panes.iter().find(restored)) {
                    Some(pane) => Owner::Pane(pane.id.as_str().to_owned()),
                    None if record.phase == Phase::Starting => stored(),
                    None => Owner::Orphan,
                }
            }
            Some(Panes::Unknown) | None => stored(),
        }
    }
}

/// The record of a box: by its id, or by its name while its create call has not told the id.
pub(crate) fn record_of_box<'a>(
    state: &'a State,
    provider: ProviderKind,
    view: &BoxView,
) -> Option<&'a Record> {
    state.records.iter().find(|record| match &record.box_id {
        Some(id) => *id == view.id,
        None => record.create_called && record.provider == provider && record.name.as_str() == view.name,
    })
}

/// This installation's id is in its name, and it was once in this state folder.
fn once_here(state: &State, provider: ProviderKind, view: &BoxView) -> bool {
    let is_made = |made: &Made| {
        made.name.as_str() == view.name
            && made.provider.is_none_or(|own| own == provider)
            && made.id.as_ref().is_none_or(|own| *own == view.id)
    };
    is_ours(&view.name, &state.installation) && state.made.iter().any(is_made)
}
