//! The `console` blocks of the documents run, and what they show is what comes out.

use super::{document, documents};
use crate::support::{Home, Outcome, Repo};

/// A command of a console block and the output that the document shows for it.
struct Example {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// The `console` blocks of a document: `$ COMMAND`, then its output. A line `…` stands for any lines,
/// `…` inside a line for any text.
fn examples(document: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in document.lines().enumerate() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match line.strip_prefix("$ ") {
                Some(command) => {
                    found.push(Example { line: number + 1, command: command.into(), shown: Vec::new() });
                }
                None => found.last_mut().expect("a block begins with a command").shown.push(line.into()),
            },
        }
    }
    found
}

/// Whether `line` is what `pattern` shows.
fn line_matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().expect("split gives one part");
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

/// A line without what differs from run to run: times, the random end of a box's name, ids.
pub fn redacted(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let unit = words[at].trim_end_matches('.');
        if ["ms", "s"].contains(&unit) && words[at - 1].parse::<f64>().is_ok() {
            words[at - 1] = "0".into();
            words[at] = words[at].replace("ms", "s");
        }
    }
    for word in &mut words {
        // `hd-shop-x1y2z3`, and ids of boxes and processes, with the punctuation around them.
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
        if let Some((start, _)) = name.rsplit_once('-').filter(|(start, _)| start.starts_with("hd-")) {
            *word = word.replace(&name, &format!("{start}-NAME"));
        }
        for kind in ["sb-", "proc_"] {
            if name.starts_with(kind) {
                *word = word.replace(&name, &format!("{kind}ID"));
            }
        }
    }
    words.join(" ")
}

/// Whether `lines` are what `shown` shows.
fn lines_match(shown: &[String], lines: &[String]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((pattern, rest)) if pattern == "…" => {
            (0..=lines.len()).any(|skipped| lines_match(rest, &lines[skipped..]))
        }
        Some((pattern, rest)) => {
            lines.first().is_some_and(|line| line_matches(pattern, line)) && lines_match(rest, &lines[1..])
        }
    }
}

/// A home as the documents assume it: a worktree, the stand-ins as `herdr` and `createos` on PATH.
fn run(example: &Example) -> Option<Outcome> {
    let own = ["createos-sandbox ", "cargo run --release -- "];
    let args = own.iter().find_map(|start| example.command.strip_prefix(start))?;
    let args: Vec<&str> = args.split_whitespace().collect();
    if args == ["try"] && !cfg!(target_os = "linux") {
        return None;
    }
    let home = Home::new();
    let repo = Repo::init(&home.path().join("webshop"));
    repo.write("README.md", "# Webshop\n").write("src/app.js", "start()\n").write(".env", "KEY=1\n");
    repo.commit("begin");
    Some(home.run_in(repo.root(), &args))
}

#[test]
fn the_documents_show_what_comes_out() {
    let mut ran = 0;
    for name in documents() {
        for example in examples(&document(&name)) {
            let Some(outcome) = run(&example) else { continue };
            ran += 1;
            let lines = [outcome.stdout.as_str(), &outcome.stderr].concat();
            let lines: Vec<String> = lines.lines().map(redacted).collect();
            assert!(
                lines_match(&example.shown.iter().map(|line| redacted(line)).collect::<Vec<_>>(), &lines),
                "{name}:{}: `{}` shows\n{}\n--- but prints\n{}",
                example.line,
                example.command,
                example.shown.join("\n"),
                lines.join("\n"),
            );
        }
    }
    let expected = if cfg!(target_os = "linux") { 2 } else { 1 };
    assert!(ran >= expected, "only {ran} examples ran");
}

#[test]
fn the_documents_name_only_commands_that_exist() {
    let home = Home::new();
    let mut checked = 0;
    // Those of docs/exit-codes.md are run, the wrong ones too.
    for name in documents().iter().filter(|name| *name != "docs/exit-codes.md") {
        for piece in document(name).split('`').skip(1).step_by(2) {
            let Some(rest) = piece.strip_prefix("createos-sandbox ") else { continue };
            // The command words: up to the first flag, placeholder or value.
            let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let words: Vec<&str> = rest.split_whitespace().take_while(is_word).collect();
            if words.is_empty() {
                continue;
            }
            let outcome = home.run(&[&words[..], &["--help"]].concat());
            assert_eq!(outcome.code, 0, "{name}: `{piece}`: {outcome:?}");
            checked += 1;
        }
    }
    assert!(checked > 15, "only {checked} commands were found");
}
