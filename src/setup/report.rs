//! The one JSON document that `--json` prints, whatever happens. Its schema is generated from these types
//! and checked in as `docs/schema/setup.json`.

use super::change::Line;
use super::plan::{Bound, Plan, Warning};
use super::request::Task;
use crate::error::Error;
use crate::exit::Exit;
use crate::paths::Paths;
use crate::setup::checks::check::{Check, Summary};
use serde::Serialize;

/// The version of the document. New fields do not change it; readers have to accept those.
const VERSION: u32 = 1;

/// What `createos-sandbox setup --json` prints.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// The version of this document: 1.
    pub(crate) schema_version: u32,
    /// What ran.
    pub(crate) command: Task,
    /// What was to be set up: `herdr`.
    pub(crate) host: &'static str,
    /// Whether the exit code is 0.
    pub(crate) ok: bool,
    /// The process's exit code.
    pub(crate) exit_code: u8,
    /// Whether anything was changed.
    pub(crate) changed: bool,
    /// The doctor's checks, or those that come before a setup.
    pub(crate) checks: Vec<Check>,
    /// How they ended.
    pub(crate) summary: Summary,
    /// The changes, made or (with `--dry-run`) not made.
    pub(crate) changes: Vec<ReportedChange>,
    /// What stays although something else was asked for, or although a setup is taken back.
    pub(crate) kept: Vec<ReportedChange>,
    /// What a person should know.
    pub(crate) warnings: Vec<Warning>,
    /// What a person should know about the keys.
    pub(crate) notes: Vec<String>,
    /// The chords of each action afterwards.
    pub(crate) keys: Vec<Bound>,
    /// Bindings to paste, where they were not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<ReportedError>,
}

/// A change.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportedChange {
    /// `write`, `edit`, `remove`, `link`, `unlink`, `install`, `replace`, `enable`, `build`, `restore` or `keep`.
    pub(crate) verb: &'static str,
    /// The file or the plugin.
    pub(crate) thing: String,
    /// The rest, in words.
    pub(crate) detail: String,
    /// A unified diff, for text files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
}

/// An error.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReportedError {
    /// What happened.
    pub(crate) message: String,
    /// Facts, by their label.
    pub(crate) facts: Vec<Fact>,
    /// What to do, or type.
    pub(crate) help: Vec<String>,
}

/// A labelled fact.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Fact {
    /// Its label.
    pub(crate) label: String,
    /// Its value.
    pub(crate) value: String,
}

impl ReportedChange {
    fn new(line: Line, diff: Option<String>) -> Self {
        Self { verb: line.verb, thing: line.thing, detail: line.rest, diff }
    }
}

impl Report {
    pub(crate) fn new(command: Task) -> Self {
        Self { schema_version: VERSION, command, host: "herdr", ok: true, ..Self::default() }
    }

    pub(crate) fn add_checks(&mut self, checks: Vec<Check>) {
        self.summary = Summary::count(&checks);
        self.checks = checks;
    }

    pub(crate) fn add_plan(&mut self, plan: &Plan, paths: &Paths) {
        let changes = plan.changes.iter();
        self.changes =
            changes.map(|known| ReportedChange::new(known.step().line(paths), known.step().diff())).collect();
        self.kept = plan.kept.iter().map(|line| ReportedChange::new(line.clone(), None)).collect();
        self.warnings = plan.warnings.clone();
        self.notes = plan.notes.clone();
        self.block = plan.block.clone();
        self.keys = plan.chords.clone();
    }

    pub(crate) fn end(&mut self, code: Exit) {
        self.exit_code = code.code();
        self.ok = code == Exit::DONE;
    }

    pub(crate) fn fail(&mut self, error: &Error) {
        let fact = |(label, value): &(String, String)| Fact { label: label.clone(), value: value.clone() };
        self.error = Some(ReportedError {
            message: error.message().into(),
            facts: error.facts().iter().map(fact).collect(),
            help: error.hints().to_vec(),
        });
        self.end(error.exit());
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is texts, numbers and lists")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_that_is_checked_in_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schema/setup.json");
        let schema = format!("{:#}\n", schemars::schema_for!(Report).as_value());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        let known = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(known, schema, "bring it up to date with: UPDATE_SCHEMA=1 cargo test schema");
    }
}
