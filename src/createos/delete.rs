//! The end of a sandbox, until it is seen to go; and the one that a create call has made without telling so.

use super::{BoxId, BoxName, Failure, Provider, Refusal, Result, Scope};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How long a box may still be there after the provider said that it is deleted: it works on by itself
/// (docs/measured/createos-cli.md 4.1).
const LEAVING: Duration = Duration::from_secs(15);
/// A create call that was cut short may still make its box: so long it is looked for by its name.
const LATE_BOX: Duration = Duration::from_secs(60);

impl Provider {
    /// Deletes a sandbox, once more after a moment if that fails, and looks that it goes. `ours` are the sandboxes that
    /// were made from here.
    ///
    /// # Errors
    /// The provider's refusal, or its box is there all the same.
    pub(crate) fn delete(&self, id: &BoxId, ours: impl FnOnce() -> HashSet<BoxId>) -> Result<()> {
        let removed = match self.remove(id) {
            Err(failure) if failure.refusal != Refusal::SignedOut => {
                std::thread::sleep(Duration::from_secs(1));
                self.remove(id)
            }
            result => result,
        };
        match removed {
            // An exit code of 0 proves nothing (docs/measured/createos-cli.md 3.11).
            Ok(()) => self.leaves(id),
            // "Not found" proves nothing, a listing may (docs/measured/createos-cli.md 4.5).
            Err(failure) if failure.refusal == Refusal::NotFound => {
                let listing = self.list(Scope::Everything)?;
                let gone = match listing.boxes.iter().find(|view| view.id == *id) {
                    Some(view) => view.status.is_gone(),
                    None => self.is_proof(&listing, &ours()),
                };
                if gone { Ok(()) } else { Err(failure) }
            }
            result => result,
        }
    }

    /// Waits until a box that was deleted is on its way out.
    fn leaves(&self, id: &BoxId) -> Result<()> {
        let began = Instant::now();
        loop {
            let failure = match self.get(id) {
                Ok(view) if view.status.is_gone() => return Ok(()),
                Ok(view) => {
                    Failure::other("sandbox rm", format!("it said yes, and the box is {}", view.status))
                }
                Err(failure) if failure.refusal == Refusal::NotFound => return Ok(()),
                Err(failure) => failure,
            };
            if began.elapsed() > LEAVING {
                return Err(failure);
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }

    /// The box of a create call that told none, waited for: it may come late, and a provider that cannot be asked now
    /// may answer in a moment.
    ///
    /// # Errors
    /// The provider could not be asked for all that time.
    pub(crate) fn find_late(&self, name: &BoxName) -> Result<Option<BoxId>> {
        let began = Instant::now();
        loop {
            match self.find_by_name(name) {
                Ok(None) | Err(_) if began.elapsed() < LATE_BOX => {}
                found => return found,
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}
