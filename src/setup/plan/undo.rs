//! The plan that takes a setup back, from what is there and from its receipt. A file that still has the hash that we
//! left gets its original bytes; from one that changed since, exactly our own entries are removed.
//!
//! So is what setups did that no receipt knows of, and that is theirs all the same: a registration that leads to our folder,
//! entries below our marker with our words, a `config.json` with nothing but what every setup writes.

use super::config::fresh;
use super::leftovers;
use crate::config::{ProviderKind, Settings};
use crate::error::{Error, Result};
use crate::fs::{Digest, digest};
use crate::keys;
use crate::paths::{PLUGIN_ID, Paths};
use crate::setup::bundle;
use crate::setup::change::{BundleChange, Change, FileChange, PluginChange, ProgramChange};
use crate::setup::observe::Observed;
use crate::setup::observe::files::{FileSeen, Owner};
use crate::setup::plan::{Plan, Warning};
use crate::setup::receipt::{FileReceipt, PluginState, Receipt, UserFile, disk};
use crate::setup::request::keys::description;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An undo that is being planned.
struct Undo<'a> {
    receipt: &'a Receipt,
    observed: &'a Observed,
    paths: &'a Paths,
    plan: Plan,
}

/// The plan that undoes the setup of `receipt`, and what else of setups is there; without a receipt that alone.
///
/// # Errors
/// An original is gone, or `config.toml` does not parse any more.
pub(crate) fn plan_undo(receipt: Option<&Receipt>, observed: &Observed, paths: &Paths) -> Result<Plan> {
    let none = Receipt::default();
    let (receipt, is_recorded) = (receipt.unwrap_or(&none), receipt.is_some());
    let mut undo = Undo { receipt, observed, paths, plan: Plan::default() };
    // Keys first: they are what a person would miss the plugin by.
    for file in receipt.files.iter().rev() {
        undo.give_back_file(file)?;
    }
    undo.take_out_unrecorded()?;
    undo.give_back_plugin();
    let mut plan = undo.plan;
    if let Some(program) = &receipt.program {
        let now = std::fs::read(&program.path).ok();
        if now.as_deref().map(digest) != Some(program.original) {
            plan.changes.push(Change::Program(ProgramChange {
                path: program.path.clone(),
                before: now,
                after: disk::original(paths, program.original)?,
            }));
        }
    }
    let goes =
        |change: &Change| matches!(change, Change::Plugin(PluginChange { to, .. }) if !to.is_bundled(paths));
    if !observed.bundle.is_empty()
        && (is_recorded || plan.changes.iter().any(goes) || !leftovers::is_in_use(paths))
    {
        plan.changes.push(Change::Bundle(BundleChange {
            folder: paths.bundled_plugin(),
            before: observed.bundle.clone(),
            after: BTreeMap::new(),
        }));
    }
    Ok(plan)
}

/// What our entries leave when they are taken out: the file's new bytes, or none when nothing stays.
type Rest = Option<Vec<u8>>;

