//! A command that a person is asked to type: the one way to put it into words, so that what we print works as it
//! is printed. No sentence spells a command itself.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// This program's name on PATH.
const OWN: &str = "createos-sandbox";

/// The verbs that stand at the top level too, for any terminal.
const ANYWHERE: [&str; 10] =
    ["start", "attach", "apply", "review", "undo", "boxes", "info", "pause", "resume", "delete"];

/// Whether this process was called by one of them: what it prints to be typed is called like that, too.
static PLAIN: AtomicBool = AtomicBool::new(false);

/// From now on commands are shown as they are typed in any terminal.
pub(crate) fn speak_plainly() {
    PLAIN.store(true, Ordering::Relaxed);
}

/// Whether commands are shown as they are typed in any terminal.
pub(crate) fn is_plain() -> bool {
    PLAIN.load(Ordering::Relaxed)
}

/// A program with its words, quoted for a POSIX shell when it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub(crate) struct Command {
    /// Variables that stand before it, quoted already.
    variables: Vec<String>,
    program: String,
    /// Words that belong together, such as a flag and its value.
    parts: Vec<Vec<String>>,
}

/// `createos-sandbox setup herdr`; what a command line of setup asked for is repeated by
/// [`Request::again`](crate::setup).
pub(crate) fn setup() -> Command {
    own(["setup", "herdr"])
}

/// `createos-sandbox herdr VERB`, or without `herdr` in a process that was called so.
pub(crate) fn action(verb: &str) -> Command {
    if is_plain() && ANYWHERE.contains(&verb) { own([verb]) } else { own(["herdr", verb]) }
}

/// `createos-sandbox …`
pub(crate) fn own<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    program(OWN, words)
}

/// `createos …`, the official program.
pub(crate) fn createos<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    program("createos", words)
}

/// `herdr …`
pub(crate) fn herdr<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    program("herdr", words)
}

pub(crate) fn program<'a>(name: impl Into<String>, words: impl IntoIterator<Item = &'a str>) -> Command {
    let parts = words.into_iter().map(|word| vec![word.to_owned()]).collect();
    Command { variables: Vec::new(), program: name.into(), parts }
}

impl Command {
    pub(crate) fn word(mut self, word: impl Into<String>) -> Self {
        self.parts.push(vec![word.into()]);
        self
    }

    /// One more word that is a path; `lossy` where it is not UTF-8, since it has to be printed.
    pub(crate) fn path(self, path: &Path) -> Self {
        self.word(path.to_string_lossy())
    }

    /// The box that it is for.
    pub(crate) fn on(self, name: impl fmt::Display) -> Self {
        self.word(name.to_string())
    }

    /// A flag, once.
    pub(crate) fn flag(mut self, flag: &str) -> Self {
        if !self.parts.iter().any(|part| part[0] == flag) {
            self.parts.push(vec![flag.into()]);
        }
        self
    }

    /// A flag with its value, beside others of the same flag.
    pub(crate) fn with(mut self, flag: &str, value: impl Into<String>) -> Self {
        self.parts.push(vec![flag.into(), value.into()]);
        self
    }

    /// A flag with its value, in place of the same flag's.
    pub(crate) fn only(self, flag: &str, value: impl Into<String>) -> Self {
        self.without(flag).with(flag, value)
    }

    /// Without this flag and its values.
    pub(crate) fn without(mut self, flag: &str) -> Self {
        self.parts.retain(|part| part[0] != flag);
        self
    }

    /// With a variable set for it.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push(format!("{name}={}", quoted(value)));
        self
    }

    /// The flags that it has with this name, with their values.
    pub(crate) fn values(&self, flag: &str) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .filter(move |part| part[0] == flag)
            .filter_map(|part| part.get(1).map(String::as_str))
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for variable in &self.variables {
            write!(f, "{variable} ")?;
        }
        f.write_str(&quoted(&self.program))?;
        for word in self.parts.iter().flatten() {
            write!(f, " {}", quoted(word))?;
        }
        Ok(())
    }
}

impl From<Command> for String {
    fn from(command: Command) -> Self {
        command.to_string()
    }
}

/// A word as a POSIX shell reads it back: bare when nothing in it means anything to a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%,:=".contains(&byte);
    // zsh looks for a program behind a leading `=`.
    if !word.is_empty() && !word.starts_with('=') && word.bytes().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process;

    #[test]
    fn a_command_repeats_what_was_asked_and_says_each_flag_once() {
        let asked = setup().with("--provider", "local").with("--egress", "a.com").with("--egress", "*.b.com");
        let fix = asked.clone().flag("--force").flag("--force").only("--shape", "s-1vcpu-1gb");
        assert_eq!(
            fix.to_string(),
            "createos-sandbox setup herdr --provider local --egress a.com --egress '*.b.com' --force --shape s-1vcpu-1gb"
        );
        assert_eq!(
            asked.only("--egress", "none").to_string(),
            "createos-sandbox setup herdr --provider local --egress none"
        );
        assert_eq!(action("undo").on("hd-web-1").to_string(), "createos-sandbox herdr undo hd-web-1");
    }

    #[test]
    fn every_shell_reads_back_the_words_that_were_meant() {
        let odd = [
            "plain",
            "",
            "a b",
            "it's",
            "$HOME",
            "`id`",
            "a;b",
            "*.com",
            "[::1]",
            "~",
            "~/x",
            "#",
            "!!",
            "=ls",
            "a\nb",
            "\\",
            "\"",
            "ü",
            "--flag=x y",
            "{a,b}",
            "&&",
            "-",
            "prefix+alt+x",
        ];
        let shown = program("printf", ["%s\\0"]);
        let shown = odd.iter().fold(shown, |command, word| command.word(*word));
        let shown = shown.variable("X", "it's $HOME").to_string();
        let shells: Vec<_> =
            ["sh", "bash", "dash", "zsh"].into_iter().filter_map(|s| which::which(s).ok()).collect();
        assert!(!shells.is_empty());
        for shell in shells {
            let said = process::Command::new(&shell).arg("-c").arg(&shown).output().unwrap();
            let expected: String = odd.iter().map(|word| format!("{word}\0")).collect();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), expected, "{}: {shown}", shell.display());
        }
    }

    /// Where a sentence spells a command, nothing quotes it, repeats the flags or names the box.
    #[test]
    fn no_sentence_spells_a_command_of_ours() {
        fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let is_test =
                    path.ends_with("tests") || path.ends_with("tests.rs") || path.ends_with("command.rs");
                match path.is_dir() {
                    _ if is_test => {}
                    true => sources(&path, found),
                    false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
                    false => {}
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        sources(&root, &mut files);
        assert!(files.len() > 200);
        let mut spelled = Vec::new();
        for file in files.iter().filter(|file| !file.starts_with(root.join("cli"))) {
            let text = std::fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            let spells = |line: &str| {
                ["setup", "herdr", "shim", "local"]
                    .iter()
                    .any(|area| line.contains(&format!("{OWN} {area} ")))
            };
            let found = lines.filter(|(_, line)| spells(line));
            spelled.extend(found.map(|(at, _)| format!("{}:{}", file.display(), at + 1)));
        }
        assert!(spelled.is_empty(), "use `command::…`: {spelled:#?}");
    }
}
