//! `list`: the boxes, newest first.

use crate::cli::ListArgs;
use crate::exit::Exit;
use crate::local::boxes::meta::{BoxStatus, Tombstone};
use crate::local::boxes::store::BoxStore;
use crate::local::boxes::{pause, tombstones};
use crate::local::failure::Result;
use crate::local::output::{self, OutputMode};
use crate::ui;
use serde_json::{Value, json};

pub(super) fn list(store: &BoxStore, args: &ListArgs, mode: OutputMode) -> Result<Exit> {
    let mut rows = Vec::new();
    for mut found in store.all()? {
        // A box that is being deleted just now is still shown as it was.
        let _changing = pause::settle(&mut found);
        rows.push(found.view());
    }
    let destroyed = BoxStatus::Destroyed.word();
    if args.all || args.status.as_deref() == Some(destroyed) {
        rows.extend(tombstones::read(store.folder())?.iter().map(Tombstone::view));
    }
    if let Some(status) = &args.status {
        rows.retain(|row| row["status"] == status.as_str());
    }
    let rows: Vec<Value> = rows.into_iter().skip(args.offset).take(args.limit).collect();
    if args.quiet {
        rows.iter().for_each(|row| ui::line(row["id"].as_str().unwrap_or_default()));
        return Ok(Exit::DONE);
    }
    mode.show(&json!(rows), || {
        if rows.is_empty() {
            return "There are no local boxes.".into();
        }
        let keys = ["id", "name", "status", "shape", "created_at"];
        let cell = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| keys.iter().map(|key| cell(row, key)).collect()).collect();
        output::table(&["ID", "NAME", "STATUS", "SHAPE", "CREATED"], &cells)
    });
    Ok(Exit::DONE)
}
