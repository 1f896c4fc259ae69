//! What would leave and why the rest stays, for a person.

use crate::worktree::{FileKind, INCLUDE, Lifted, Packed, Reason, Selection};
use crate::{command, ui};
use std::path::Path;

/// As in `999.9 MB`.
const WIDEST_SIZE: usize = 8;

/// Shows both sides, a line a path: what leaves and what stays home, with the reasons, and then the sums. `what` is what
/// was looked at, and `settings` the file that can let more through.
pub(crate) fn list(selection: &Selection, packed: &Packed, what: &str, settings: &str) {
    let gone = |reason| reason == Reason::Missing;
    // One column for both lists, as wide as a size or the longest reason.
    let reasons = packed.stayed.iter().filter(|stayed| !gone(stayed.reason));
    let width = reasons.map(|stayed| stayed.reason.words().len()).max().unwrap_or(0).max(WIDEST_SIZE);
    for ((path, entry), size) in packed.base.iter().zip(&packed.sizes) {
        ui::line(format!(
            "  leaves   {:>width$}  {}{}{}",
            ui::bytes(*size),
            shown(path.as_path()),
            mark(entry.kind),
            lifted(selection.let_through.get(path))
        ));
    }
    for stayed in packed.stayed.iter().filter(|stayed| !gone(stayed.reason)) {
        let place = match stayed.line {
            Some(line) => format!("{}:{line}", shown(&stayed.path)),
            None => shown(&stayed.path),
        };
        let rule = match stayed.kind {
            Some(kind) => format!("{kind}, rule {}", stayed.rule),
            None => format!("rule {}", escaped(&stayed.rule)),
        };
        ui::line(format!("  stays    {:<width$}  {place}    ({rule})", stayed.reason.words()));
    }
    let missing = packed.stayed.iter().filter(|stayed| gone(stayed.reason)).count() as u64;
    let stay = packed.stayed.len() as u64 - missing;
    if packed.files + stay > 0 {
        ui::line("");
    }
    ui::line(format!("{what:<8} {}", shown(selection.root())));
    ui::line(format!("leaves   {}, {}", ui::count(packed.files, "file"), ui::bytes(packed.bytes)));
    ui::line(format!("stays    {}", ui::count(stay, "file")));
    if missing > 0 {
        ui::line(format!("missing  {} in the index but not on disk", ui::count(missing, "file")));
    }
    ui::line(format!("digest   {}", packed.digest));
    if packed.stayed.iter().any(|stayed| stayed.reason == Reason::Secret) {
        ui::line(format!(
            "help: a hit that is no secret leaves with \"allowSecrets\": [\"PATH\"] in {settings}"
        ));
    }
    if packed.stayed.iter().any(|stayed| stayed.reason == Reason::Include) {
        ui::line(format!("help: what {INCLUDE} names leaves after your yes: {}", command::own(["trust"])));
    }
}

/// What lets a file through that a filter of names would keep.
fn lifted(lifted: Option<&Lifted>) -> String {
    match lifted {
        None => String::new(),
        Some(Lifted::Allowed(entry)) => format!("    (allowed: allowFiles {})", escaped(entry)),
        Some(Lifted::Included) => format!("    (included: {INCLUDE})"),
    }
}

fn mark(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "",
        FileKind::Executable => " (executable)",
        FileKind::Link => " (link)",
    }
}

fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

/// On one line, whatever the name holds.
fn escaped(text: &str) -> String {
    ui::visible(text).replace('\n', "\\n")
}
