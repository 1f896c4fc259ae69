//! `fork`: copies of a paused box.

use crate::cli::ForkArgs;
use crate::exit::Exit;
use crate::local::boxes::fork;
use crate::local::boxes::store::BoxStore;
use crate::local::failure::Result;
use crate::local::output::OutputMode;
use crate::ui;
use serde_json::{Value, json};

/// Makes them: one as an object, several as a list. Those that were made are told of, when a later one fails.
pub(super) fn fork(store: &BoxStore, args: &ForkArgs, mode: OutputMode) -> Result<Exit> {
    let mut found = store.live(&args.reference)?;
    let mut views = Vec::new();
    for _ in 0..args.count {
        match fork::fork(store, &mut found) {
            Ok(made) => {
                let mut view = made.view();
                view["forked_from"] = json!(found.meta.id);
                views.push(view);
            }
            Err(failure) if views.is_empty() => return Err(failure),
            Err(failure) => {
                let ids: Vec<&str> = views.iter().filter_map(|view| view["id"].as_str()).collect();
                return Err(failure.help(format!("these copies were made: {}", ids.join(" "))));
            }
        }
    }
    ui::note("note: a copy has the files of the box and none of its programs: start them anew");
    let words = || {
        let line = |view: &Value| format!("Sandbox {} ({})", text(view, "name"), text(view, "id"));
        views.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    match &views[..] {
        [one] => mode.show(one, words),
        _ => mode.show(&json!(views), words),
    }
    Ok(Exit::DONE)
}

fn text<'a>(view: &'a Value, key: &str) -> &'a str {
    view[key].as_str().unwrap_or_default()
}
