//! `config.toml` as Herdr reads it: what its `keys` say, and where they say it.
//!
//! Herdr 0.8.2 reads TOML 1.0 with toml_edit 0.22, and so do we: a file that is parsable here is parsable
//! there (docs/measured/herdr.md 2.2, 13). All offsets are bytes of the whole text, the BOM included.

use super::KeysError;
use super::lines::Lines;
use std::ops::Range;
use toml_edit::{ImDocument, Item, Table, TableLike, Value};

/// The fields of an entry of ours, in the order in which they are written.
pub(super) const FIELDS: [&str; 4] = ["key", "type", "command", "description"];

/// A parsed `config.toml` and its text.
pub(super) struct Document<'a> {
    /// The text by lines.
    pub(super) lines: Lines<'a>,
    root: ImDocument<&'a str>,
}

/// How the file writes its commands, which decides how another one is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// There are none, and a `[[keys.command]]` table may be appended.
    Absent,
    /// There are none, and `keys = {…}` is an inline table with this span.
    InlineKeys(Range<usize>),
    /// `[[keys.command]]` tables.
    Tables,
    /// A list with this span: `command = [{…}]`.
    List(Range<usize>),
}

/// One entry of `keys.command`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// From its header or brace to the end of its last value.
    pub(super) span: Range<usize>,
    /// Where its first field's name starts.
    pub(super) first_field: Option<usize>,
    /// The line on which it starts, from 1.
    pub(super) line: usize,
    /// The chords as they are written.
    pub(super) chords: Vec<String>,
    /// `command`, untrimmed; empty when missing.
    pub(super) command: String,
    /// `type` is `plugin_action`.
    pub(super) is_plugin_action: bool,
    /// `description`, if any.
    pub(super) description: Option<String>,
    /// It has fields that a merge never writes.
    pub(super) has_more: bool,
}

/// A field of `[keys]` that the user wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// The line of its name, from 1.
    pub(super) line: usize,
    /// The chords as they are written.
    pub(super) chords: Vec<String>,
}

