//! What the actions remember: reservations, mappings, base lists; files under a lock, versioned.

mod locks;
mod past;
mod record;
#[expect(clippy::module_inception, reason = "the type State has a file of its own")]
mod state;
mod store;
mod take_over;

pub(crate) use past::PastBox;
pub(crate) use record::{Phase, Record, RecordId, Recorded, StartOutcome, now};
pub(crate) use state::{Asks, Made, State};
pub(crate) use store::Store;
pub(crate) use take_over::{TakenOver, take_over};
