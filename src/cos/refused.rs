//! A provider's refusal, with what to do about it here.

use super::providers::signed_out;
use crate::command;
use crate::createos::{Failure, Provider, Refusal, Unfollowed};
use crate::error::Error;

/// The refusal of a call that makes a box of this shape.
pub(super) fn to_make(failure: Failure, shape: &str) -> Error {
    if failure.refusal != Refusal::Shape {
        return refused(failure);
    }
    let words = &failure.words;
    let choices = words.split_once("choices:").map(|(_, rest)| rest.trim());
    let choices = choices.and_then(|rest| rest.strip_prefix('[')?.split_once(']')).map(|(inner, _)| inner);
    let allowed = choices.unwrap_or("see the provider").split([',', ' ']).filter(|word| !word.is_empty());
    let allowed = allowed.collect::<Vec<_>>().join(", ");
    Error::failed(format!("shape '{shape}' not allowed on your plan. Allowed: {allowed}"))
}

/// Any other refusal.
pub(super) fn refused(failure: Failure) -> Error {
    match failure.refusal {
        Refusal::SignedOut => signed_out().fact("provider", failure.words),
        Refusal::Cap => Error::failed(failure.to_string())
            .help("paused boxes count too, only deleting one makes room")
            .help(format!("see which there are: {}", command::createos(["sandbox", "list"]))),
        Refusal::NoBash => {
            Error::failed(failure.to_string()).help("use an image that has bash and tar: --rootfs IMAGE")
        }
        Refusal::LifecycleBroken => Error::failed(failure.to_string())
            .help(format!("this createos cannot pause or resume a box: {}", command::createos(["upgrade"]))),
        Refusal::NotStarted | Refusal::Paused => Error::failed(failure.to_string()),
        _ => Error::from(failure),
    }
}

/// Why a command was not followed to its end.
pub(super) fn unfollowed(why: Unfollowed) -> Error {
    match why {
        Unfollowed::Failure(failure) => refused(failure),
        other => other.into(),
    }
}

/// How to look at a box, and how to delete it.
#[must_use]
pub(super) fn with_ways(error: Error, provider: &Provider, id: &str) -> Error {
    error
        .fact("box", id)
        .help(format!("look at it: {}", provider.shown(&["get", id])))
        .help(format!("delete it: {}", provider.shown(&["rm", "--yes", id])))
}
