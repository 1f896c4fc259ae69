//! The doctor and the plan as text (docs/screens.md): words first, the fix beside the fault. Failures as annotations of
//! a GitHub workflow run.

use super::change::{Change, Line};
use super::plan::{Plan, Warning};
use crate::paths::Paths;
use crate::setup::checks::check::{Check, Status, Summary};
use crate::ui::{Tone, coloured, count, visible, wrap};
use unicode_width::UnicodeWidthStr;

/// The doctor's report, for a terminal of so many columns; `None` breaks no line.
pub(super) fn doctor(checks: &[Check], columns: Option<usize>) -> String {
    let title = crate::command::setup().flag("--doctor");
    let mut text = format!("{title}\n\n{}\n", list(checks, columns));
    let Summary { ok, warnings, notes, failed, .. } = Summary::count(checks);
    let faults = [
        (failed, format!("{failed} failed")),
        (warnings, count(warnings as u64, "warning")),
        (notes, count(notes as u64, "note")),
    ];
    let faults = faults.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words);
    let parts: Vec<String> = faults.chain([format!("{ok} ok")]).collect();
    text.push_str(&format!("{}. Nothing was changed.", parts.join(", ")));
    text
}

/// Checks, a line each, with the fix below what needs one. Where a line is too wide its path stands below,
/// in one piece, and words are broken in their column; a fix stays whole, to be copied.
fn list(checks: &[Check], columns: Option<usize>) -> String {
    let id_width = checks.iter().map(|check| check.id.len()).max().unwrap_or(0);
    let found_width = checks.iter().filter_map(version).map(str::len).max().unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let (word, tone) = match check.status {
            Status::Ok => ("ok", Tone::Good),
            Status::Warn => ("warn", Tone::Careful),
            Status::Note => ("note", Tone::Faint),
            Status::Fail => ("FAIL", Tone::Bad),
            Status::Skip => ("skip", Tone::Faint),
        };
        let word = coloured(tone, &format!("{word:<4}"));
        let head = format!("  {word}  {:<id_width$}  ", check.id);
        let indent = " ".repeat(id_width + 10);
        let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent.len()));
        let says = match version(check) {
            Some(found) => {
                let path = check.path.as_deref().unwrap_or_default();
                let needs = check.needed.as_ref().filter(|_| check.status == Status::Fail);
                let needs = needs.map_or_else(String::new, |needed| format!("     needs {needed}"));
                visible(&format!("{found:<found_width$}   {path}{needs}"))
            }
            None => {
                let message = visible(&check.message);
                match check.path.as_deref().filter(|path| !check.message.contains(path)).map(visible) {
                    Some(path) if message.width() + 3 + path.width() <= room => format!("{message}   {path}"),
                    Some(path) => format!("{}\n{path}", broken(&message, room)),
                    None => broken(&message, room),
                }
            }
        };
        text.push_str(&format!("{head}{}\n", says.trim_end().replace('\n', &format!("\n{indent}"))));
        if let (Some(fix), true) = (&check.fix, check.status != Status::Ok) {
            for (index, line) in fix.lines().enumerate() {
                let lead = if index == 0 { "fix: " } else { "     " };
                text.push_str(&format!("  {:4}  {:<id_width$}  {lead}{}\n", "", "", visible(line)));
            }
        }
    }
    text
}

/// Words broken at `room`, unless it is too little to read in.
fn broken(message: &str, room: usize) -> String {
    if room < 20 { message.to_owned() } else { wrap(message, room) }
}

/// The version of a program that was found: it stands in a column of its own.
fn version(check: &Check) -> Option<&str> {
    let is_program = check.path.is_some() && matches!(check.id, "createos" | "herdr" | "git" | "bun");
    check.found.as_deref().filter(|_| is_program)
}

