//! Herdr's own bindings, from `templates/herdr-builtins.toml`.

use super::chord::Chord;
use std::sync::LazyLock;

/// One field of `[keys]` with its default.
#[derive(Debug)]
pub(super) struct Builtin {
    /// Its name in `[keys]`.
    pub(super) field: String,
    /// Another name that Herdr takes for it.
    pub(super) alias: Option<String>,
    /// Its default chords; none for one that is unset.
    pub(super) defaults: Vec<Chord>,
    /// It is nine bindings, and takes ranges.
    pub(super) indexed: bool,
}

/// What the template holds.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    builtin: Vec<Row>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    field: String,
    alias: Option<String>,
    #[serde(default)]
    chords: Vec<String>,
    #[serde(default)]
    indexed: bool,
}

/// All fields in the order in which Herdr registers them.
pub(super) fn builtins() -> &'static [Builtin] {
    static TABLE: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
        let template: Template = toml_edit::de::from_str(include_str!("../../templates/herdr-builtins.toml"))
            .expect("the template in this binary is tested");
        let defaults = |row: &Row| -> Vec<Chord> {
            let chords = row.chords.iter().flat_map(|text| Chord::range(text));
            chords.flatten().collect()
        };
        template
            .builtin
            .into_iter()
            .map(|row| Builtin {
                defaults: defaults(&row),
                field: row.field,
                alias: row.alias,
                indexed: row.indexed,
            })
            .collect()
    });
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_default_is_a_chord_of_its_own() {
        let template: Template =
            toml_edit::de::from_str(include_str!("../../templates/herdr-builtins.toml")).unwrap();
        for row in &template.builtin {
            for text in &row.chords {
                Chord::range(text).unwrap_or_else(|error| panic!("{}: {text}: {error}", row.field));
            }
        }
        let all: Vec<Chord> = builtins().iter().flat_map(|builtin| builtin.defaults.clone()).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