impl Undo<'_> {
    fn give_back_file(&mut self, file: &FileReceipt) -> Result<()> {
        let Self { receipt, paths, .. } = *self;
        let (seen, shown) = (FileSeen::look(&file.path), paths.show(&file.path));
        if let Owner::Irregular { .. } = &seen.owner {
            let message = format!("{shown} is left alone: {}", seen.owner);
            self.plan.warnings.push(Warning { message, fix: None });
            return Ok(());
        }
        if let Some(reason) = &seen.unreadable {
            return Err(Error::failed(format!("{shown} cannot be read: {reason}")));
        }
        let Some(now) = seen.bytes.clone() else { return Ok(()) };
        let hash = digest(&now);
        if Some(hash) == file.original {
            return Ok(());
        }
        let (after, summary) = if file.left.contains(&hash) && !file.edited_between {
            let original = original(file.original, paths)?;
            let summary = if original.is_some() { "back to what it was" } else { "it was not there before" };
            (original, summary)
        } else {
            let rest = match file.what {
                UserFile::Keys => without_keys(&now, receipt, file, paths)?,
                UserFile::Config => without_settings(&now, file, paths)?,
            };
            (rest, "it changed since, so exactly our entries go")
        };
        let turned_on =
            file.what == UserFile::Keys && receipt.notices.iter().any(|kept| kept.path == file.path);
        let stay_on = |text: &Vec<u8>| keys::delivery(text).is_ok_and(|on| on.is_some());
        if turned_on && after.as_ref().is_some_and(stay_on) {
            self.plan.notes.push(format!(
                "{shown}: Herdr's notices, which a setup turned on, stay on: something was built on them"
            ));
        }
        if after.as_ref() != Some(&now) {
            self.change(&seen, FileChange::new(file.what, &file.path, Some(now), after, summary));
        }
        Ok(())
    }

    /// Changes a file where it is ours to write.
    fn change(&mut self, seen: &FileSeen, change: FileChange) {
        if seen.owner.is_ours_to_write() {
            self.plan.changes.push(Change::File(change));
        } else {
            let message = format!("{} is not written: {}", self.paths.show(&change.path), seen.owner);
            self.plan.warn(message, seen.owner.take_out());
        }
    }

    fn give_back_plugin(&mut self) {
        let Some(known) = &self.receipt.plugin else { return };
        let mut original = known.again();
        if original.is_bundled(self.paths) {
            // Of a setup whose receipt was lost.
            original = PluginState::Absent;
        }
        let registered = match &self.observed.plugin {
            Ok(registered) => registered,
            Err(reason) => {
                return self.leave(format!("the plugin's registration stays, {reason}"), &original);
            }
        };
        let now = PluginState::from(registered.as_ref().map(|registered| &registered.plugin));
        if now == original || now == known.original {
            return;
        }
        if !now.is_at(&known.left) && now != PluginState::Absent {
            let uninstall = PluginState::Absent.command();
            return self.plan.warn(
                format!("the plugin stays, since somebody registered it anew: it is {now}"),
                format!("remove it with: {uninstall}"),
            );
        }
        if self.observed.path_of("herdr").is_none() {
            return self.leave(NO_HERDR.into(), &original);
        }
        let mut to = original.clone();
        if let PluginState::Linked { root, .. } = &original
            && !root.is_dir()
        {
            let message = format!("the earlier plugin is not linked again, {} is gone", root.display());
            self.leave(message, &original);
            to = PluginState::Absent;
        }
        if now != to {
            self.plan.changes.push(Change::Plugin(PluginChange { from: now, to, commit: None }));
        }
    }

    fn leave(&mut self, message: String, to: &PluginState) {
        self.plan.warn(message, format!("do it with: {}", to.command()));
    }

    /// What the receipt does not cover.
    fn take_out_unrecorded(&mut self) -> Result<()> {
        let Self { receipt, observed, .. } = *self;
        let is_known = |what: UserFile, file: &FileSeen| {
            receipt.files.iter().any(|known| known.what == what && known.path == file.path)
        };
        if !is_known(UserFile::Keys, &observed.keys) {
            self.take_out_keys(&observed.keys)?;
        }
        if !is_known(UserFile::Config, &observed.config) {
            self.take_out_config(&observed.config);
        }
        if let (None, Ok(Some(registered))) = (&receipt.plugin, &observed.plugin) {
            self.take_out_plugin(PluginState::from(Some(&registered.plugin)));
        }
        Ok(())
    }

    fn take_out_keys(&mut self, file: &FileSeen) -> Result<()> {
        let Some(now) = file.bytes.as_ref().filter(|_| file.unreadable.is_none()) else { return Ok(()) };
        let actions = bundle::actions();
        let words = actions.iter().map(|action| (format!("{PLUGIN_ID}.{action}"), description(action)));
        let unmerged = match keys::unmerge_marked(now, &words.collect::<Vec<_>>()) {
            Ok(unmerged) => unmerged,
            // Nothing says that anything of ours is in there.
            Err(_) if !contains(now, PLUGIN_ID) => return Ok(()),
            Err(error) => {
                return Err(Error::failed(format!("{}, {error}", self.paths.show(&file.path)))
                    .fact("nothing was changed", "our bindings cannot be told from yours in such a file")
                    .help("mend the file and run this again"));
            }
        };
        if !unmerged.removed.is_empty() {
            let (before, after) = (file.bytes.clone(), Some(unmerged.text));
            let summary = "our entries go; no record of a setup has what was there before";
            self.change(file, FileChange::new(UserFile::Keys, &file.path, before, after, summary));
        }
        Ok(())
    }

    fn take_out_config(&mut self, file: &FileSeen) {
        let Some(now) = &file.bytes else { return };
        let of_every_setup = [None, Some(ProviderKind::Local)]
            .map(|provider| fresh(&Settings { provider, ..Settings::default() }).to_json().into_bytes());
        if !of_every_setup.contains(now) {
            return;
        }
        if !file.owner.is_ours_to_write() {
            let message = format!("{} stays: {}", self.paths.show(&file.path), file.owner);
            return self.plan.warn(message, "remove it by hand");
        }
        let summary = "it holds what every setup writes, and nothing else";
        let change = FileChange::new(UserFile::Config, &file.path, file.bytes.clone(), None, summary);
        self.plan.changes.push(Change::File(change));
    }

    fn take_out_plugin(&mut self, now: PluginState) {
        if !now.is_bundled(self.paths) {
            return;
        }
        if self.observed.path_of("herdr").is_none() {
            return self.leave(NO_HERDR.into(), &PluginState::Absent);
        }
        let to = PluginState::Absent;
        self.plan.changes.push(Change::Plugin(PluginChange { from: now, to, commit: None }));
    }
}

