//! What setups did that no receipt knows of, and that is theirs all the same: a registration that leads to our folder,
//! entries below our marker with our words, a `config.json` with nothing but what every setup writes.

use super::config::fresh;
use crate::config::{ProviderKind, Settings};
use crate::error::{Error, Result};
use crate::keys;
use crate::paths::{PLUGIN_ID, Paths};
use crate::setup::bundle;
use crate::setup::change::{Change, FileChange, PluginChange};
use crate::setup::observe::Observed;
use crate::setup::observe::files::FileSeen;
use crate::setup::plan::Plan;
use crate::setup::receipt::{PluginState, Receipt, UserFile};
use crate::setup::request::keys::description;
use crate::setup::template;

/// Adds to the plan of an undo what `receipt` does not cover.
///
/// # Errors
/// `config.toml` does not parse.
pub(super) fn plan_unrecorded(
    plan: &mut Plan,
    receipt: &Receipt,
    observed: &Observed,
    paths: &Paths,
) -> Result<()> {
    let is_known =
        |what: UserFile, file: &FileSeen| receipt.files.iter().any(|f| f.what == what && f.path == file.path);
    if !is_known(UserFile::Keys, &observed.keys) {
        take_out_keys(plan, &observed.keys, paths)?;
    }
    if !is_known(UserFile::Config, &observed.config) {
        take_out_config(plan, &observed.config, paths);
    }
    if receipt.plugin.is_none() {
        take_out_plugin(plan, observed, paths);
    }
    Ok(())
}

/// Each action's id with the words that a setup gives its binding.
fn our_words() -> Vec<(String, String)> {
    let known = &template::herdr().keys;
    let words = |action: &String| match known.iter().find(|key| key.action == *action) {
        Some(key) => key.description.clone(),
        None => description(action),
    };
    bundle::actions().iter().map(|action| (format!("{PLUGIN_ID}.{action}"), words(action))).collect()
}

fn take_out_keys(plan: &mut Plan, file: &FileSeen, paths: &Paths) -> Result<()> {
    let Some(now) = file.bytes.as_ref().filter(|_| file.unreadable.is_none()) else { return Ok(()) };
    let shown = paths.show(&file.path);
    let unmerged = match keys::unmerge_marked(now, &our_words()) {
        Ok(unmerged) => unmerged,
        // Nothing says that anything of ours is in there.
        Err(_) if !contains(now, PLUGIN_ID) => return Ok(()),
        Err(error) => {
            return Err(Error::failed(format!("{shown}, {error}"))
                .fact("nothing was changed", "our bindings cannot be told from yours in such a file")
                .help("mend the file and run this again"));
        }
    };
    if unmerged.removed.is_empty() {
        return Ok(());
    }
    if !file.owner.is_ours_to_write() {
        plan.warn(format!("{shown} is not written: {}", file.owner), file.owner.take_out());
        return Ok(());
    }
    let summary = "our entries go; no record of a setup has what was there before";
    let change =
        FileChange::new(UserFile::Keys, &file.path, file.bytes.clone(), Some(unmerged.text), summary);
    plan.changes.push(Change::File(change));
    Ok(())
}

fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|window| window == word.as_bytes())
}

fn take_out_config(plan: &mut Plan, file: &FileSeen, paths: &Paths) {
    let Some(now) = &file.bytes else { return };
    let of_every_setup = [None, Some(ProviderKind::Local)]
        .map(|provider| fresh(&Settings { provider, ..Settings::default() }).to_json().into_bytes());
    if !of_every_setup.contains(now) {
        return;
    }
    if !file.owner.is_ours_to_write() {
        plan.warn(format!("{} stays: {}", paths.show(&file.path), file.owner), "remove it by hand");
        return;
    }
    let summary = "it holds what every setup writes, and nothing else";
    let change = FileChange::new(UserFile::Config, &file.path, file.bytes.clone(), None, summary);
    plan.changes.push(Change::File(change));
}

fn take_out_plugin(plan: &mut Plan, observed: &Observed, paths: &Paths) {
    let Ok(Some(registered)) = &observed.plugin else { return };
    let now = PluginState::from(Some(&registered.plugin));
    if !now.is_at(&PluginState::Linked { root: paths.bundled_plugin(), enabled: true }) {
        return;
    }
    if observed.path_of("herdr").is_none() {
        plan.warn(
            "the plugin's registration stays, since herdr is not there",
            format!("do it with: {}", PluginState::Absent.command()),
        );
        return;
    }
    plan.changes.push(Change::Plugin(PluginChange { from: now, to: PluginState::Absent, commit: None }));
}
