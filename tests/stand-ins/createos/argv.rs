//! The argv rules: globals right after the program, then flags, and what comes after the first positional
//! is no flag any more (docs/measured/createos-cli.md 3.12).

use crate::control::{Control, Generation};
use crate::help;

/// A call, split where the official parser splits it.
pub(crate) struct Argv {
    /// `-o json` stood where it counts.
    pub(crate) json: bool,
    /// `create`, `process start`, …
    pub(crate) verb: String,
    rest: Vec<String>,
    /// What stands behind `--`.
    pub(crate) command: Vec<String>,
    all: Vec<String>,
}

/// What a command line is.
pub(crate) enum Parse {
    /// A call.
    Call(Argv),
    /// A group without a verb, or a help word where the verb stands.
    Help(String),
    /// A usage error with these words.
    Refused(String),
    /// The contract does not have it.
    Unknown,
}

/// Flags and positionals.
#[derive(Clone)]
pub(crate) struct Parsed {
    pub(crate) flags: Vec<(String, Option<String>)>,
    pub(crate) positional: Vec<String>,
}

impl Parsed {
    /// The last value of a flag.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(own, _)| own == name).and_then(|(_, value)| value.as_deref())
    }

    /// Whether one of the flags is given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(own, _)| names.contains(&own.as_str()))
    }
}

/// Flags with a value, flags without one.
type Flags = (&'static [&'static str], &'static [&'static str]);

/// The flags of a verb in this generation.
pub(crate) fn known(verb: &str, generation: Generation) -> Option<Flags> {
    const START: &[&str] = &["--cwd", "--env", "--rows", "--cols", "--after"];
    Some(match verb {
        "create" => (
            &["--name", "--shape", "--rootfs", "--egress", "--env", "--network", "--auto-pause", "--disk"],
            &["--ingress"],
        ),
        "list" => (&["--limit", "--offset", "--status"], &["--all", "-a", "--quiet", "-q", "--wide"]),
        "get" | "pause" | "resume" | "pull" | "process list" | "process get" | "process signal"
        | "shapes" => (&[], &[]),
        "fork" => (&["--count", "--ssh-key", "--egress"], &["--paused"]),
        "rm" => (&[], &["--yes", "-y", "--force"]),
        "exec" if generation == Generation::Branch => (&["--env", "--stdin"], &["--stream", "-s"]),
        "exec" => (&["--env"], &["--stream", "-s"]),
        "push" => (&[], &["--stats"]),
        "process start" => (START, &["--pty", "--tty", "-t", "--follow"]),
        "process stop" => (&["--grace"], &["--force", "-f", "--yes", "-y"]),
        "process resize" => (&["--rows", "--cols"], &[]),
        "process attach" => (&["--after"], &["--no-follow", "--stdin", "--raw"]),
        "tunnel" => (&["--remote", "--local", "--bind"], &[]),
        "sync" => (
            &["--local", "--remote", "--mode", "--exclude", "--identity", "-i", "--user"],
            &["--yes", "-y", "--quiet", "-q", "--no-ignore-vcs", "--force"],
        ),
        _ if verb.starts_with("setup ") => (
            &["--local", "--agent", "--shape", "--rootfs", "--auto-pause", "--remote-root"],
            &["--doctor", "--no-keys", "--force"],
        ),
        _ => return None,
    })
}

/// The program's own flags, and whether they have a value.
fn global(word: &str) -> Option<bool> {
    match word.split('=').next().unwrap_or_default() {
        "-o" | "--output" | "--api-key" | "--api-url" | "--sandbox-api-url" | "--sandbox-gateway" => {
            Some(!word.contains('='))
        }
        "-d" | "--debug" => Some(false),
        _ => None,
    }
}

/// The corrected command line of a usage error: the flag, with its value, to the front.
fn misplaced(flag: &str, all: &[String]) -> String {
    let (mut moved, mut rest) = (Vec::new(), Vec::new());
    let mut words = all.iter().peekable();
    while let Some(word) = words.next() {
        if word != flag {
            rest.push(word.as_str());
            continue;
        }
        moved.push(word.as_str());
        if global(word) == Some(true) {
            moved.extend(words.next_if(|next| !next.starts_with('-')).map(String::as_str));
        }
    }
    let name = flag.split('=').next().unwrap_or_default();
    let shown = format!("-{}", name.trim_start_matches('-'));
    format!(
        "flag provided but not defined: {shown}\n\n  {shown} is a global flag, so it has to come BEFORE the \
         command:\n    createos {} {}",
        moved.join(" "),
        rest.join(" ")
    )
}