const NO_HERDR: &str = "the plugin's registration stays, since herdr is not there";

fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|window| window == word.as_bytes())
}

fn original(digest: Option<Digest>, paths: &Paths) -> Result<Rest> {
    digest.map(|digest| disk::original(paths, digest)).transpose()
}

fn without_keys(now: &[u8], receipt: &Receipt, file: &FileReceipt, paths: &Paths) -> Result<Rest> {
    let unreadable = |error: keys::KeysError| {
        Error::failed(format!("{}, {error}", paths.show(&file.path)))
            .fact(
                "nothing was changed",
                "our bindings cannot be told from yours in a file that does not parse",
            )
            .help("mend the file and run this again")
    };
    let mut text = now.to_vec();
    for kept in receipt.keys.iter().rev().filter(|kept| kept.may_be_in(&file.path)) {
        text = keys::unmerge(&text, &kept.added).map_err(unreadable)?.text;
    }
    for kept in receipt.notices.iter().rev().filter(|kept| kept.path == file.path) {
        if let Some(without) = keys::without_notices(&text, &kept.patch).map_err(unreadable)? {
            text = without;
        }
    }
    let text = keys::without_markers(&text).map_err(unreadable)?;
    Ok((!(text.is_empty() && file.original.is_none())).then_some(text))
}

/// Every setting that still has the value that we left goes back to what it was; the others are the user's.
fn without_settings(now: &[u8], file: &FileReceipt, paths: &Paths) -> Result<Rest> {
    let object = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
    let Some(mut settings) = object(now) else {
        // It is not ours any more in any sense that could be taken back.
        return Ok(Some(now.to_vec()));
    };
    let left = file.left.last().map(|left| disk::original(paths, *left)).transpose()?;
    let left = left.as_deref().and_then(object).unwrap_or_default();
    let before = original(file.original, paths)?;
    let before = before.as_deref().and_then(object).unwrap_or_default();
    for (key, value) in &left {
        if settings.get(key) != Some(value) {
            continue;
        }
        match before.get(key) {
            Some(old) => settings.insert(key.clone(), old.clone()),
            None => settings.shift_remove(key),
        };
    }
    if settings.is_empty() && file.original.is_none() {
        return Ok(None);
    }
    if object(now).as_ref() == Some(&settings) {
        return Ok(Some(now.to_vec()));
    }
    let rest = Value::Object(settings);
    // In the documentation's order where it is a valid file.
    let ordered = serde_json::to_vec(&rest).ok().and_then(|bytes| Settings::parse(&bytes).ok());
    Ok(Some(ordered.map_or_else(|| format!("{rest:#}\n"), |settings| settings.to_json()).into_bytes()))
}
