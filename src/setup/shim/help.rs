//! `createos sandbox --help` with a line for `setup`, where the official program has none yet.

use super::real::call;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "setup";
const WHAT: &str = "Set up Herdr for sandboxed agents, or check the setup (createos-sandbox)";

/// Shows the official help with our line in it.
pub(super) fn show(program: &Path, args: &[OsString], nested: &str) -> Result<Exit> {
    changed(program, args, nested, |help, _| with_setup(help))
}

/// Shows what the official program says of its own `setup`, with our word on the line for Herdr.
///
/// # Errors
/// It cannot be run.
pub(super) fn show_hosts(program: &Path, args: &[OsString], nested: &str) -> Result<Exit> {
    changed(program, args, nested, |help, said| if said { with_our_word(help) } else { help.to_owned() })
}

/// What the official program prints, changed; `change` is told whether the program had success.
fn changed(
    program: &Path,
    args: &[OsString],
    nested: &str,
    change: impl FnOnce(&str, bool) -> String,
) -> Result<Exit> {
    let ended = call(program, args, nested).run()?;
    if !ended.stderr_text().is_empty() {
        ui::note(ended.stderr_text());
    }
    let _closed_pipe = ui::raw(change(&ended.stdout_text(), ended.success()).as_bytes());
    Ok(Exit::of_program(ended.code()))
}

/// Whether the official program has a `setup` of its own.
///
/// # Errors
/// It cannot be run.
pub(super) fn has_setup(program: &Path, nested: &str) -> Result<bool> {
    let ended = call(program, ["sandbox", "--help"], nested).limit(Duration::from_secs(10)).run()?;
    let text = ended.stdout_text();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    Ok(commands(&lines).is_some_and(|(_, commands)| commands.iter().any(|(_, name)| name == NAME)))
}

/// Says on Herdr's line who answers.
fn with_our_word(help: &str) -> String {
    let is_herdrs = |line: &str| first_word(line) == Some("herdr") && line.starts_with([' ', '\t']);
    if !help.split_inclusive('\n').any(is_herdrs) {
        return with_also(help, "herdr");
    }
    let lines = help.split_inclusive('\n').map(|line| match is_herdrs(line) {
        true => format!("{} (by createos-sandbox)\n", line.trim_end()),
        false => line.to_owned(),
    });
    lines.collect()
}

/// Says at the end what `name` is, where no line is there for it.
fn with_also(help: &str, name: &str) -> String {
    let gap = if help.ends_with('\n') || help.is_empty() { "" } else { "\n" };
    format!("{help}{gap}\nALSO:\n   {name}  {WHAT}\n")
}

fn first_word(line: &str) -> Option<&str> {
    line.split([' ', ',', '\t', '\n']).find(|word| !word.is_empty())
}

/// Where the list of commands begins, and each of its lines with its command; none where there is no list.
fn commands(lines: &[&str]) -> Option<(usize, Vec<(usize, String)>)> {
    let is_heading = |line: &str| !line.starts_with([' ', '\t']) && line.trim_end().ends_with(':');
    let start = lines.iter().position(|line| line.trim_end() == "COMMANDS:")? + 1;
    let end = lines[start..].iter().position(|line| is_heading(line)).map_or(lines.len(), |at| start + at);
    let command = |at: usize| Some((at, first_word(lines[at])?.to_owned()));
    Some((start, (start..end).filter_map(command).collect()))
}

/// Adds the line to the list of commands, aligned with the others, before `help` if that is the last.
fn with_setup(help: &str) -> String {
    let lines: Vec<&str> = help.split_inclusive('\n').collect();
    let Some((start, commands)) = commands(&lines) else {
        return with_also(help, NAME);
    };
    if commands.iter().any(|(_, name)| name == NAME) {
        return help.into();
    }
    let at = match commands.last() {
        Some((at, name)) if name == "help" => *at,
        Some((at, _)) => at + 1,
        None => start,
    };
    let sample = commands.first().map_or("   ", |(at, _)| lines[*at]);
    let indent = &sample[..sample.len() - sample.trim_start().len()];
    // The column of the descriptions: after the first gap of two blanks.
    let width = sample.trim_start().find("  ").map_or(NAME.len() + 2, |gap| {
        let after = &sample.trim_start()[gap..];
        gap + after.len() - after.trim_start().len()
    });
    let line = format!("{indent}{NAME:width$}{WHAT}\n");
    lines[..at].iter().copied().chain([line.as_str()]).chain(lines[at..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "NAME:\n   createos sandbox - boxes\n\nCOMMANDS:\n   create, c   Make one\n   list, ls    Show all\n   help, h     Shows help\n\nOPTIONS:\n   --help, -h  show help\n";

    #[test]
    fn the_line_stands_aligned_before_help() {
        let expected = HELP.replace("   help, h", &format!("   setup       {WHAT}\n   help, h"));
        assert_eq!(with_setup(HELP), expected);
    }

    #[test]
    fn a_program_that_lists_setup_itself_is_left_alone() {
        let newer = HELP.replace("list, ls ", "setup, su");
        assert_eq!(with_setup(&newer), newer);
    }

    #[test]
    fn another_form_of_help_gets_the_line_at_its_end() {
        assert_eq!(with_setup("usage"), format!("usage\n\nALSO:\n   setup  {WHAT}\n"));
    }
}
