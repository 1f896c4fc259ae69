//! The plan for Herdr's `config.toml`: the missing bindings, or the block to paste where it is not written.

use super::backup;
use crate::error::{Error, Result};
use crate::keys::{self, Added, Chord, KeysError, Placed, State, Wanted};
use crate::setup::change::{Change, FileChange};
use crate::setup::checks::context::Context;
use crate::setup::plan::{Bound, Displaced, Plan};
use crate::setup::receipt::UserFile;
use crate::setup::request::{Request, WantedPlugin};
use crate::ui;

pub(in crate::setup) fn plan_keys(plan: &mut Plan, context: &Context<'_>) -> Result<()> {
    let Context { request, observed, paths, .. } = *context;
    refuse_unknown(context)?;
    warn_direct(plan, request);
    let file = &observed.keys;
    let shown = paths.show(&file.path);
    let seen = keys::observe(file.contents(), &request.keys).ok();
    plan.prefix = seen.as_ref().map(|seen| seen.prefix.clone());
    if !request.edit_keys {
        let bound = |action: &str| {
            seen.iter().flat_map(|seen| &seen.actions).any(|known| known.action == action && known.is_live())
        };
        let missing: Vec<Wanted> = request.keys.iter().filter(|key| !bound(&key.action)).cloned().collect();
        if !missing.is_empty() {
            plan.notes.push(format!("{shown} was left alone (--no-keys); the bindings to paste:"));
            // With the chords and in the style that a merge would have chosen, where the file can be read.
            let merged = keys::merge(file.contents(), &request.keys).map(|merged| merged.block);
            plan.block = Some(merged.unwrap_or_else(|_unparsable| keys::block(&missing)));
        }
        plan.chords = chords(file.contents(), &request.keys);
        return Ok(());
    }
    let refuse = |message: String| {
        Error::failed(message)
            .fact("nothing was changed", "Herdr ignores a config.toml that it cannot read")
            .help(format!(
                "mend it and run this again, or leave it alone: {}",
                request.again.clone().without("--key").flag("--no-keys")
            ))
            .help(format!("the bindings to paste:\n{}", keys::block(&request.keys).trim_end()))
    };
    if let Some(reason) = &file.unreadable {
        return Err(refuse(format!("{shown} cannot be read: {reason}")));
    }
    let unparsable = |error: KeysError| refuse(format!("{shown}, {error}"));
    if let Some(Ok(diagnostics)) = &observed.diagnostics
        && diagnostics.drops_the_file()
    {
        keys::observe(file.contents(), &request.keys).map_err(unparsable)?;
        return Err(refuse(format!("Herdr cannot read {shown}: {}", diagnostics.lines().join(" "))));
    }
    let (base, rebound) = without_rechosen(plan, context)?;
    let merged = keys::merge(&base, &request.keys).map_err(unparsable)?;
    note_placed(plan, request, &merged.placed, file.contents());
    let off = keys::delivery(&merged.text).is_ok_and(|on| on.is_none());
    plan.notices_off = off && !request.notices && file.owner.is_ours_to_write();
    let notices = match request.notices {
        true => keys::with_notices(&merged.text).map_err(unparsable)?,
        false => None,
    };
    let text = notices.as_ref().map_or(&merged.text, |with| &with.text).clone();
    let notices = notices.map(|with| with.patch);
    if text == file.contents() {
        plan.right += 1;
        plan.chords = chords(&text, &request.keys);
        return Ok(());
    }
    if !file.owner.is_ours_to_write() {
        plan.warn(
            format!("{shown} was not written: {}", file.owner),
            format!("put the block below {}", file.owner.by_hand()),
        );
        let more = notices.map_or_else(String::new, |patch| format!("\n{}\n", patch.new.trim()));
        plan.block = Some(format!("{}{more}", merged.block));
        plan.chords = chords(file.contents(), &request.keys);
        return Ok(());
    }
    let count = merged.added.as_ref().map_or(0, |added| added.entries.len());
    let place =
        if merged.after_line == 0 { String::new() } else { format!(" after line {}", merged.after_line) };
    let bindings = (count > 0).then(|| format!("{}{place}", ui::count(count as u64, "binding")));
    let on = notices.as_ref().map(|_| "Herdr's notices on".to_owned());
    plan.chords = chords(&text, &request.keys);
    let summary = bindings.into_iter().chain(on).collect::<Vec<_>>().join(", ");
    let backup = backup::needed(file, observed.known_receipt());
    let change = FileChange::new(UserFile::Keys, &file.path, file.bytes.clone(), Some(text), summary);
    let added = merged.added;
    plan.changes.push(Change::File(FileChange { backup, added, notices, rebound, ..change }));
    Ok(())
}

/// Refuses a chord for an action that the wanted plugin does not have: its key would do nothing.
fn refuse_unknown(context: &Context<'_>) -> Result<()> {
    let Context { request, observed, template, .. } = *context;
    let actions: &[String] = match (&request.plugin, &observed.checkout) {
        (WantedPlugin::Checkout(_), Some(Ok(checkout))) => &checkout.actions,
        (WantedPlugin::Github(source), _) if source.repository == template.plugin.github => {
            &template.plugin.github_actions
        }
        _ => return Ok(()),
    };
    let Some(action) = request.chosen_keys.iter().find(|chosen| !actions.contains(chosen)) else {
        return Ok(());
    };
    let error = Error::usage(format!("this plugin has no action {action}, so no key can run it"));
    Err(error.help(format!("it has: {}", actions.join(", "))).help("leave that --key out"))
}

