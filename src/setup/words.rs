//! Sentences that the plan and the doctor share.

use super::files::Owner;
use std::path::Path;

/// Why a file is not ours to write.
pub(super) fn owner(owner: &Owner) -> String {
    match owner {
        Owner::User => "it is an ordinary file".into(),
        Owner::Linked => "it is a link".into(),
        Owner::Generated { by, source } => format!("{by} writes it, from {}", source.display()),
        Owner::ReadOnly { reason } => reason.clone(),
    }
}

/// A path in a command to paste.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
