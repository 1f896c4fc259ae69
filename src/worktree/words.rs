//! Words by which a text that looks like a secret is told from one: `templates/secret-words.toml`.

use crate::templates;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    /// What people write where a secret would be.
    pub(super) placeholders: Vec<String>,
    /// What passwords of examples are made of.
    pub(super) passwords: Vec<String>,
    /// Labels of PEM that are for everybody.
    pub(super) public: Vec<String>,
}

pub(super) static WORDS: LazyLock<Words> =
    LazyLock::new(|| templates::read(include_str!("../../templates/secret-words.toml")));
