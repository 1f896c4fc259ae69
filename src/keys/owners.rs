//! Who holds a chord: Herdr's registration, in its order (docs/measured/herdr.md 3.3).
//!
//! First the prefix, then the fields that the user wrote, then the commands in file order, then the
//! defaults that nobody touched. Who comes first keeps the chord.

use super::KeysError;
use super::builtins::builtins;
use super::chord::{Chord, ChordError, Stroke};
use super::document::{Document, Entry};
use std::collections::HashMap;
use std::fmt;

/// Who has a chord.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Holder {
    /// Herdr's prefix key, alone or after itself.
    Prefix,
    /// A built-in that the user bound in `[keys]`.
    User {
        /// Its name in `[keys]`.
        field: String,
        /// The line, from 1.
        line: usize,
    },
    /// A command of the user's that is no plugin action.
    Command {
        /// Its description, or what it runs.
        what: String,
        /// The line, from 1.
        line: usize,
    },
    /// The action of a plugin.
    Plugin {
        /// The action's id as the file has it.
        command: String,
        /// The line, from 1.
        line: usize,
    },
    /// An untouched default of Herdr's, which gives way to any command.
    Default {
        /// Its name in `[keys]`.
        field: String,
    },
    /// Another of our own actions.
    Action {
        /// Its name.
        action: String,
    },
}

impl Holder {
    /// Whether it gives way to a command without a word.
    pub(super) fn gives_way(&self) -> bool {
        matches!(self, Self::Default { .. })
    }
}

impl fmt::Display for Holder {
    /// As in "prefix+shift+c is … ".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix => f.write_str("Herdr's prefix key"),
            Self::User { field, line } => write!(f, "yours ({field}, line {line})"),
            Self::Command { what, line } => write!(f, "yours ({what}, line {line})"),
            Self::Plugin { command, line } => write!(f, "taken by the plugin action {command} (line {line})"),
            Self::Default { field } => write!(f, "Herdr's {field}"),
            Self::Action { action } => write!(f, "taken by {action}"),
        }
    }
}

/// A chord that an entry has in the file and not in Herdr.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Lost {
    /// As the file has it.
    pub(crate) written: String,
    /// Why Herdr does not bind it.
    pub(crate) reason: Reason,
}

/// Why Herdr does not bind a chord.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    /// Somebody before it has the chord.
    Taken(Holder),
    /// Herdr refuses the chord itself.
    #[serde(serialize_with = "as_text")]
    Refused(ChordError),
}

