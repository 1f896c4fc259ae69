//! `sandbox list`, page by page, and whether the pages were all of it.

use super::provider::ASK;
use super::{BoxView, Failure, Provider};
use serde_json::Value;
use std::collections::HashSet;

/// The server clamps a page at this many rows (docs/measured/createos-cli.md 4.6).
const PAGE: usize = 500;
/// A listing longer than this is given up as incomplete.
const MAX_ROWS: usize = 50_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that live, `creating` among them.
    Live,
    /// All that the provider knows, destroyed ones too.
    Everything,
}

/// Sandboxes, newest first as the provider sorts them.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The rows; rows without a usable id are left out and make the listing incomplete.
    pub(crate) boxes: Vec<BoxView>,
    /// Every page was read to the end: only then is a missing box a missing box.
    pub(crate) complete: bool,
}

impl Provider {
    /// Lists sandboxes over all pages.
    ///
    /// # Errors
    /// A page cannot be had.
    pub(crate) fn list(&self, scope: Scope) -> Result<Listing, Failure> {
        match scope {
            Scope::Everything => self.pages(&["--all"]),
            Scope::Live => {
                // The default set leaves out `creating` (docs/measured/createos-cli.md 4.6).
                let mut listing = self.pages(&["--status", "creating"])?;
                let live = self.pages(&[])?;
                let seen: HashSet<_> = listing.boxes.iter().map(|view| view.id.clone()).collect();
                listing.boxes.extend(live.boxes.into_iter().filter(|view| !seen.contains(&view.id)));
                listing.complete &= live.complete;
                listing.boxes.retain(|view| !view.status.is_gone());
                Ok(listing)
            }
        }
    }

    fn pages(&self, flags: &[&str]) -> Result<Listing, Failure> {
        const VERB: &str = "sandbox list";
        let mut listing = Listing { boxes: Vec::new(), complete: true };
        let mut seen = HashSet::new();
        let mut offset = 0;
        loop {
            let (limit, at) = (PAGE.to_string(), offset.to_string());
            let run = self.json(ASK).arg("list").args(flags).args(["--limit", &limit, "--offset", &at]);
            let rows = match self.document(VERB, run)? {
                Value::Null => Vec::new(),
                Value::Array(rows) => rows,
                _ => return Err(Failure::other(VERB, "the answer is not a list")),
            };
            let before = seen.len();
            for row in &rows {
                match BoxView::parse(VERB, row) {
                    Ok(view) => {
                        if seen.insert(view.id.clone()) {
                            listing.boxes.push(view);
                        }
                    }
                    Err(_) => listing.complete = false,
                }
            }
            // The newest builds page each status on its own, so a page may be longer than the limit;
            // one that is shorter proves that no status has more.
            if rows.len() < PAGE {
                return Ok(listing);
            }
            // The same page again: this build ignores --offset.
            if seen.len() == before || seen.len() > MAX_ROWS {
                listing.complete = false;
                return Ok(listing);
            }
            offset += PAGE;
        }
    }
}
