//! When a sandbox is proven to be gone. "Not found" never proves it: the CLI may look at 200 rows only
//! (contract `createos-cli.md` 3.1).

use super::{BoxId, Failure, Provider, Refusal, Scope, Status};

impl Provider {
    /// Whether a sandbox is proven to be gone: its status is `destroyed`, or a listing that was read to its
    /// end does not have it.
    ///
    /// # Errors
    /// The provider cannot be asked: then nothing is proven.
    pub(crate) fn is_gone(&self, id: &BoxId) -> Result<bool, Failure> {
        match self.get(id) {
            Ok(view) => Ok(view.status == Status::Destroyed),
            Err(failure) if failure.refusal == Refusal::NotFound => {
                let listing = self.list(Scope::Everything)?;
                let row = listing.boxes.iter().find(|view| view.id == *id);
                Ok(row.map_or(listing.complete, |view| view.status == Status::Destroyed))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Those of these sandboxes that are proven to be gone, with one listing for all.
    ///
    /// # Errors
    /// The provider cannot be asked: then nothing is proven.
    pub(crate) fn gone_among(&self, ids: &[BoxId]) -> Result<Vec<BoxId>, Failure> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let listing = self.list(Scope::Everything)?;
        let is_gone = |id: &&BoxId| match listing.boxes.iter().find(|view| view.id == **id) {
            Some(view) => view.status == Status::Destroyed,
            // Rows move from page to page while others come and go: a missing one is asked for by its id.
            None => match self.get(id) {
                Ok(view) => view.status == Status::Destroyed,
                Err(failure) => failure.refusal == Refusal::NotFound && listing.complete,
            },
        };
        Ok(ids.iter().filter(is_gone).cloned().collect())
    }
}
