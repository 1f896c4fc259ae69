//! `cos status`: the project's box, its forks, and what else of this project is left. Boxes are asked for by their ids.

use super::clean_up;
use super::project::Project;
use super::providers::Providers;
use super::state::{BoxRecord, Owned, Phase, ProjectBox, StateFolder};
use crate::cli::StatusArgs;
use crate::createos::{BoxId, Provider, ProviderKind, Status};
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A box that is proven to be gone.
const GONE: &str = "gone";

/// Shows it, as lines or as one document.
///
/// # Errors
/// The records cannot be read.
pub(super) fn status(providers: &Providers, args: &StatusArgs) -> Result<Exit> {
    let project = Project::here()?;
    let state = StateFolder::of(&providers.paths)?;
    let own = state.project_box(&project.key)?;
    clean_up::tidy(&state, &project.key)?;
    let records: Vec<(BoxRecord, bool)> =
        state.records()?.into_iter().filter(|(record, _)| record.project == project.key).collect();
    let mut asked = Asked { providers, known: BTreeMap::new() };
    let own = own.map(|own| Shown::of(&own, &mut asked));
    let mut rows: Vec<Value> = Vec::new();
    for (record, held) in &records {
        let row = row(record, *held, &mut asked);
        // A box that was kept for a person, who has deleted it.
        if record.phase == Phase::Kept && row["status"] == GONE {
            state.own_if_free(&record.name)?.map(Owned::forget).transpose()?;
        } else {
            rows.push(row);
        }
    }
    if args.json {
        let document = json!({
            "schemaVersion": 1, "project": project.root.to_string_lossy(), "key": project.key,
            "box": own.map(|own| own.document), "others": rows,
        });
        ui::line(document.to_string());
        return Ok(Exit::DONE);
    }
    match own {
        Some(own) => own.lines.iter().for_each(|line| ui::line(ui::visible_line(line))),
        None => ui::line("cos: no active box for this project"),
    }
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        ui::line(ui::visible_line(&format!(
            "{:<9} {}  {}  {}  by {} in {}",
            text("state"),
            text("name"),
            text("id"),
            text("status"),
            text("verb"),
            text("folder")
        )));
    }
    Ok(Exit::DONE)
}

/// The project's box as it is shown.
struct Shown {
    lines: Vec<String>,
    document: Value,
}

impl Shown {
    fn of(own: &ProjectBox, asked: &mut Asked<'_>) -> Self {
        let name = own.name().map_or_else(|| "?".to_owned(), |name| name.to_string());
        let id = own.id();
        let status =
            id.as_ref().map_or_else(|| "being made".to_owned(), |id| asked.status(own.provider(), id));
        let whose = if own.is_owned() { "created here" } else { "adopted — down will NOT destroy" };
        let shown = id.as_ref().map_or("-", |id| id.as_str());
        let mut lines = vec![format!("box       {name}  {shown}  {}  {status}  [{whose}]", own.shape())];
        let forks: Vec<(BoxId, String)> = own
            .forks()
            .into_iter()
            .map(|id| {
                let status = asked.status(own.provider(), &id);
                (id, status)
            })
            .collect();
        lines.extend(forks.iter().map(|(id, status)| format!("fork      {id}  {status}")));
        if !own.sync_remote().is_empty() {
            lines.push(format!("sync      {}", own.sync_remote()));
        }
        let forks: Vec<Value> =
            forks.iter().map(|(id, status)| json!({ "id": id, "status": status })).collect();
        let document = json!({
            "name": name, "id": id, "provider": own.provider(), "shape": own.shape(), "owned": own.is_owned(),
            "status": status, "forks": forks,
        });
        Self { lines, document }
    }
}

fn row(record: &BoxRecord, is_held: bool, asked: &mut Asked<'_>) -> Value {
    let state = match record.phase {
        Phase::Kept => "kept",
        Phase::InUse if is_held => "in use",
        Phase::InUse | Phase::Leftover => "left over",
    };
    let status = record.id.as_ref().map(|id| asked.status(record.provider, id));
    json!({
        "name": record.name, "id": record.id, "provider": record.provider, "state": state, "status": status,
        "verb": record.verb, "folder": record.folder.to_string_lossy(), "createdAt": record.created_at,
    })
}

/// Providers that are asked, each found once.
struct Asked<'a> {
    providers: &'a Providers,
    known: BTreeMap<&'static str, Option<Provider>>,
}

impl Asked<'_> {
    /// The box's status, or why it is not known.
    fn status(&mut self, kind: ProviderKind, id: &BoxId) -> String {
        let provider = self.known.entry(kind.word()).or_insert_with(|| self.providers.of(kind).ok());
        let Some(provider) = provider else { return "not known: the provider cannot be asked".into() };
        match provider.get(id) {
            Ok(view) if view.status == Status::Destroyed => GONE.into(),
            Ok(view) => view.status.to_string(),
            Err(failure) => format!("not known: {}", failure.words),
        }
    }
}
