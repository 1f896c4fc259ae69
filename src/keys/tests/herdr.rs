//! The same files and chords against a real Herdr: only where `HERDR_BIN_PATH` names one.

use super::files::{real, synthetic};
use super::*;
use crate::keys::chord::tests::{BAD, GOOD};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// A real Herdr with a home of its own.
struct Herdr {
    program: PathBuf,
    home: tempfile::TempDir,
}

impl Herdr {
    fn if_there() -> Option<Self> {
        let program = std::env::var_os("HERDR_BIN_PATH").filter(|path| !path.is_empty())?;
        let home = tempfile::Builder::new().prefix("cs-").tempdir().expect("a home");
        Some(Self { program: program.into(), home })
    }

    /// The diagnostics of `config check`; none for a good file.
    fn check(&self, text: &[u8]) -> Vec<String> {
        let file = self.home.path().join("config.toml");
        std::fs::write(&file, text).expect("a file");
        let output = Command::new(&self.program)
            .args(["config", "check"])
            .env_clear()
            .env("HOME", self.home.path())
            .env("HERDR_CONFIG_PATH", &file)
            .output()
            .expect("Herdr runs");
        let stdout = String::from_utf8(output.stdout).expect("text");
        let mut lines = stdout.lines();
        let first = lines.next().unwrap_or_default();
        assert!(first.starts_with("config: "), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
        lines.map(Into::into).collect()
    }
}

fn drops_everything(diagnostics: &[String]) -> bool {
    diagnostics.iter().any(|line| line.contains("using defaults"))
}

#[test]
fn herdr_has_nothing_new_to_say_about_any_result() {
    let Some(herdr) = Herdr::if_there() else { return };
    for (name, original) in synthetic().into_iter().chain(real().unwrap_or_default()) {
        let before = herdr.check(&original);
        match merge(&original, &six()) {
            Ok(merged) => assert_eq!(herdr.check(&merged.text), before, "{name}"),
            Err(error) => assert!(drops_everything(&before), "{name}: {error}, but Herdr says {before:?}"),
        }
    }
}

#[test]
fn herdr_reads_chords_as_we_do() {
    let Some(herdr) = Herdr::if_there() else { return };
    for (written, normal) in GOOD {
        // A second binding of the same chord makes Herdr print its normal form.
        let text = format!(
            "[[keys.command]]\nkey = '{written}'\ncommand = 'a'\n[[keys.command]]\nkey = '{normal}'\ncommand = 'b'\n"
        );
        let expected = format!("{normal}: kept keys.command[0].key, disabled keys.command[1].key");
        assert_eq!(herdr.check(text.as_bytes()), [expected], "{written}");
    }
    for (written, error) in BAD {
        let said = herdr.check(format!("[[keys.command]]\nkey = '{written}'\ncommand = 'a'\n").as_bytes());
        let word = match error {
            ChordError::Typing => "unsafe direct keybinding",
            ChordError::Range => "range keybinding",
            _ => "invalid keybinding",
        };
        assert!(said.len() == 1 && said[0].starts_with(word), "{written}: {said:?}");
    }
}

#[test]
fn herdr_gives_chords_to_whom_we_say() {
    let Some(herdr) = Herdr::if_there() else { return };
    // Every default once more, written out by the user: all of them keep their chord, one after the other.
    for builtin in builtins::builtins() {
        let Some(chord) = builtin.defaults.first() else { continue };
        let mut text = format!("[keys]\n{} = '{chord}'\n", builtin.field);
        write!(text, "[[keys.command]]\nkey = '{chord}'\ncommand = 'a'\n").unwrap();
        let expected = format!("{chord}: kept keys.{}, disabled keys.command[0].key", builtin.field);
        assert_eq!(herdr.check(text.as_bytes()), [expected]);
    }
}
