//! One question, on a terminal only.

use crate::error::{Error, Result};
use std::io::IsTerminal;

/// Whether a person sits at both ends: what we print is read, and an answer can be typed.
pub(crate) fn is_on_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks a yes-or-no question; Enter alone is `default`.
///
/// # Errors
/// The terminal cannot be read.
pub(crate) fn confirm(question: &str, default: bool) -> Result<bool> {
    dialoguer::Confirm::new().with_prompt(question).default(default).interact().map_err(|error| {
        Error::cannot_run(format!("the question cannot be asked: {error}")).help("answer it with --yes")
    })
}
