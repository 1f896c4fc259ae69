//! The doctor and the plan as text (docs/screens.md): words first, the fix beside the fault. Failures as annotations of
//! a GitHub workflow run.

use super::change::{Change, Line};
use super::plan::{Plan, Warning};
use crate::paths::Paths;
use crate::setup::checks::check::{Check, Status, Summary};
use crate::ui::{Tone, coloured, count, visible, wrap};
use unicode_width::UnicodeWidthStr;

/// The doctor's rooms, and the checks that belong to each.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Programs", &["os", "createos", "session", "herdr", "git", "bun"]),
    ("Plugin", &["setup", "plugin", "config", "allow-files", "paths", "shim"]),
    ("Herdr", &["herdr-server", "herdr-config", "config-owner", "home-owner", "keys", "notices"]),
    ("Boxes", &["shape", "egress", "agent-env", "local-sandbox", "boxes"]),
];

/// The doctor's report, for a terminal of so many columns; `None` breaks no line. What is wrong is told again at the
/// end, which is what a terminal of few rows shows.
pub(super) fn doctor(checks: &[Check], columns: Option<usize>) -> String {
    let title = crate::command::setup().flag("--doctor");
    let widths = Widths::of_columns(checks, columns);
    let mut text = format!("{title}\n\n");
    let mut section = |title: &str, belongs: &dyn Fn(&Check) -> bool| {
        let rows: String =
            checks.iter().filter(|check| belongs(check)).map(|check| widths.row(check)).collect();
        if !rows.is_empty() {
            text.push_str(&format!("{title}\n{rows}\n"));
        }
    };
    for (title, ids) in GROUPS {
        section(title, &|check| ids.contains(&check.id));
    }
    section("More", &|check| GROUPS.iter().all(|(_, ids)| !ids.contains(&check.id)));
    section("To mend", &|check| matches!(check.status, Status::Fail | Status::Warn));
    let Summary { ok, warnings, notes, failed, .. } = Summary::count(checks);
    let faults = [
        (failed, format!("{failed} failed")),
        (warnings, count(warnings as u64, "warning")),
        (notes, count(notes as u64, "note")),
    ];
    let faults = faults.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words);
    let parts: Vec<String> = faults.chain([format!("{ok} ok")]).collect();
    text.push_str(wrapped(format!("{}. Nothing was changed.", parts.join(", ")), columns).trim_end());
    text
}

/// Below so many columns a check's words stand below its name.
const NARROW: usize = 48;

/// The columns of the doctor's rows.
struct Widths {
    columns: Option<usize>,
    id: usize,
    found: usize,
}

impl Widths {
    fn of_columns(checks: &[Check], columns: Option<usize>) -> Self {
        let id = checks.iter().map(|check| check.id.len()).max().unwrap_or(0);
        let found = checks.iter().filter_map(version).map(str::len).max().unwrap_or(0);
        Self { columns, id, found }
    }

    /// A check, with the fix below what needs one. Where a line is too wide its path stands below, in one piece, and
    /// words are broken in their column; a command stays whole, to be copied.
    fn row(&self, check: &Check) -> String {
        let (word, tone) = match check.status {
            Status::Ok => ("ok", Tone::Good),
            Status::Warn => ("warn", Tone::Careful),
            Status::Note => ("note", Tone::Faint),
            Status::Fail => ("FAIL", Tone::Bad),
            Status::Skip => ("skip", Tone::Faint),
        };
        let word = coloured(tone, &format!("{word:<4}"));
        let (indent, head) = match self.columns.is_some_and(|columns| columns < NARROW) {
            true => (8, format!("  {word}  {}\n        ", check.id)),
            false => (self.id + 10, format!("  {word}  {:<width$}  ", check.id, width = self.id)),
        };
        let room = self.columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent));
        let below = format!("\n{}", " ".repeat(indent));
        let mut text = format!("{head}{}", self.says(check, room).trim_end().replace('\n', &below));
        if let (Some(fix), true) = (&check.fix, check.status != Status::Ok) {
            for (index, line) in fix.lines().enumerate() {
                let lead = if index == 0 { "fix: " } else { "     " };
                let fix = format!("{lead}{}", visible(line));
                text.push_str(&format!("{below}{}", wrap(&fix, room).replace('\n', &below)));
            }
        }
        text + "\n"
    }

    /// What a check says, in lines of `room` columns.
    fn says(&self, check: &Check, room: usize) -> String {
        let path = check.path.as_deref();
        let Some(found) = version(check) else {
            let message = visible(&check.message);
            return match path.filter(|path| !check.message.contains(path)).map(visible) {
                Some(path) if message.width() + 3 + path.width() <= room => format!("{message}   {path}"),
                Some(path) => format!("{}\n{path}", wrap(&message, room)),
                None => wrap(&message, room),
            };
        };
        let needed = check.needed.as_ref().filter(|_| check.status == Status::Fail);
        let needs = needed.map_or_else(String::new, |needed| format!("needs {needed}"));
        let path = path.unwrap_or_default();
        let line = format!("{found:<width$}   {path}     {needs}", width = self.found);
        let line = visible(line.trim_end());
        if line.width() <= room { line } else { visible(&format!("{found}   {path}\n{needs}")) }
    }
}

