//! `list`: pages, the server's clamp, and rows of other boxes (contract 4.2).

use crate::argv::Parsed;
use crate::{Call, backend, print};
use serde_json::{Value, json};

/// The server clamps a page.
const CLAMP: usize = 500;

impl Call<'_> {
    pub(crate) fn list(&self, parsed: &Parsed) -> u8 {
        let number = |name: &str, default: usize| {
            parsed.one(name).map_or(default, |text| text.parse().expect("a number"))
        };
        let limit = number("--limit", 50).min(CLAMP);
        let offset = if self.control.offset_ignored { 0 } else { number("--offset", 0) };
        let all = Parsed { flags: vec![("--all".into(), None)], positional: Vec::new() };
        let output = backend::capture(self.control, true, "list", &all, &[]);
        if output.code != 0 {
            return self.relay(&output);
        }
        let own: Value = serde_json::from_slice(&output.stdout).expect("our provider answers JSON");
        let mut rows: Vec<Value> = (0..self.control.other_rows).map(other).collect();
        let own = own.as_array().filter(|_| !self.control.other_account);
        for mut row in own.cloned().unwrap_or_default() {
            if let Some(way) = self.control.way(row["id"].as_str().unwrap_or_default(), false) {
                row["status"] = json!(way.status);
            }
            rows.push(row);
        }
        let wanted = parsed.one("--status");
        let everything = parsed.has(&["--all", "-a"]);
        rows.retain(|row| {
            let status = row["status"].as_str().unwrap_or_default();
            let live = ["running", "paused", "pausing", "resuming", "forking"].contains(&status);
            wanted.map_or(everything || live, |wanted| wanted == status)
        });
        let page: Vec<Value> = rows.into_iter().skip(offset).take(limit).collect();
        if page.is_empty() && self.control.null_lists {
            print("null\n");
        } else {
            print(&format!("{:#}\n", Value::Array(page)));
        }
        0
    }
}

/// A box of somebody else, with a name that is no friend of terminals.
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
        "created_at": "2026-01-01T00:00:00Z",
    })
}
