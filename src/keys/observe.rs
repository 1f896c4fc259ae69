//! What is bound: each wanted action with its chords, or who has the chord that it wants.

use super::chord::Chord;
use super::document::{Document, Shape};
use super::marker::is_ours;
use super::owners::{Holder, Lost, Owners};
use super::{KeysError, Wanted};

/// The wanted actions in their order, as the file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observed {
    /// One for each wanted binding.
    pub(crate) actions: Vec<Action>,
    /// The key that `prefix` stands for, such as `ctrl+b`.
    pub(crate) prefix: String,
}

/// One wanted action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Action {
    /// Our name of it.
    pub(crate) action: String,
    /// Whether the file has it.
    pub(crate) state: State,
}

/// Whether an action is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// The file has an entry of type `plugin_action` with its command.
    Bound {
        /// The chords that start it; none when all of them are lost, or none was given.
        live: Vec<Live>,
        /// Chords of the entry that Herdr does not bind.
        lost: Vec<Lost>,
        /// The line of the first such entry, from 1.
        line: usize,
    },
    /// It has none.
    Missing {
        /// The first choice.
        chord: Chord,
        /// Who has the first choice now. A [`Holder::Default`] would give way.
        taken: Option<Holder>,
    },
}

/// A chord that starts the action.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Live {
    /// The chord.
    pub(crate) chord: Chord,
    /// The field of `[keys]` whose default it displaces without a word from Herdr.
    pub(crate) displaces: Option<String>,
}

/// Looks for the wanted actions in the bytes of a `config.toml`; a missing file is empty.
///
/// # Errors
/// The file is not UTF-8, is no TOML 1.0, or has a `keys` that Herdr cannot read.
pub(crate) fn observe(text: &[u8], wanted: &[Wanted]) -> Result<Observed, KeysError> {
    let document = Document::parse(text)?;
    let entries = document.entries()?;
    let owners = Owners::of(&document, &entries)?;
    let actions = wanted.iter().map(|wanted| {
        let ours: Vec<usize> = (0..entries.len()).filter(|i| entries[*i].is(&wanted.command)).collect();
        let state = match ours.first() {
            None => State::Missing { chord: wanted.chord, taken: owners.holder(wanted.chord).cloned() },
            Some(first) => State::Bound {
                live: ours
                    .iter()
                    .flat_map(|i| &owners.bound(*i).live)
                    .map(|chord| Live { chord: *chord, displaces: owners.default_of(*chord).map(Into::into) })
                    .collect(),
                lost: ours.iter().flat_map(|i| owners.bound(*i).lost.iter().cloned()).collect(),
                line: entries[*first].line,
            },
        };
        Action { action: wanted.action.clone(), state }
    });
    Ok(Observed { actions: actions.collect(), prefix: owners.prefix().to_string() })
}

/// An entry that runs an action of our plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginEntry {
    /// The action's id in Herdr.
    pub(crate) command: String,
    /// Its first line, from 1.
    pub(crate) line: usize,
    /// Its last line, where its lines are its own: a table, not an entry of a list.
    pub(crate) last_line: Option<usize>,
}

/// The entries that run an action of our plugin, whoever wrote them.
///
/// # Errors
/// As [`observe`].
pub(crate) fn entries_of_the_plugin(text: &[u8]) -> Result<Vec<PluginEntry>, KeysError> {
    let document = Document::parse(text)?;
    let is_table = document.shape()? == Shape::Tables;
    let entries = document.entries()?.into_iter().filter(is_ours).map(|entry| PluginEntry {
        last_line: is_table.then(|| document.lines.number(entry.span.end.saturating_sub(1))),
        command: entry.command,
        line: entry.line,
    });
    Ok(entries.collect())
}

/// The chords that start an action, in whatever way the file writes them.
///
/// # Errors
/// As [`observe`].
pub(crate) fn chords_of(text: &[u8], command: &str) -> Result<Vec<Chord>, KeysError> {
    let document = Document::parse(text)?;
    let entries = document.entries()?;
    let owners = Owners::of(&document, &entries)?;
    let ours = (0..entries.len()).filter(|i| entries[*i].is(command));
    Ok(ours.flat_map(|i| owners.bound(i).live.iter().copied()).collect())
}

impl Action {
    /// Whether a press of some chord starts it.
    pub(crate) fn is_live(&self) -> bool {
        matches!(&self.state, State::Bound { live, .. } if !live.is_empty())
    }
}

impl super::document::Entry {
    /// Whether it binds this action of a plugin. Herdr takes the id as it stands, blanks included.
    pub(super) fn is(&self, command: &str) -> bool {
        self.is_plugin_action && self.command == command
    }
}
