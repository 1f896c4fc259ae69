//! What a document says, whatever its shape: the proof that a splice did what it should and nothing else.

use super::document::Document;
use std::collections::BTreeMap;
use toml_edit::{Item, Table, Value};

/// Parsed values without their spelling. Floats are compared by their bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A table, in whatever form.
    Table(BTreeMap<String, Meaning>),
    /// A list, or an array of tables.
    List(Vec<Meaning>),
    /// Anything else: its type and its value.
    Scalar(&'static str, String),
}

impl Meaning {
    /// The meaning of a document.
    pub(super) fn of(root: &Table) -> Self {
        table(root.iter())
    }

    /// The list `keys.command`, made when it is missing.
    pub(super) fn commands(&mut self) -> &mut Vec<Self> {
        let keys = self.field("keys", || Self::Table(BTreeMap::new()));
        match keys.field("command", || Self::List(Vec::new())) {
            Self::List(list) => list,
            _ => unreachable!("the document's shape was checked: keys.command is a list"),
        }
    }

    /// An empty `keys.command`, and then empty `keys`, mean the same as none.
    #[must_use]
    pub(super) fn trimmed(mut self) -> Self {
        if self.commands().is_empty()
            && let Self::Table(root) = &mut self
            && let Some(Self::Table(keys)) = root.get_mut("keys")
        {
            keys.remove("command");
            if keys.is_empty() {
                root.remove("keys");
            }
        }
        self
    }

    /// An entry of `keys.command` with these fields.
    pub(super) fn entry(fields: &[(&str, &str)]) -> Self {
        let text = |text: &str| Self::Scalar("text", text.into());
        Self::Table(fields.iter().map(|(name, value)| ((*name).into(), text(value))).collect())
    }

    /// Gives the text at the end of these names this value; where something else than a table is in the way,
    /// nothing happens.
    pub(super) fn set(&mut self, way: &[&str], value: &str) {
        let Self::Table(fields) = self else { return };
        match way {
            [] => {}
            [last] => drop(fields.insert((*last).into(), Self::Scalar("text", value.into()))),
            [first, rest @ ..] => {
                fields.entry((*first).into()).or_insert_with(|| Self::Table(BTreeMap::new())).set(rest, value)
            }
        }
    }

    /// Takes what stands at the end of these names out.
    pub(super) fn remove(&mut self, way: &[&str]) {
        let Self::Table(fields) = self else { return };
        match way {
            [] => {}
            [last] => drop(fields.remove(*last)),
            [first, rest @ ..] => {
                if let Some(below) = fields.get_mut(*first) {
                    below.remove(rest);
                }
            }
        }
    }

    /// Without the tables below `name` that hold nothing, and without itself then.
    #[must_use]
    pub(super) fn without_empty(mut self, name: &str) -> Self {
        fn empty(of: &mut Meaning) -> bool {
            let Meaning::Table(fields) = of else { return false };
            fields.retain(|_, field| !empty(field));
            fields.is_empty()
        }
        if let Self::Table(fields) = &mut self
            && fields.get_mut(name).is_some_and(empty)
        {
            fields.remove(name);
        }
        self
    }

    fn field(&mut self, name: &str, missing: impl FnOnce() -> Self) -> &mut Self {
        match self {
            Self::Table(fields) => fields.entry(name.into()).or_insert_with(missing),
            _ => unreachable!("the document's shape was checked: keys is a table"),
        }
    }
}

/// Whether `text` means this.
pub(super) fn means(text: &str, expected: &Meaning) -> bool {
    Document::parse(text.as_bytes())
        .and_then(|document| document.shape().map(|_| Meaning::of(document.root()).trimmed()))
        .is_ok_and(|meaning| meaning == *expected)
}

fn table<'a>(fields: impl Iterator<Item = (&'a str, &'a Item)>) -> Meaning {
    Meaning::Table(fields.filter_map(|(name, value)| Some((name.into(), item(value)?))).collect())
}

fn item(from: &Item) -> Option<Meaning> {
    Some(match from {
        Item::None => return None,
        Item::Value(value) => scalar(value),
        Item::Table(fields) => table(fields.iter()),
        Item::ArrayOfTables(tables) => Meaning::List(tables.iter().map(|t| table(t.iter())).collect()),
    })
}

fn scalar(value: &Value) -> Meaning {
    match value {
        Value::String(text) => Meaning::Scalar("text", text.value().clone()),
        Value::Integer(number) => Meaning::Scalar("integer", number.value().to_string()),
        Value::Float(number) => Meaning::Scalar("float", number.value().to_bits().to_string()),
        Value::Boolean(truth) => Meaning::Scalar("boolean", truth.value().to_string()),
        Value::Datetime(time) => Meaning::Scalar("time", time.value().to_string()),
        Value::Array(list) => Meaning::List(list.iter().map(scalar).collect()),
        Value::InlineTable(fields) => {
            Meaning::Table(fields.iter().map(|(name, value)| (name.into(), scalar(value))).collect())
        }
    }
}
