//! The argv rules: globals right after the program, then flags, and what comes after the first positional
//! is no flag any more (contract 2.1).

/// A call, split where the official parser splits it.
pub(crate) struct Argv {
    /// `-o json` stood before the verb.
    pub(crate) json: bool,
    /// `create`, `process start`, …
    pub(crate) verb: String,
    rest: Vec<String>,
    /// What stands behind `--`.
    pub(crate) command: Vec<String>,
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
fn known(verb: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    const START: &[&str] = &["--cwd", "--env", "--rows", "--cols", "--after"];
    Some(match verb {
        "create" => (
            &["--name", "--shape", "--rootfs", "--egress", "--env", "--network", "--auto-pause", "--disk"],
            &["--ingress"],
        ),
        "list" => (&["--limit", "--offset", "--status"], &["--all", "-a", "--quiet", "-q", "--wide"]),
        "get" | "pause" | "resume" | "pull" | "process list" | "process get" => (&[], &[]),
        "rm" => (&[], &["--yes", "-y", "--force"]),
        "exec" => (&["--env", "--stdin"], &["--stream", "-s"]),
        "push" => (&[], &["--stats"]),
        "process start" => (START, &["--pty", "--tty", "-t", "--follow"]),
        "process attach" => (&["--after"], &["--no-follow", "--stdin", "--raw"]),
        "sync" => (
            &["--local", "--remote", "--mode", "--exclude", "--identity", "-i", "--user"],
            &["--yes", "-y", "--quiet", "-q", "--no-ignore-vcs", "--force"],
        ),
        _ => return None,
    })
}

impl Argv {
    /// `None` for what the contract does not have.
    pub(crate) fn parse(words: &[String]) -> Option<Self> {
        let mut words = words.iter().peekable();
        let mut json = false;
        while let Some(word) = words.peek() {
            match word.as_str() {
                "-o" => {
                    words.next();
                    json = words.next()? == "json";
                }
                "sandbox" | "sb" => break,
                _ => return None,
            }
        }
        words.next()?;
        let mut verb = words.next()?.clone();
        if verb == "process" {
            verb = format!("process {}", words.next()?);
        }
        known(&verb)?;
        let mut rest: Vec<String> = words.cloned().collect();
        // Q16: up to a bare `--` these are the program's own, wherever they stand.
        let end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
        if let Some(at) = rest[..end].iter().position(|word| word == "-o") {
            json = rest.get(at + 1)? == "json";
            rest.drain(at..at + 2);
        }
        let end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
        if let Some(at) = rest[..end].iter().position(|word| word == "-d") {
            rest.remove(at);
        }
        let (rest, command) = match rest.iter().position(|word| word == "--") {
            Some(at) => (rest[..at].to_vec(), rest[at + 1..].to_vec()),
            None => (rest, Vec::new()),
        };
        Some(Self { json, verb, rest, command })
    }

    /// Reads the flags; from the first positional on everything is a positional. `None`: an unknown flag.
    pub(crate) fn flags(&self) -> Option<Parsed> {
        let (with_value, alone) = known(&self.verb)?;
        let mut parsed = Parsed { flags: Vec::new(), positional: Vec::new() };
        let mut words = self.rest.iter();
        while let Some(word) = words.next() {
            if !parsed.positional.is_empty() || !word.starts_with('-') || word == "-" {
                parsed.positional.push(word.clone());
            } else if with_value.contains(&word.as_str()) {
                parsed.flags.push((word.clone(), Some(words.next()?.clone())));
            } else if alone.contains(&word.as_str()) {
                parsed.flags.push((word.clone(), None));
            } else {
                return None;
            }
        }
        // Late flags are dropped without a word (Q2).
        let most = if self.verb == "push" || self.verb == "pull" { 3 } else { 2 };
        parsed.positional.truncate(most);
        Some(parsed)
    }
}