/// The version of a program that was found: it stands in a column of its own.
fn version(check: &Check) -> Option<&str> {
    let is_program = check.path.is_some() && matches!(check.id, "createos" | "herdr" | "git" | "bun");
    check.found.as_deref().filter(|_| is_program)
}

/// The plan below its title, with or without the unified diffs, for a terminal of so many columns; `None` breaks no
/// line.
pub(super) fn plan(
    title: &str,
    plan: &Plan,
    paths: &Paths,
    with_diffs: bool,
    columns: Option<usize>,
) -> String {
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
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(verb_width + 6));
    // A row that is too wide in any case does not push the others out.
    let fits = |line: &Line| line.thing.width() + line.rest.width() <= room;
    let things = lines.iter().filter(|(line, _)| fits(line)).map(|(line, _)| line.thing.width());
    let thing_width = things.max().unwrap_or(0).min(48);
    for (index, (line, change)) in lines.iter().enumerate() {
        if index == 0 {
            text.push('\n');
        }
        let Line { verb, thing, rest } = line;
        let row = format!("  {verb:<verb_width$}  {thing:<thing_width$}  {rest}");
        text.push_str(&wrapped(visible(row.trim_end()), columns));
        if let Some(diff) = change.filter(|_| with_diffs).and_then(|change| change.step().diff()) {
            text.push_str(&indented(&diff));
        }
    }
    let rest = keys(plan) + &remarks(plan, columns);
    // A diff has ended with an empty line already.
    text.push_str(if text.ends_with("\n\n") { rest.trim_start_matches('\n') } else { &rest });
    text
}

/// What is pressed for each action, where the plan binds keys.
fn keys(plan: &Plan) -> String {
    let bound = plan.chords.iter().filter(|_| plan.edits_keys());
    let keys: Vec<_> =
        bound.filter_map(|bound| Some((plan.presses(&bound.action)?, &bound.action))).collect();
    let width = keys.iter().map(|(presses, _)| presses.width()).max().unwrap_or(0);
    let rows = keys.iter().map(|(presses, action)| format!("  {presses:<width$}  {action}\n"));
    if keys.is_empty() { String::new() } else { format!("\n{}", visible(&rows.collect::<String>())) }
}

/// Notes, warnings with their fixes, and the block to paste.
fn remarks(plan: &Plan, columns: Option<usize>) -> String {
    let mut text = String::new();
    if !plan.notes.is_empty() || !plan.warnings.is_empty() {
        text.push('\n');
    }
    for note in &plan.notes {
        text.push_str(&wrapped(format!("  {}", visible(note)), columns));
    }
    for Warning { message, fix } in &plan.warnings {
        let warning = wrapped(format!("  warn  {}", visible(message)), columns);
        text.push_str(&warning.replacen("warn", &coloured(Tone::Careful, "warn"), 1));
        if let Some(fix) = fix {
            text.push_str(&format!("        fix: {}\n", visible(fix)));
        }
    }
    if let Some(block) = &plan.block {
        text.push_str(&format!("\n{}\n", visible(block.trim_end())));
    }
    text
}

/// A line with its end, broken between words where the terminal is too narrow for it.
fn wrapped(line: String, columns: Option<usize>) -> String {
    columns.map_or(line.clone(), |columns| wrap(&line, columns)) + "\n"
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
    checks
        .iter()
        .filter(|check| check.status.fails(true, strict))
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