fn as_text<S: serde::Serializer>(error: &ChordError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(holder) => holder.fmt(f),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

/// Built-ins with the name in the legacy `[keys.indexed]` that displaces their defaults.
const LEGACY: [(&str, &str); 3] =
    [("switch_tab", "tabs"), ("switch_workspace", "workspaces"), ("focus_agent", "agents")];

/// The result of Herdr's registration.
#[derive(Debug)]
pub(super) struct Owners {
    prefix: Stroke,
    held: HashMap<Chord, Holder>,
    /// Defaults of fields that the user did not write, won or lost.
    defaults: HashMap<Chord, &'static str>,
    bound: Vec<Bound>,
}

/// What became of the chords of one command.
#[derive(Debug, Default)]
pub(super) struct Bound {
    /// Bound in Herdr.
    pub(super) live: Vec<Chord>,
    /// In the file only.
    pub(super) lost: Vec<Lost>,
}

impl Owners {
    /// Registers everything as Herdr does. `entries` are the document's.
    pub(super) fn of(document: &Document<'_>, entries: &[Entry]) -> Result<Self, KeysError> {
        let prefix = prefix(document)?;
        let mut owners = Self { prefix, held: HashMap::new(), defaults: HashMap::new(), bound: Vec::new() };
        for chord in [Chord::direct(prefix), Chord::prefixed(prefix)] {
            owners.hold(chord, &Holder::Prefix);
        }
        let mut legacy = Vec::new();
        for (builtin, name) in LEGACY {
            legacy.extend(document.indexed(name)?.map(|field| (builtin, name, field)));
        }
        for builtin in builtins() {
            let alias = builtin.alias.as_deref().map(|name| document.field(name)).transpose()?.flatten();
            let written = match (document.field(&builtin.field)?, alias) {
                (Some(field), Some(_)) => {
                    let what = format!("keys.{} stands there twice, under two names", builtin.field);
                    return Err(KeysError::Shape { line: field.line, what });
                }
                (field, alias) => field.or(alias),
            };
            match written {
                Some(field) => {
                    let holder = Holder::User { field: builtin.field.clone(), line: field.line };
                    let chords = field.chords.iter().map(|text| match builtin.indexed {
                        true => Chord::range(text),
                        false => text.parse().map(|chord| vec![chord]),
                    });
                    // What Herdr cannot read there it does not bind, and says so itself.
                    for chord in chords.flatten().flatten() {
                        owners.hold(chord, &holder);
                    }
                }
                None if legacy.iter().any(|(displaced, ..)| *displaced == builtin.field) => {}
                None => {
                    owners.defaults.extend(builtin.defaults.iter().map(|c| (*c, builtin.field.as_str())));
                }
            }
        }
        for (_, name, field) in legacy {
            let holder = Holder::User { field: format!("indexed.{name}"), line: field.line };
            for stroke in field.chords.iter().filter_map(|text| Stroke::indexed(text)).flatten() {
                owners.hold(Chord::direct(stroke), &holder);
            }
        }
        for entry in entries {
            let bound = owners.register(entry);
            owners.bound.push(bound);
        }
        for (chord, field) in owners.defaults.clone() {
            owners.hold(chord, &Holder::Default { field: field.into() });
        }
        Ok(owners)
    }

    /// Who has this chord.
    pub(super) fn holder(&self, chord: Chord) -> Option<&Holder> {
        self.held.get(&chord)
    }

    /// The untouched default that has this chord, or would have it.
    pub(super) fn default_of(&self, chord: Chord) -> Option<&'static str> {
        self.defaults.get(&chord).copied()
    }

    /// Herdr's prefix key.
    pub(super) fn prefix(&self) -> Stroke {
        self.prefix
    }

    /// What became of the command with this index.
    pub(super) fn bound(&self, index: usize) -> &Bound {
        &self.bound[index]
    }

    /// First come, first served.
    fn hold(&mut self, chord: Chord, holder: &Holder) {
        self.held.entry(chord).or_insert_with(|| holder.clone());
    }

    fn register(&mut self, entry: &Entry) -> Bound {
        let mut bound = Bound::default();
        if entry.command.trim().is_empty() {
            return bound;
        }
        let holder = if entry.is_plugin_action {
            Holder::Plugin { command: entry.command.clone(), line: entry.line }
        } else {
            let what = entry.description.as_deref().unwrap_or(&entry.command);
            Holder::Command { what: what.into(), line: entry.line }
        };
        for written in entry.chords.iter().filter(|text| !text.trim().is_empty()) {
            let mut lose = |reason| bound.lost.push(Lost { written: written.clone(), reason });
            match written.parse::<Chord>() {
                Err(error) => lose(Reason::Refused(error)),
                Ok(chord) => match self.held.get(&chord) {
                    Some(first) => lose(Reason::Taken(first.clone())),
                    None => {
                        self.hold(chord, &holder);
                        bound.live.push(chord);
                    }
                },
            }
        }
        bound
    }
}

/// The prefix key: the user's where Herdr can read it, else Herdr's own.
fn prefix(document: &Document<'_>) -> Result<Stroke, KeysError> {
    let written = document.field("prefix")?;
    Ok(written
        .and_then(|field| field.chords.first()?.parse::<Stroke>().ok())
        .unwrap_or_else(|| "ctrl+b".parse().expect("Herdr's default prefix is a key")))
}
