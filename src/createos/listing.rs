//! A sandbox as the provider shows it; `sandbox list`, page by page, and whether the pages were all of it.

use super::provider::ASK;
use super::{BoxId, Failure, Provider, Refusal, Result, Status, json};
use serde_json::Value;
use std::collections::HashSet;

/// A sandbox as `get` and `list` show it; only what we use.
#[derive(Debug, Clone)]
pub(crate) struct BoxView {
    pub(crate) id: BoxId,
    /// Raw text from outside: it may be empty or hostile.
    pub(crate) name: String,
    pub(crate) status: Status,
    /// Seconds without activity after which it pauses by itself.
    pub(crate) auto_pause_seconds: Option<u64>,
    /// The hosts that it may reach; empty when it may reach all.
    pub(crate) egress: Vec<String>,
    /// The proxy of this machine's through which it connects, where the provider tells; raw text from outside.
    pub(crate) via: Option<String>,
    /// What it was refused, where the provider tells.
    pub(crate) refused: Vec<RefusedTarget>,
    /// What keeps it to its shape, where the provider tells.
    pub(crate) limits: Option<BoxLimits>,
}

/// What keeps a box to its shape. Each is counted for the `box`, an `entry` into it, each `process`, or is `none`.
#[derive(Debug, Clone)]
pub(crate) struct BoxLimits {
    pub(crate) processes: u64,
    pub(crate) processes_of: String,
    pub(crate) memory_of: String,
    pub(crate) processors_of: String,
}

/// One target that a box was refused.
#[derive(Debug, Clone)]
pub(crate) struct RefusedTarget {
    /// Name or address, and port; raw text from outside.
    pub(crate) target: String,
    pub(crate) count: u64,
    /// The rules that would let it pass.
    pub(crate) egress: Vec<String>,
}

impl BoxView {
    pub(super) fn parse(verb: &str, value: &Value) -> Result<Self> {
        let id = json::text(value, "id")
            .ok_or_else(|| Failure::other(verb, "the answer has no id of a box"))?
            .parse()
            .map_err(|error| Failure::other(verb, format!("{error}")))?;
        let text = |key| json::text(value, key).unwrap_or_default().to_owned();
        let rules = value.get("egress").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            id,
            name: text("name"),
            status: Status::parse(&text("status")),
            auto_pause_seconds: value.get("auto_pause_after_seconds").and_then(Value::as_u64),
            egress: rules.filter_map(Value::as_str).map(str::to_owned).collect(),
            via: json::text(value, "via").map(str::to_owned),
            refused: refused(value).unwrap_or_default(),
            limits: value.get("limits").and_then(limits),
        })
    }
}

fn limits(value: &Value) -> Option<BoxLimits> {
    let of = |key| json::text(value, key).map(str::to_owned);
    Some(BoxLimits {
        processes: value.get("processes")?.as_u64()?,
        processes_of: of("processes_of")?,
        memory_of: of("memory_of")?,
        processors_of: of("processors_of")?,
    })
}

fn refused(value: &Value) -> Option<Vec<RefusedTarget>> {
    let read = |entry: &Value| {
        let rules = entry.get("egress").and_then(Value::as_array).into_iter().flatten();
        Some(RefusedTarget {
            target: json::text(entry, "target")?.to_owned(),
            count: entry.get("count")?.as_u64()?,
            egress: rules.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    };
    Some(value.get("refused")?.as_array()?.iter().filter_map(read).collect())
}

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
    pub(crate) fn list(&self, scope: Scope) -> Result<Listing> {
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

    fn pages(&self, flags: &[&str]) -> Result<Listing> {
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

impl Provider {
    /// Whether a sandbox is proven to be gone. "Not found" proves nothing: the CLI may look at 200 rows only
    /// (docs/measured/createos-cli.md 4.5). Its status is `destroyed`, or a listing that is a proof does not
    /// have it. `ours` are the sandboxes that were made from here.
    ///
    /// # Errors
    /// The provider cannot be asked: then nothing is proven.
    pub(crate) fn is_gone(&self, id: &BoxId, ours: &HashSet<BoxId>) -> Result<bool> {
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
    pub(crate) fn gone_among(&self, ids: &[BoxId], ours: &HashSet<BoxId>) -> Result<Vec<BoxId>> {
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
