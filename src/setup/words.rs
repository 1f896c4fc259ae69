//! Sentences that the plan and the doctor share.

use super::files::Owner;

/// Why a file is not ours to write.
pub(super) fn owner(owner: &Owner) -> String {
    match owner {
        Owner::User => "it is an ordinary file".into(),
        Owner::Linked => "it is a link".into(),
        Owner::Generated { by, source } => format!("{by} writes it, from {}", source.display()),
        Owner::ReadOnly { reason } => reason.clone(),
    }
}