/// The plan below its title, with or without the unified diffs.
pub(super) fn plan(title: &str, plan: &Plan, paths: &Paths, with_diffs: bool) -> String {
    let changes = (!plan.changes.is_empty()).then(|| count(plan.changes.len() as u64, "change"));
    let right = (plan.right > 0).then(|| format!("{} already right", plan.right));
    let counts: Vec<String> = changes.into_iter().chain(right).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    let mut text = format!("{title}{counts}\n");
    let lines: Vec<(Line, Option<&Change>)> = plan
        .changes
        .iter()
        .map(|change| (change.step().line(paths), Some(change)))
        .chain(plan.kept.iter().map(|line| (line.clone(), None)))
        .collect();
    let verb_width = lines.iter().map(|(line, _)| line.verb.len()).max().unwrap_or(0);
    let thing_width = lines.iter().map(|(line, _)| line.thing.chars().count()).max().unwrap_or(0).min(48);
    for (index, (line, change)) in lines.iter().enumerate() {
        if index == 0 {
            text.push('\n');
        }
        let Line { verb, thing, rest } = line;
        let row = format!("  {verb:<verb_width$}  {thing:<thing_width$}  {rest}");
        text.push_str(&visible(row.trim_end()));
        text.push('\n');
        if let Some(diff) = change.filter(|_| with_diffs).and_then(|change| change.step().diff()) {
            text.push_str(&indented(&diff));
        }
    }
    let remarks = remarks(plan);
    // A diff has ended with an empty line already.
    text.push_str(if text.ends_with("\n\n") { remarks.trim_start_matches('\n') } else { &remarks });
    text
}

/// Notes, warnings with their fixes, and the block to paste.
pub(super) fn remarks(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.notes.is_empty() || !plan.warnings.is_empty() {
        text.push('\n');
    }
    for note in &plan.notes {
        text.push_str(&format!("  {}\n", visible(note)));
    }
    for Warning { message, fix } in &plan.warnings {
        text.push_str(&format!("  {}  {}\n", coloured(Tone::Careful, "warn"), visible(message)));
        if let Some(fix) = fix {
            text.push_str(&format!("        fix: {}\n", visible(fix)));
        }
    }
    if let Some(block) = &plan.block {
        text.push_str(&format!("\n{}\n", visible(block.trim_end())));
    }
    text
}

/// A diff, indented and coloured by its signs. A line's own tabs and letters stay; hostile ones do not.
fn indented(diff: &str) -> String {
    let mut text = String::from("\n");
    for line in diff.lines() {
        let shown = visible(&line.replace('\t', "    "));
        let shown = match line.as_bytes().first() {
            Some(b'+') => coloured(Tone::Good, &shown),
            Some(b'-') => coloured(Tone::Bad, &shown),
            Some(b'@') => coloured(Tone::Faint, &shown),
            _ => shown,
        };
        text.push_str(format!("    {shown}").trim_end());
        text.push('\n');
    }
    text.push('\n');
    text
}

/// A workflow command for each check that fails this run.
pub(super) fn annotations(checks: &[Check], strict: bool) -> Vec<String> {
    let fails = |check: &&Check| match check.status {
        Status::Fail => true,
        Status::Warn => strict,
        Status::Ok | Status::Note | Status::Skip => false,
    };
    checks
        .iter()
        .filter(fails)
        .map(|check| {
            let fix = check.fix.as_ref().map_or_else(String::new, |fix| format!("\nfix: {fix}"));
            format!(
                "::error title=createos-sandbox {}::{}",
                check.id,
                escaped(&format!("{}{fix}", check.message))
            )
        })
        .collect()
}

/// The escapes of a workflow command's data.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_are_annotated_and_on_one_line() {
        let checks = [
            Check::ok("os", "fine"),
            Check::warn("keys", "5 of 6"),
            Check::fail("git", "100%\ngone").fix("x"),
        ];
        assert_eq!(
            annotations(&checks, false),
            ["::error title=createos-sandbox git::100%25%0Agone%0Afix: x"]
        );
        assert_eq!(annotations(&checks, true).len(), 2);
    }
}
