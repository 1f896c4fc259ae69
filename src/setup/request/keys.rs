//! `--key`: the bindings that are wanted.

use crate::config::{Agent, nearest};
use crate::error::{Error, Result};
use crate::keys::{Chord, Wanted};
use crate::paths::PLUGIN_ID;
use crate::setup::bundle;
use crate::setup::template;

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
        let near = nearest(action, &names).map_or_else(String::new, |near| format!("did you mean {near}?"));
        return Err(error.help(near).help(format!("pick one of: {}", actions.join(", "))));
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
    const WORDS: &str = "prefix ctrl alt shift enter tab space backspace left right up down";
    let known: Vec<&str> = WORDS.split(' ').collect();
    let near = |part| if str::len(part) > 1 { nearest(part, &known).unwrap_or(part) } else { part };
    let words: Vec<&str> = text.split('+').map(str::trim).map(near).collect();
    let near = words.join("+");
    near.parse::<Chord>().ok().map(|_| near)
}

/// The keys of the template, with the chosen chords, and after them other actions that got one.
pub(super) fn wanted_keys(chosen: &[(String, Chord)]) -> Vec<Wanted> {
    let wanted = |action: &str, chord| Wanted {
        action: action.into(),
        command: format!("{PLUGIN_ID}.{action}"),
        description: description(action),
        chord,
    };
    let mut all: Vec<Wanted> =
        template::HERDR.keys.iter().map(|key| wanted(&key.action, key.chord)).collect();
    for (action, chord) in chosen {
        match all.iter_mut().find(|known| known.action == *action) {
            Some(known) => known.chord = *chord,
            None => all.push(wanted(action, *chord)),
        }
    }
    all
}

/// What Herdr's help panel shows for an action, where the template has no words for it, too.
pub(in crate::setup) fn description(action: &str) -> String {
    match template::HERDR.keys.iter().find(|key| key.action == action) {
        Some(key) => key.description.clone(),
        None if action == "boxes" => "list the sandboxes".into(),
        None if action == "start-menu" => "choose an agent and start it in a new sandbox".into(),
        None if action.starts_with("start-") => {
            let agent = action.trim_start_matches("start-").parse::<Agent>();
            let title = agent.map_or_else(|_| action.to_owned(), |agent| agent.spec().title.clone());
            format!("start {title} in a new sandbox")
        }
        None => format!("{action} the sandbox of this pane"),
    }
}
