//! The bindings: bound, missing, taken by whom, and which of Herdr's defaults they displace.

use super::check::Check;
use super::context::Context;
use crate::keys::{self, Holder, Live, Lost, Reason, State};
use crate::setup::template;

/// One check for the bindings, and one for each default that they displace.
pub(super) fn keys(context: &Context<'_>) -> Vec<Check> {
    let file = &context.observed.keys;
    let shown = context.paths.show(&file.path);
    if let Some(reason) = &file.unreadable {
        return vec![Check::warn("keys", format!("{shown} cannot be read: {reason}")).path(shown)];
    }
    if !context.is_set_up() {
        return vec![Check::skip("keys", "not set up yet")];
    }
    let wanted = &context.request.keys;
    let seen = match keys::observe(file.contents(), wanted) {
        Ok(seen) => seen,
        Err(error) => {
            let message = format!("{error}; Herdr ignores the whole file");
            return vec![
                Check::warn("keys", message)
                    .path(shown)
                    .fix(format!("mend the file, then: {}", context.setup())),
            ];
        }
    };
    let mut bound = 0;
    let mut without = Vec::new();
    let mut keyless = Vec::new();
    let mut displaced = Vec::new();
    for action in &seen.actions {
        let name = &action.action;
        let why = match &action.state {
            State::Bound { live, .. } if !live.is_empty() => {
                bound += 1;
                let displaces = |live: &Live| Some((live.chord, name.clone(), live.displaces.clone()?));
                displaced.extend(live.iter().filter_map(displaces));
                continue;
            }
            State::Bound { lost, line, .. } => match lost.first() {
                Some(Lost { written, reason: Reason::Taken(holder) }) => {
                    format!("{written} is {holder} (its entry is on line {line})")
                }
                Some(Lost { written, reason: Reason::Refused(error) }) => {
                    format!("{written} on line {line}: {error}")
                }
                None => format!("its entry on line {line} names none"),
            },
            State::Missing { chord, taken: Some(holder) } if !matches!(holder, Holder::Default { .. }) => {
                format!("{chord} is {holder}")
            }
            State::Missing { .. } => {
                keyless.push(name.as_str());
                continue;
            }
        };
        without.push(format!("{name} has no key: {why}"));
    }
    if !keyless.is_empty() {
        let have = if keyless.len() == 1 { "has" } else { "have" };
        without.push(format!("{} {have} no key", keyless.join(", ")));
    }
    let total = seen.actions.len();
    let mut checks = vec![if without.is_empty() {
        Check::ok("keys", format!("{bound} of {total} bound")).path(shown)
    } else {
        let message = format!("{bound} of {total} bound; {}", without.join("; "));
        let check = Check::warn("keys", message).path(shown).fixed_by(context.setup());
        match will_bind(context) {
            Some(chords) => check.fix(format!("{}\nit will bind {chords}", context.setup())),
            None => check,
        }
    }];
    checks.extend(displaced.into_iter().map(|(chord, action, field)| {
        let what = match action.as_str() {
            "delete" => "deletes a box, after a question,".to_owned(),
            action => format!("runs {action}"),
        };
        let own = template::HERDR.keys.iter().find(|key| key.action == action).map_or(chord, |key| key.chord);
        let spare = keys::others(own)
            .find(|other| *other != chord)
            .map_or_else(|| "CHORD".into(), |spare| spare.to_string());
        Check::note("keys", format!("{chord} {what} here; Herdr's {field} has no key"))
            .fix(context.request.with_key(&action, &spare))
    }));
    checks
}

/// What a setup would bind now.
fn will_bind(context: &Context<'_>) -> Option<String> {
    let merged = keys::merge(context.observed.keys.contents(), &context.request.keys).ok()?;
    let chords: Vec<String> =
        merged.placed.iter().filter_map(|placed| placed.chord).map(|chord| chord.to_string()).collect();
    (!chords.is_empty()).then(|| chords.join(", "))
}
