//! Which chord a missing action gets: its first choice, else the first free one of the others.

use super::Wanted;
use super::chord::Chord;
use super::owners::{Holder, Owners};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a missing action gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Our name of the action.
    pub(crate) action: String,
    /// Its chord; none when everything is taken, and then nothing is written for it.
    pub(crate) chord: Option<Chord>,
    /// Why it is not the first choice.
    pub(crate) instead_of: Option<Refused>,
    /// The field of `[keys]` whose default the chord displaces.
    pub(crate) displaces: Option<String>,
}

/// A first choice that somebody else has.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Refused {
    /// The first choice.
    pub(crate) chord: Chord,
    /// Who has it.
    pub(crate) holder: Holder,
}

/// Chooses for all missing actions at once: first choices go before anybody's second one.
/// What the user gave to something else is never taken; a default of Herdr's only as a first choice.
pub(super) fn choose(owners: &Owners, missing: &[&Wanted]) -> Vec<Placed> {
    let mut given: HashMap<Chord, &str> = HashMap::new();
    let refused: Vec<Option<Refused>> = missing
        .iter()
        .map(|wanted| {
            let holder = match (owners.holder(wanted.chord), given.get(&wanted.chord)) {
                (Some(holder), _) if !holder.gives_way() => Some(holder.clone()),
                (_, Some(action)) => Some(Holder::Action { action: (*action).into() }),
                _ => None,
            };
            if holder.is_none() {
                given.insert(wanted.chord, &wanted.action);
            }
            holder.map(|holder| Refused { chord: wanted.chord, holder })
        })
        .collect();
    let mut placed = Vec::new();
    for (wanted, refused) in missing.iter().zip(refused) {
        let chord = match refused {
            None => Some(wanted.chord),
            Some(_) => others(wanted.chord)
                .find(|chord| owners.holder(*chord).is_none() && !given.contains_key(chord)),
        };
        if let Some(chord) = chord {
            given.insert(chord, &wanted.action);
        }
        placed.push(Placed {
            action: wanted.action.clone(),
            chord,
            displaces: chord.and_then(|chord| owners.default_of(chord)).map(Into::into),
            instead_of: refused,
        });
    }
    placed
}

/// What of `templates/herdr.toml` is read here.
#[derive(Deserialize)]
struct Template {
    spare: Vec<String>,
}

/// What an action may get whose first choice is taken, best first.
pub(crate) fn others(first: Chord) -> impl Iterator<Item = Chord> {
    static SPARE: LazyLock<Template> =
        LazyLock::new(|| crate::templates::read(include_str!("../../templates/herdr.toml")));
    let letter = first.letter().map(String::from);
    SPARE.spare.iter().filter_map(move |text| match &letter {
        Some(letter) => text.replace('*', letter).parse().ok(),
        None => text.parse().ok().filter(|_| !text.contains('*')),
    })
}
