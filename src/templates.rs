//! The data in `templates/`, which is built into this program.

use serde::de::DeserializeOwned;

/// What one of its TOML files holds; a test reads every one.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> T {
    toml_edit::de::from_str(text).expect("what is built in is valid, which is tested")
}
