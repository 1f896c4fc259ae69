//! Commands in what was printed: a person will type them as they stand, so each has to be one.

use super::binary;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Programs whose commands are printed to be typed.
const PROGRAMS: [&str; 3] = ["createos-sandbox", "createos", "herdr"];

/// What may stand behind our own name.
const AREAS: [&str; 19] = [
    "setup",
    "herdr",
    "shim",
    "try",
    "local",
    "cos",
    "completions",
    "man",
    "version",
    "start",
    "attach",
    "apply",
    "review",
    "undo",
    "boxes",
    "info",
    "pause",
    "resume",
    "delete",
];

/// The commands in a fix, a hint or a last line: what stands at the end of a line, alone or behind a colon.
pub fn commands(text: &str) -> Vec<String> {
    text.lines().flat_map(|line| in_line(line, &PROGRAMS)).collect()
}

/// The same in what a popup or a pane shows, of other programs too.
pub fn on_screen(text: &str) -> Vec<String> {
    let found = text
        .lines()
        .flat_map(|line| in_line(line, &["createos-sandbox", "createos", "herdr", "git", "less"]));
    found.filter(|command| is_one(&key(command))).collect()
}

fn in_line(line: &str, programs: &[&str]) -> Vec<String> {
    let line = line.trim().trim_end_matches(')');
    let alone = line.trim_start_matches("fix: ").trim_start_matches("help: ");
    let tail = alone.rsplit_once(": ").map(|(_, tail)| tail);
    let command = [tail, Some(alone)].into_iter().flatten().find(|text| begins(text, programs));
    command.into_iter().flat_map(|text| text.split(" && ")).map(str::to_owned).collect()
}

fn begins(text: &str, programs: &[&str]) -> bool {
    let mut words = text.split(' ').skip_while(|word| is_variable(word));
    words.next().is_some_and(|first| programs.contains(&first))
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

/// Every command that popups and panes show: each is run in the state that shows it, by `commands/screens.rs`, or
/// has its reason there.
pub const ON_SCREENS: [&str; 22] = [
    "createos login",
    "createos sandbox get",
    "createos sandbox rm --yes",
    "createos sandbox shapes",
    "createos upgrade",
    "createos-sandbox herdr apply",
    "createos-sandbox herdr apply --again",
    "createos-sandbox herdr apply --allow-deletions",
    "createos-sandbox herdr apply --on-clash",
    "createos-sandbox herdr apply --to-patch",
    "createos-sandbox herdr boxes",
    "createos-sandbox herdr delete",
    "createos-sandbox herdr info",
    "createos-sandbox herdr review",
    "createos-sandbox herdr start",
    "createos-sandbox herdr undo",
    "createos-sandbox herdr undo --keep-changed",
    "createos-sandbox herdr upload --dry-run",
    "createos-sandbox setup herdr --doctor",
    "git worktree add",
    "herdr tab close",
    "less",
];

/// Asserts that each command on a screen is one of those.
#[track_caller]
pub fn are_run_on_screens(screen: &str) {
    for command in on_screen(screen) {
        let key = key(&command);
        // The official CLI's own words at a detach.
        if key == "createos sandbox process" {
            continue;
        }
        assert!(
            ON_SCREENS.contains(&&*key),
            "[{command}] is shown and never typed: add its state to tests/it/commands/screens.rs\n{screen}"
        );
    }
}

/// The program, its verbs and its flags: what a command is without the names in it.
pub fn key(command: &str) -> String {
    let words = words(command).into_iter().skip_while(|word| is_variable(word)).enumerate();
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let kept = words.filter(|(at, word)| *at < 3 && is_word(word) || word.starts_with("--"));
    let kept: Vec<String> = kept.map(|(_, word)| word).collect();
    kept.join(" ")
}

/// Whether a line that begins with a program's name goes on with a word of it.
fn is_one(key: &str) -> bool {
    match key.split(' ').collect::<Vec<_>>()[..] {
        ["createos-sandbox", area, ..] => AREAS.contains(&area),
        ["createos", area, ..] => ["sandbox", "login", "upgrade"].contains(&area),
        ["herdr", area, ..] => ["plugin", "server", "config", "tab", "pane", "update"].contains(&area),
        ["git", verb, ..] => ["apply", "worktree"].contains(&verb),
        ["less"] => true,
        _ => false,
    }
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
        let line = line.trim_start_matches("cos: ").trim_start();
        !line.starts_with(['{', '"', '+', '-'])
            && !line.starts_with("Usage: ")
            && !line.starts_with(super::RESULT)
    };
    let lines = output.lines().filter(|line| line.contains(": createos-sandbox ")).filter(is_prose);
    for command in lines.flat_map(|line| in_line(line, &PROGRAMS)) {
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
