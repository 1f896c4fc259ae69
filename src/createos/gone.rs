//! When a sandbox is proven to be gone. "Not found" never proves it: the CLI may look at 200 rows only
//! (docs/measured/createos-cli.md 4.5).

use super::{BoxId, Failure, Listing, Provider, Refusal, Scope, Status};
use std::collections::HashSet;

impl Provider {
    /// Whether a sandbox is proven to be gone: its status is `destroyed`, or a listing that is a proof does not
    /// have it. `ours` are the sandboxes that were made from here.
    ///
    /// # Errors
    /// The provider cannot be asked: then nothing is proven.
    pub(crate) fn is_gone(&self, id: &BoxId, ours: &HashSet<BoxId>) -> Result<bool, Failure> {
        match self.get(id) {
            Ok(view) => Ok(view.status == Status::Destroyed),
            Err(failure) if failure.refusal == Refusal::NotFound => {
                let listing = self.list(Scope::Everything)?;
                let row = listing.boxes.iter().find(|view| view.id == *id);
                Ok(row.map_or_else(|| self.is_proof(&listing, ours), |view| view.status == Status::Destroyed))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Those of these sandboxes that are proven to be gone, with one listing for all.
    ///
    /// # Errors
    /// The provider cannot be asked: then nothing is proven.
    pub(crate) fn gone_among(&self, ids: &[BoxId], ours: &HashSet<BoxId>) -> Result<Vec<BoxId>, Failure> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let listing = self.list(Scope::Everything)?;
        let is_proof = self.is_proof(&listing, ours);
        let is_gone = |id: &&BoxId| match listing.boxes.iter().find(|view| view.id == **id) {
            Some(view) => view.status == Status::Destroyed,
            // Rows move from page to page while others come and go: a missing one is asked for by its id.
            None => match self.get(id) {
                Ok(view) => view.status == Status::Destroyed,
                Err(failure) => failure.refusal == Refusal::NotFound && is_proof,
            },
        };
        Ok(ids.iter().filter(is_gone).cloned().collect())
    }

    /// Whether what is not in a listing is gone: it was read to its end, and it is the list of the account that made
    /// our sandboxes. Destroyed ones stay in it (docs/measured/createos-cli.md 4.1); one that has none at all is
    /// another account's.
    pub(crate) fn is_proof(&self, listing: &Listing, ours: &HashSet<BoxId>) -> bool {
        let is_ours = || listing.boxes.iter().any(|view| ours.contains(&view.id));
        listing.complete && (!self.kind().has().account || is_ours())
    }
}
