//! `prune`: deletes our own boxes that nothing here needs any more, after a question, and forgets the mappings
//! of boxes that were deleted elsewhere.

use super::boxes::{delete, not_home};
use crate::action::mapping::{ActionContext, Item, Owner, forget_gone, inventory};
use crate::action::report::{Notice, Report};
use crate::cli::PruneArgs;
use crate::error::{Error, Result};
use crate::{command, ui};

/// Deletes boxes without a mapping; with `orphans` also boxes that no pane shows, but not those whose session
/// of Herdr does not run: their panes come back with it.
///
/// # Errors
/// The provider cannot be asked, or there is nobody to answer the question.
pub(crate) fn prune(context: &ActionContext, args: &PruneArgs) -> Result<Report> {
    let PruneArgs { yes, discard, orphans } = *args;
    let inventory = inventory(context)?.or_error()?;
    for (kind, error) in &inventory.unasked {
        ui::note(format!(
            "warning: {} boxes are not looked at: {}",
            kind.word(),
            ui::visible(error.message())
        ));
    }
    for kind in &inventory.incomplete {
        ui::note(format!(
            "warning: {} does not list all its boxes: run it again when some are gone",
            kind.word()
        ));
    }
    let items = inventory.items;
    let dropped = forget_gone(context)?.names;
    let unasked: Vec<_> = inventory.unasked.iter().map(|(kind, _)| kind.word()).collect();
    let told = |report: Report| report.field("forgotten", dropped.len()).field("unasked", unasked.clone());
    if !dropped.is_empty() {
        let names: Vec<_> = dropped.iter().map(|name| name.as_str()).collect();
        ui::line(format!("deleted elsewhere, and forgotten now: {}", names.join(", ")));
    }
    let goes = |item: &&Item| item.owner == Owner::Unmapped || (orphans && item.owner == Owner::Orphan);
    let ours: Vec<_> = items.iter().filter(goes).collect();
    let elsewhere = items.iter().filter(|item| item.owner == Owner::Elsewhere).count();
    let kept = items.iter().filter(|item| item.owner == Owner::Orphan).count();
    let asleep = items.iter().filter(|item| item.owner == Owner::NoSession);
    for item in asleep {
        ui::line(format!(
            "{} is kept: its Herdr session does not run; delete it with: {}",
            ui::visible(&item.view.name),
            ui::visible(&command::action("delete").on(&item.view.name).to_string())
        ));
    }
    if elsewhere > 0 {
        ui::line(format!("made elsewhere, and never deleted from here: {}", boxes(elsewhere)));
    }
    if !orphans && kept > 0 {
        ui::line(format!("in no pane: {} (attach shows them, --orphans deletes them)", boxes(kept)));
    }
    if ours.is_empty() {
        return Ok(told(Report::new("nothing to prune").field("result", "nothing").field("deleted", 0)));
    }
    let mut kept = Vec::new();
    let mut goes = Vec::new();
    for item in ours {
        ui::line(format!("  {:<22}   {}   {}", ui::visible(&item.view.name), item.view.id, item.view.status));
        let found = not_home(context, item);
        if found.is_home() {
            goes.push(item);
            continue;
        }
        ui::line(format!("  {:<22}   not here: {}", "", ui::visible_line(&found.words())));
        match yes && !discard {
            true => kept.push(item.view.name.clone()),
            false => goes.push(item),
        }
    }
    let ours = goes;
    if !kept.is_empty() {
        let again = command::action("prune").flag("--yes").flag("--discard");
        let again = if orphans { again.flag("--orphans") } else { again };
        ui::line(format!(
            "with work that is not here, and kept: {}; delete them, too, with: {again}",
            ui::visible_line(&kept.join(", "))
        ));
    }
    let told = |report: Report| match kept.is_empty() {
        true => told(report),
        false => told(report).field("kept", kept.clone()),
    };
    if ours.is_empty() {
        return Ok(told(Report::new("nothing was deleted").field("result", "nothing").field("deleted", 0)));
    }
    if !yes && !agreed(ours.len())? {
        return Ok(told(Report::new("nothing was deleted").field("result", "declined").field("deleted", 0)));
    }
    let mut failed = Vec::new();
    for item in &ours {
        if let Err(error) = delete(context, item) {
            failed.push(format!("{}: {}", item.view.name, error.message()));
        }
    }
    if !failed.is_empty() {
        let error = Error::failed(format!("{} of {} could not be deleted", failed.len(), boxes(ours.len())));
        return Err(failed
            .iter()
            .fold(error, |error, text| error.fact("box", text.as_str()))
            .help("run it again"));
    }
    Ok(told(
        Report::new(format!("deleted {}", boxes(ours.len())))
            .field("result", "deleted")
            .field("deleted", ours.len())
            .notice(Notice::Toast),
    ))
}

fn agreed(count: usize) -> Result<bool> {
    if !ui::is_on_terminal() {
        return Err(Error::usage("there is nobody to ask").help("pass --yes to delete them"));
    }
    ui::confirm(&format!("Delete {} for ever?", boxes(count)), false)
}

fn boxes(count: usize) -> String {
    ui::count(count as u64, "box")
}
