//! A popup with a text to read.

use super::sheet::Sheet;
use crate::error::Result;
use crate::ui;

/// The variable that carries a message to its popup.
pub(crate) const MESSAGE: &str = "CREATEOS_SANDBOX_MESSAGE";
/// Longer messages are cut: they travel in one environment variable.
pub(crate) const LONGEST: usize = 6_000;

/// Shows a message until a key is pressed.
pub(crate) fn message() -> Result<()> {
    let text = std::env::var(MESSAGE).unwrap_or_default();
    closed(ui::visible(&text))
}

/// Shows text until a key is pressed.
pub(crate) fn closed(text: String) -> Result<()> {
    Sheet::closable(text).ask(|_| Some(())).map(|_| ())
}