impl Argv {
    /// Reads a command line up to its verb.
    pub(crate) fn parse(words: &[String], control: &Control) -> Parse {
        let all = words.to_vec();
        let generation = control.generation;
        let mut words = words.iter();
        let mut json = std::env::var("CREATEOS_OUTPUT").is_ok_and(|format| format == "json");
        let mut next = words.next();
        while let Some(with_value) = next.and_then(|word| global(word)) {
            let word = next.map(String::as_str).unwrap_or_default();
            let value = if with_value {
                words.next().map(String::as_str)
            } else {
                word.split_once('=').map(|pair| pair.1)
            };
            if word.starts_with("-o") || word.starts_with("--output") {
                json = value == Some("json");
            }
            next = words.next();
        }
        match next.map(String::as_str) {
            Some("sandbox" | "sb") => {}
            None => return Parse::Help(help::banner()),
            Some(_) => return Parse::Unknown,
        }
        let Some(verb) = words.next() else { return Parse::Help(help::group(generation)) };
        if generation == Generation::Main && global(verb).is_some() {
            return Parse::Refused(misplaced(verb, &all));
        }
        if help::is_word(verb) {
            return Parse::Help(help::group(generation));
        }
        let mut verb = verb.clone();
        if matches!(verb.as_str(), "process" | "setup") {
            match words.next() {
                Some(word) if !help::is_word(word) => verb = format!("{verb} {word}"),
                // The bare group of hosts needs a sign-in, except with a help word (docs/measured/createos-cli.md 3.1).
                None if verb == "setup" && control.signed_out => {
                    return Parse::Refused(crate::errors::SIGNED_OUT.into());
                }
                _ if verb == "setup" => return Parse::Help(help::hosts()),
                _ => return Parse::Help(help::verb("process", generation)),
            }
        }
        if known(&verb, generation).is_none() {
            return Parse::Unknown;
        }
        let mut rest: Vec<String> = words.cloned().collect();
        if generation == Generation::Branch {
            // docs/measured/createos-cli.md 1: up to a bare `--` these are the program's own, wherever they stand.
            json = take_globals(&mut rest).unwrap_or(json);
        }
        let (rest, command) = match rest.iter().position(|word| word == "--") {
            Some(at) => (rest[..at].to_vec(), rest[at + 1..].to_vec()),
            None => (rest, Vec::new()),
        };
        Parse::Call(Self { json, verb, rest, command, all })
    }

    /// Reads the flags; from the first positional on everything is a positional. `Err(None)`: an unknown flag;
    /// `Err` with words: one of the program's own, which counts only before the verb.
    pub(crate) fn flags(&self, control: &Control) -> Result<Parsed, Option<String>> {
        let (with_value, alone) = known(&self.verb, control.generation).ok_or(None)?;
        let mut parsed = Parsed { flags: Vec::new(), positional: Vec::new() };
        let mut words = self.rest.iter();
        while let Some(word) = words.next() {
            if !parsed.positional.is_empty() || !word.starts_with('-') || word == "-" || help::is_word(word) {
                parsed.positional.push(word.clone());
            } else if with_value.contains(&word.as_str()) {
                parsed.flags.push((word.clone(), Some(words.next().ok_or(None)?.clone())));
            } else if alone.contains(&word.as_str()) {
                parsed.flags.push((word.clone(), None));
            } else {
                return Err(global(word).map(|_| misplaced(word, &self.all)));
            }
        }
        Ok(parsed)
    }
}

/// Takes the program's own flags out, up to a bare `--`; whether one of them chose JSON.
fn take_globals(rest: &mut Vec<String>) -> Option<bool> {
    let mut json = None;
    let mut at = 0;
    while at < rest.len() && rest[at] != "--" {
        let Some(with_value) = global(&rest[at]) else {
            at += 1;
            continue;
        };
        let word = rest.remove(at);
        let value = (with_value && at < rest.len()).then(|| rest.remove(at));
        if word.starts_with("-o") || word.starts_with("--output") {
            json = Some(value.as_deref().or_else(|| word.split_once('=').map(|pair| pair.1)) == Some("json"));
        }
    }
    json
}
