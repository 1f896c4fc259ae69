//! Words of ours: on stderr, and each line of them begins with our name.

use crate::error::Error;
use crate::ui;

/// Says it.
pub(super) fn say(text: impl AsRef<str>) {
    for line in ui::visible(text.as_ref()).lines() {
        ui::note(if line.is_empty() { "cos:".to_owned() } else { format!("cos: {line}") });
    }
}

/// Says what went wrong, the facts, and what to type.
pub(super) fn report(error: &Error) {
    say(error.message());
    error.facts().iter().for_each(|(label, value)| say(format!("  {label}: {value}")));
    error.hints().iter().for_each(|hint| say(format!("  help: {hint}")));
}
