//! Commands in what was printed: a person will type them as they stand, so each has to be one.

use super::binary;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Programs whose commands are printed to be typed.
const PROGRAMS: [&str; 3] = ["createos-sandbox", "createos", "herdr"];

/// What may stand behind our own name.
const AREAS: [&str; 8] = ["setup", "herdr", "shim", "try", "local", "completions", "man", "version"];

/// The commands in a fix, a hint or a last line: what stands at the end of a line, alone or behind a colon.
pub fn commands(text: &str) -> Vec<String> {
    text.lines().flat_map(in_line).collect()
}

fn in_line(line: &str) -> Vec<String> {
    let line = line.trim().trim_end_matches(')');
    let alone = line.trim_start_matches("fix: ").trim_start_matches("help: ");
    let tail = alone.rsplit_once(": ").map(|(_, tail)| tail);
    let command = [tail, Some(alone)].into_iter().flatten().find(|text| begins(text));
    command.into_iter().flat_map(|text| text.split(" && ")).map(str::to_owned).collect()
}

fn begins(text: &str) -> bool {
    let mut words = text.split(' ').skip_while(|word| is_variable(word));
    words.next().is_some_and(|first| PROGRAMS.contains(&first))
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

/// The words of a command, as a shell reads what we quote.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => (quoted, any) = (!quoted, true),
            '\\' if !quoted => word.extend(letters.next()),
            ' ' if !quoted => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            letter => word.push(letter),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Asserts that each command of ours in a run's output is understood: whatever test made the run, in whatever
/// state.
#[track_caller]
pub fn are_commands(output: &str) {
    static SEEN: Mutex<BTreeSet<Vec<String>>> = Mutex::new(BTreeSet::new());
    // A line of a document is no line to copy from, and a usage is no command.
    let is_prose = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with(['{', '"', '+', '-'])
            && !line.starts_with("Usage: ")
            && !line.starts_with(super::RESULT)
    };
    let lines = output.lines().filter(|line| line.contains(": createos-sandbox ")).filter(is_prose);
    for command in lines.flat_map(in_line) {
        let words: Vec<String> = words(&command).into_iter().skip_while(|word| is_variable(word)).collect();
        let Some(("createos-sandbox", rest)) =
            words.split_first().map(|(first, rest)| (first.as_str(), rest))
        else {
            continue;
        };
        // Names differ from run to run, the rest is what may be wrong.
        let kept = |(at, word): &(usize, &String)| *at < 2 || word.starts_with('-');
        let key = rest.iter().enumerate().filter(kept).map(|(_, word)| word.clone()).collect();
        // In a sentence it is a name.
        if !rest.first().is_some_and(|first| AREAS.contains(&first.as_str())) {
            continue;
        }
        if rest.iter().any(|word| word == "--") || !SEEN.lock().expect("a lock").insert(key) {
            continue;
        }
        let mut run = Command::new(binary());
        run.args(rest).arg("--help").env_clear().stdin(Stdio::null());
        let said = run.output().expect("it starts");
        assert!(
            said.status.success(),
            "[{command}] is no command: {}",
            String::from_utf8_lossy(&said.stderr)
        );
    }
}
