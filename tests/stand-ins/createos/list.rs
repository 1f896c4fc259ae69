//! `list`: pages, the server's clamp, and rows of other boxes (docs/measured/createos-cli.md 4.6).

use crate::argv::Parsed;
use crate::{Call, backend, print};
use serde_json::{Value, json};

/// The server clamps a page.
const CLAMP: usize = 500;
/// What a plain list shows; `creating` is not among them (docs/measured/createos-cli.md 4.6).
const ACTIVE: [&str; 5] = ["running", "paused", "pausing", "resuming", "forking"];

impl Call<'_> {
    pub(crate) fn list(&self, parsed: &Parsed) -> u8 {
        let number = |name: &str, default: usize| {
            parsed.one(name).map_or(default, |text| text.parse().expect("a number"))
        };
        let limit = number("--limit", 50).min(CLAMP);
        let offset = if self.control.offset_ignored { 0 } else { number("--offset", 0) };
        let every = [("--all", None), ("--limit", Some("100000"))];
        let flags = every.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).to_vec();
        let all = Parsed { flags, positional: Vec::new() };
        let output = backend::capture(self.control, true, "list", &all, &[]);
        if output.code != 0 {
            return self.relay(&output);
        }
        let own = output.json();
        let mut rows: Vec<Value> = (0..self.control.other_rows).map(other).collect();
        let own = own.as_array().filter(|_| !self.control.other_account);
        for mut row in own.cloned().unwrap_or_default() {
            if let Some(way) = self.control.way(row["id"].as_str().unwrap_or_default(), false) {
                row["status"] = json!(way.status);
            }
            rows.push(row);
        }
        let page = |status: Option<&str>| {
            let named = status.map(|status| format!("status={status}&")).unwrap_or_default();
            self.control
                .append("requests", &format!("GET /v1/sandboxes?{named}limit={limit}&offset={offset}"));
            let of_status = rows.iter().filter(|row| status.is_none_or(|status| row["status"] == status));
            of_status.skip(offset).take(limit).cloned().collect::<Vec<_>>()
        };
        // Without a filter each status that lives is asked for by itself: each has its limit and its offset.
        let wanted = parsed.one("--status");
        let mut rows = match (wanted, parsed.has(&["--all", "-a"])) {
            (Some(status), _) => page(Some(status)),
            (None, true) => page(None),
            (None, false) => ACTIVE.iter().flat_map(|status| page(Some(status))).collect(),
        };
        rows.sort_by(|a, b| b["created_at"].as_str().cmp(&a["created_at"].as_str()));
        if parsed.has(&["--quiet", "-q"]) {
            rows.iter().for_each(|row| print(&format!("{}\n", row["id"].as_str().unwrap_or_default())));
        } else if rows.is_empty() && self.control.null_lists {
            print("null\n");
        } else {
            print(&format!("{:#}\n", Value::Array(rows)));
        }
        0
    }
}

/// A box of somebody else, newer than ours, with a name that is no friend of terminals.
fn other(n: usize) -> Value {
    let name = match n % 7 {
        0 => format!("x\u{1b}[2J{n}\u{202e}"),
        2 => format!("two\r\nlines{n}\u{9b}31m\u{7}"),
        4 => format!("箱{n}").repeat(20),
        6 => format!("\u{1b}]0;title{n}\u{1b}\\"),
        _ => format!("other-{n}"),
    };
    json!({
        "id": format!("sb-OTHER{n:08}"), "name": name, "status": "running", "shape": "s-1vcpu-1gb",
        "created_at": "2099-01-01T00:00:00Z",
    })
}
