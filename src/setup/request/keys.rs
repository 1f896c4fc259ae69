//! `--key`: the bindings that are wanted.

use crate::config::nearest;
use crate::error::{Error, Result};
use crate::keys::{Chord, Wanted};
use crate::paths::PLUGIN_ID;
use crate::setup::bundle;
use crate::setup::template::{self, KeyTemplate};

/// `ACTION=CHORD`.
pub(super) fn key(text: &str) -> Result<(String, Chord)> {
    let actions = bundle::actions();
    let (action, chord) = text.split_once('=').ok_or_else(|| {
        Error::usage(format!("--key \"{text}\" has no ="))
            .help("use ACTION=CHORD, such as delete=prefix+alt+x")
    })?;
    if !actions.iter().any(|known| known == action) {
        let error = Error::usage(format!("--key names an unknown action \"{action}\""));
        let names: Vec<&str> = actions.iter().map(AsRef::as_ref).collect();
        let error = match nearest(action, &names) {
            Some(near) => error.help(format!("did you mean {near}?")),
            None => error,
        };
        return Err(error.help(format!("pick one of: {}", actions.join(", "))));
    }
    let chord = chord.parse().map_err(|error| {
        let error =
            Error::usage(format!("--key {action}: \"{chord}\" is not a chord that Herdr binds: {error}"));
        error.help(match near_chord(chord) {
            Some(near) => format!("did you mean {near}?"),
            None => "a chord looks like prefix+shift+s or prefix+alt+x".into(),
        })
    })?;
    Ok((action.into(), chord))
}

/// The chord that `text` is but for mistyped words.
fn near_chord(text: &str) -> Option<String> {
    const WORDS: [&str; 12] = [
        "prefix",
        "ctrl",
        "alt",
        "shift",
        "enter",
        "tab",
        "space",
        "backspace",
        "left",
        "right",
        "up",
        "down",
    ];
    let near = |part| if str::len(part) > 1 { nearest(part, &WORDS).unwrap_or(part) } else { part };
    let words: Vec<&str> = text.split('+').map(str::trim).map(near).collect();
    let near = words.join("+");
    near.parse::<Chord>().ok().map(|_| near)
}

/// The keys of the template, with the chosen chords, and after them other actions that got one.
pub(super) fn wanted_keys(chosen: &[(String, Chord)]) -> Vec<Wanted> {
    let template = template::herdr();
    let chosen_chord =
        |action: &str| chosen.iter().rev().find(|(name, _)| name == action).map(|(_, chord)| *chord);
    let wanted = |action: &str, chord, description: &str| Wanted {
        action: action.into(),
        command: format!("{PLUGIN_ID}.{action}"),
        description: description.into(),
        chord,
    };
    let of_template = template.keys.iter().map(|key: &KeyTemplate| {
        wanted(&key.action, chosen_chord(&key.action).unwrap_or(key.chord), &key.description)
    });
    let mut all: Vec<Wanted> = of_template.collect();
    for (action, _) in chosen {
        if !all.iter().any(|known| known.action == *action) {
            let chord = chosen_chord(action).expect("it was chosen");
            all.push(wanted(action, chord, &description(action)));
        }
    }
    all
}

/// What Herdr's help panel shows for an action that the template gives no key.
pub(in crate::setup) fn description(action: &str) -> String {
    match action {
        "boxes" => "list the sandboxes".into(),
        action => format!("{action} the sandbox of this pane"),
    }
}
