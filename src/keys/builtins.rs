//! Herdr's own bindings, from `templates/herdr-builtins.toml`.

use super::chord::Chord;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::sync::LazyLock;

/// One field of `[keys]` with its default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Builtin {
    /// Its name in `[keys]`.
    pub(super) field: String,
    /// Another name that Herdr takes for it.
    pub(super) alias: Option<String>,
    /// Its default chords; none for one that is unset.
    #[serde(default, rename = "chords", deserialize_with = "chords")]
    pub(super) defaults: Vec<Chord>,
    /// It is nine bindings, and takes ranges.
    #[serde(default)]
    pub(super) indexed: bool,
}

/// What the template holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    builtin: Vec<Builtin>,
}

fn chords<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Chord>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let chords = texts.iter().map(|text| Chord::range(text)).collect::<Result<Vec<_>, _>>();
    chords.map(|chords| chords.concat()).map_err(D::Error::custom)
}

/// All fields in the order in which Herdr registers them.
pub(super) fn builtins() -> &'static [Builtin] {
    static TABLE: LazyLock<Template> =
        LazyLock::new(|| crate::templates::read(include_str!("../../templates/herdr-builtins.toml")));
    &TABLE.builtin
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_default_is_a_chord_of_its_own() {
        // A text that is no chord is an error of the template as a whole.
        let all: Vec<Chord> = builtins().iter().flat_map(|builtin| builtin.defaults.clone()).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
