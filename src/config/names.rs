//! Names as people type them.

use crate::error::Error;

/// Words that the official CLI takes for a question about itself, wherever they stand in its argv
/// (docs/measured/createos-cli.md 3.2).
pub(super) fn asks_for_help(text: &str) -> bool {
    matches!(text, "help" | "-h" | "--help")
}

/// The error for a name that is none of these.
pub(super) fn unknown(what: &str, text: &str, names: &[&str]) -> Error {
    let error = Error::usage(format!("unknown {what} \"{text}\"; pick one of: {}", names.join(", ")));
    error.help(nearest(text, names).map_or_else(String::new, |near| format!("did you mean {near}?")))
}

/// The name that `text` was probably meant to be: the only one that begins so, or at most a third of it differs.
pub(crate) fn nearest<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let mut longer = names.iter().filter(|name| text.len() > 2 && name.starts_with(&text.to_lowercase()));
    if let (Some(only), None) = (longer.next(), longer.next()) {
        return Some(only);
    }
    let distance = |name: &&&str| strsim::damerau_levenshtein(&text.to_lowercase(), &name.to_lowercase());
    let near = names.iter().min_by_key(distance)?;
    (distance(&near) <= (near.len() / 3).max(1)).then_some(*near)
}
