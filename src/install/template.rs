//! `templates/install.toml`: where programs come from and where they land.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Template {
    pub(super) createos: Releases,
    pub(super) script: Vec<Script>,
}

/// Releases that are downloaded here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Releases {
    pub(super) releases: String,
    pub(super) lands: Vec<Place>,
}

/// An official installer script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// The requirement's id, which is the program's name, too.
    pub(super) id: String,
    pub(super) url: String,
    /// A variable that names another one.
    pub(super) variable: String,
    /// What runs it.
    pub(super) shell: String,
    /// What it calls that not every machine has.
    pub(super) needs: Vec<String>,
    pub(super) lands: Vec<Place>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Place {
    /// In a folder that a variable names.
    Variable {
        variable: String,
        /// A folder below it.
        #[serde(default)]
        below: PathBuf,
    },
    Home {
        home: PathBuf,
    },
}

pub(super) static TEMPLATE: LazyLock<Template> =
    LazyLock::new(|| crate::templates::read(include_str!("../../templates/install.toml")));

/// The files that a program may be after its installer has run, best first.
pub(super) fn places(id: &str, home: &Path, var: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let lands = match TEMPLATE.script.iter().find(|script| script.id == id) {
        Some(script) => script.lands.as_slice(),
        None if id == "createos" => TEMPLATE.createos.lands.as_slice(),
        None => &[],
    };
    let folders = lands.iter().filter_map(|place| match place {
        Place::Variable { variable, below } => Some(PathBuf::from(var(variable)?).join(below)),
        Place::Home { home: below } => Some(home.join(below)),
    });
    folders.map(|folder| folder.join(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_land_where_their_installers_say() {
        let places = |id: &str| {
            let var = |name: &str| (name == "BUN_INSTALL").then(|| "/b".to_owned());
            places(id, Path::new("/h"), &var)
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(places("bun"), ["/b/bin/bun", "/h/.bun/bin/bun"]);
        assert_eq!(places("createos"), ["/h/.local/bin/createos"]);
        assert_eq!(places("herdr"), ["/h/.local/bin/herdr"]);
        assert!(places("git").is_empty());
    }
}
