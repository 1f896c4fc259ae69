//! A person's yes.

use crate::error::Error;
use crate::local::failure::Result;
use crate::ui;

/// Asks a person; where there is none, says how to do without.
pub(crate) fn confirmed(doing: &str, what: &str) -> Result<bool> {
    if !ui::is_on_terminal() {
        return Err(Error::usage("non-interactive mode: use --force to confirm").into());
    }
    Ok(ui::confirm(&format!("{doing} {}?", ui::visible(what)), false)?)
}