impl<'a> Document<'a> {
    /// Parses the bytes of a file.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, KeysError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = error.valid_up_to();
            let before = std::str::from_utf8(&bytes[..valid]).expect("the part before the error is valid");
            let (line, column) = Lines::new(before).position(valid);
            KeysError::NotUtf8 { line, column }
        })?;
        let lines = Lines::new(text);
        match ImDocument::parse(text) {
            Ok(root) => Ok(Self { lines, root }),
            Err(error) => {
                let at = error.span().map_or(0, |span| floor(text, span.start));
                let (line, column) = lines.position(at);
                let message = error.message().lines().collect::<Vec<_>>().join(", ");
                Err(KeysError::Syntax { line, column, message })
            }
        }
    }

    /// Everything in the file.
    pub(super) fn root(&self) -> &Table {
        self.root.as_table()
    }

    /// Where `keys.command` is, and how it is written.
    pub(super) fn shape(&self) -> Result<Shape, KeysError> {
        let Some(keys) = self.root().get("keys") else { return Ok(Shape::Absent) };
        let table = self.keys()?.expect("keys exist");
        match (table.get("command"), keys) {
            (Some(Item::ArrayOfTables(_)), _) => Ok(Shape::Tables),
            (Some(Item::Value(Value::Array(list))), _) => {
                Ok(Shape::List(list.span().expect("a parsed list has a span")))
            }
            (Some(_), _) => Err(self.unreadable("command", "must be a list of tables")),
            (None, Item::Value(inline)) => {
                Ok(Shape::InlineKeys(inline.span().expect("a parsed table has a span")))
            }
            (None, _) => Ok(Shape::Absent),
        }
    }

    /// The entries of `keys.command` in their order.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, KeysError> {
        match (self.shape()?, self.keys()?.and_then(|keys| keys.get("command"))) {
            (Shape::Tables, Some(Item::ArrayOfTables(tables))) => {
                tables.iter().map(|table| self.entry(table, extent(table))).collect()
            }
            (Shape::List(_), Some(Item::Value(Value::Array(list)))) => list
                .iter()
                .map(|value| match (value, value.span()) {
                    (Value::InlineTable(table), Some(span)) => self.entry(table, Some(span)),
                    (_, span) => Err(wrong(self.line_of(span), "an entry of keys.command must be a table")),
                })
                .collect(),
            _ => Ok(Vec::new()),
        }
    }

    /// A field of `[keys]` that holds chords, if the user wrote it.
    pub(super) fn field(&self, name: &str) -> Result<Option<Field>, KeysError> {
        let Some((key, item)) = self.keys()?.and_then(|keys| keys.get_key_value(name)) else {
            return Ok(None);
        };
        let line = self.line_of(key.span());
        match texts(item) {
            Some(chords) => Ok(Some(Field { line, chords })),
            None => Err(self.unreadable(name, "must be text or a list of texts")),
        }
    }

    /// A field of the legacy `[keys.indexed]`, if the user wrote it.
    pub(super) fn indexed(&self, name: &str) -> Result<Option<Field>, KeysError> {
        let Some(indexed) = self.keys()?.and_then(|keys| keys.get("indexed")) else { return Ok(None) };
        let Some(table) = indexed.as_table_like() else {
            return Err(self.unreadable("indexed", "must be a table"));
        };
        let Some((key, item)) = table.get_key_value(name) else { return Ok(None) };
        let line = self.line_of(key.span());
        let text = item.as_str().ok_or_else(|| self.unreadable("indexed", "must hold texts"))?;
        Ok(Some(Field { line, chords: vec![text.into()] }))
    }

    fn keys(&self) -> Result<Option<&dyn TableLike>, KeysError> {
        let Some((key, item)) = self.root().get_key_value("keys") else { return Ok(None) };
        item.as_table_like().map(Some).ok_or_else(|| wrong(self.line_of(key.span()), "keys must be a table"))
    }

    fn entry(&self, table: &dyn TableLike, span: Option<Range<usize>>) -> Result<Entry, KeysError> {
        let span = span.expect("a parsed entry has a span");
        let line = self.lines.number(span.start);
        let text = |name: &str| match table.get(name).map(Item::as_str) {
            None => Ok(None),
            Some(Some(text)) => Ok(Some(text.to_owned())),
            Some(None) => Err(wrong(line, format!("{name} must be text"))),
        };
        let is_plugin_action = match text("type")?.as_deref() {
            Some("plugin_action") => true,
            None | Some("shell" | "pane" | "popup") => false,
            Some(_) => return Err(wrong(line, "type must be shell, pane, popup or plugin_action")),
        };
        let chords = match table.get("key") {
            None => Vec::new(),
            Some(item) => texts(item).ok_or_else(|| wrong(line, "key must be text or a list of texts"))?,
        };
        Ok(Entry {
            first_field: table
                .iter()
                .filter_map(|(name, _)| table.get_key_value(name)?.0.span())
                .map(|span| span.start)
                .filter(|start| span.contains(start))
                .min(),
            line,
            chords,
            command: text("command")?.unwrap_or_default(),
            is_plugin_action,
            description: text("description")?,
            has_more: table.iter().any(|(name, _)| !FIELDS.contains(&name)),
            span,
        })
    }

    fn unreadable(&self, name: &str, what: &str) -> KeysError {
        let span = self
            .root()
            .get("keys")
            .and_then(Item::as_table_like)
            .and_then(|keys| keys.get_key_value(name)?.0.span());
        wrong(self.line_of(span), format!("keys.{name} {what}"))
    }

    fn line_of(&self, span: Option<Range<usize>>) -> usize {
        self.lines.number(span.map_or(0, |span| span.start))
    }
}

fn wrong(line: usize, what: impl Into<String>) -> KeysError {
    KeysError::Shape { line, what: what.into() }
}

/// Text, or a list of texts.
fn texts(item: &Item) -> Option<Vec<String>> {
    if let Some(text) = item.as_str() {
        return Some(vec![text.into()]);
    }
    item.as_array()?.iter().map(|value| value.as_str().map(Into::into)).collect()
}

/// From a table's header to the end of the last value in it or in a table below it.
fn extent(table: &Table) -> Option<Range<usize>> {
    let own = table.span();
    let below = table.iter().filter_map(|(_, item)| match item {
        Item::Table(table) => extent(table),
        Item::ArrayOfTables(tables) => tables.iter().filter_map(extent).reduce(join),
        _ => item.span(),
    });
    own.into_iter().chain(below).reduce(join)
}

fn join(a: Range<usize>, b: Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

/// The start of the character that holds byte `offset`.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
