//! Sentences that the plan and the doctor share.

use crate::setup::observe::files::Owner;

/// Why a file is not ours to write.
pub(super) fn owner(owner: &Owner) -> String {
    match owner {
        Owner::User => "it is an ordinary file".into(),
        Owner::Linked => "it is a link".into(),
        Owner::Generated { by, source } => format!("{by} writes it, from {}", source.display()),
        Owner::Irregular { kind, real } => format!("{} is {kind}, not a regular file", real.display()),
        Owner::Fixed { reason } => reason.clone(),
    }
}

/// Where the change goes by hand, when it is not ours to write.
pub(super) fn by_hand(owner: &Owner) -> &'static str {
    match owner {
        Owner::Generated { .. } => "where the file is made",
        _ => "into it by hand",
    }
}

/// How our entries leave a file that is not ours to write.
pub(super) fn take_out(owner: &Owner) -> &'static str {
    match owner {
        Owner::Generated { .. } => "take our entries out where the file is made",
        _ => "take our entries out by hand",
    }
}
