//! Variables of our environment.

use super::say::say;

/// A variable that is set, and not to nothing.
pub(super) fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    match value.into_string() {
        Ok(text) => Some(text).filter(|text| !text.is_empty()),
        Err(_) => {
            say(format!("{name} is no text, and does not count"));
            None
        }
    }
}