/// The file without our older bindings of actions for which the command line chooses another chord. An
/// entry that is the user's own stays, and that is said.
fn without_rechosen(plan: &mut Plan, context: &Context<'_>) -> Result<(Vec<u8>, Vec<String>)> {
    let Context { request, observed, .. } = *context;
    let mut text = observed.keys.contents().to_vec();
    let mut rebound = Vec::new();
    let Ok(seen) = keys::observe(&text, &request.keys) else { return Ok((text, rebound)) };
    let kept = observed.known_receipt().into_iter().flat_map(|receipt| &receipt.keys);
    let mine: Vec<&Added> =
        kept.filter(|kept| kept.may_be_in(&observed.keys.path)).map(|kept| &kept.added).collect();
    for wanted in request.keys.iter().filter(|wanted| request.chosen_keys.contains(&wanted.action)) {
        let state = seen.actions.iter().find(|known| known.action == wanted.action).map(|known| &known.state);
        let Some(State::Bound { live, .. }) = state else { continue };
        if live.iter().any(|live| live.chord == wanted.chord) {
            continue;
        }
        let added = mine.iter().find_map(|added| {
            let entry = added.entries.iter().find(|entry| entry.command == wanted.command)?;
            Some(Added { entries: vec![entry.clone()], patch: added.patch.clone() })
        });
        let taken_out =
            added.and_then(|added| keys::unmerge(&text, &added).ok()).filter(|u| !u.removed.is_empty());
        match taken_out {
            Some(unmerged) => {
                text = unmerged.text;
                rebound.push(wanted.command.clone());
            }
            // A dead entry stays, and the chord is added beside it.
            None if live.is_empty() => {}
            None => plan.warn(
                format!(
                    "{} is bound already by an entry of yours; --key {}={} was not applied",
                    wanted.action, wanted.action, wanted.chord
                ),
                format!("change that entry in {}", observed.keys.path.display()),
            ),
        }
    }
    Ok((text, rebound))
}

/// A chosen chord without the prefix is worth a word: Herdr takes it before any program sees it.
fn warn_direct(plan: &mut Plan, request: &Request) {
    for key in &request.keys {
        if request.chosen_keys.contains(&key.action) && !key.chord.is_prefixed() {
            plan.warn(
                format!("{} is then taken from every program in Herdr: it runs {}", key.chord, key.action),
                format!(
                    "put prefix+ before it: {}",
                    request.with_key(&key.action, &format!("prefix+{}", key.chord))
                ),
            );
        }
    }
}

/// Says why an action did not get its first choice, and which default of Herdr's gives way.
fn note_placed(plan: &mut Plan, request: &Request, placed: &[Placed], text: &[u8]) {
    for placed in placed {
        match (&placed.chord, &placed.instead_of) {
            (Some(chord), Some(refused)) => plan
                .notes
                .push(format!("{} is {}, so {} gets {chord}", refused.chord, refused.holder, placed.action)),
            (None, Some(refused)) => plan.warn(
                format!("{} has no key: {} is {}", placed.action, refused.chord, refused.holder),
                format!("choose one: {}", request.with_key(&placed.action, "CHORD")),
            ),
            _ => {}
        }
        if let (Some(chord), Some(field)) = (&placed.chord, &placed.displaces) {
            let asks = if placed.action == "delete" { ", which asks first," } else { "" };
            plan.notes.push(format!("{chord} runs {}{asks} instead of Herdr's own {field}", placed.action));
            if !request.chosen_keys.contains(&placed.action) && plan.displaced.is_none() {
                let displaced = displaced(request, &placed.action, field, *chord, text);
                plan.notes.push(format!("to keep {field}: {}", displaced.way_back));
                plan.displaced = Some(displaced);
            }
        }
    }
}

/// What would leave Herdr its default: the first of the spare chords, or what a merge gives in its place.
fn displaced(request: &Request, action: &str, field: &str, chord: Chord, text: &[u8]) -> Displaced {
    let alt = keys::others(chord).next();
    let chosen = alt.and_then(|alt| {
        let merged = keys::merge(text, &request.clone().choosing(action, alt).keys).ok()?;
        let placed = merged.placed.into_iter().find(|placed| placed.action == action)?;
        placed.chord.filter(|_| placed.displaces.is_none())
    });
    let shown = chosen.or(alt).map_or_else(|| "CHORD".to_owned(), |chord| chord.to_string());
    Displaced {
        action: action.into(),
        field: field.into(),
        instead: chosen,
        way_back: request.with_key(action, &shown),
    }
}

/// The chords that start each action, once the file is `text`.
fn chords(text: &[u8], wanted: &[Wanted]) -> Vec<Bound> {
    let Ok(seen) = keys::observe(text, wanted) else { return Vec::new() };
    let bound = seen.actions.into_iter().map(|known| {
        let live = match known.state {
            State::Bound { live, .. } => live,
            State::Missing { .. } => Vec::new(),
        };
        Bound { action: known.action, chords: live.iter().map(|live| live.chord.to_string()).collect() }
    });
    bound.collect()
}
