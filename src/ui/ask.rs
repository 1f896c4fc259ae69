//! One question, on a terminal only.

use super::terminal::Raw;
use crate::error::{Error, Kind, Result};
use dialoguer::console::{Key, Term};
use signal_hook::consts::SIGINT;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// False while a question waits: Ctrl-C ends the question then, and not the process.
static NOTHING_IS_ASKED: AtomicBool = AtomicBool::new(true);

/// Whether a person sits at both ends: what we print is read, and an answer can be typed.
pub(crate) fn is_on_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether a question waits, which Ctrl-C is for then; or was ended by it, and this process is about to end.
pub(crate) fn is_asking() -> bool {
    !NOTHING_IS_ASKED.load(Ordering::SeqCst)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Yes,
    No,
    /// One of the letters that were offered beside yes and no.
    Other(char),
}

/// Asks a yes-or-no question; Enter alone is `default`.
///
/// # Errors
/// The terminal cannot be read, or the person pressed Ctrl-C.
pub(crate) fn confirm(question: &str, default: bool) -> Result<bool> {
    Ok(choose(question, default, &[])? == Said::Yes)
}

/// Asks a question that has these letters as answers, too.
///
/// # Errors
/// The terminal cannot be read, or the person pressed Ctrl-C.
pub(crate) fn choose(question: &str, default: bool, others: &[char]) -> Result<Said> {
    asking(|| ask(question, default, others))
}

fn asking<T>(ask: impl FnOnce() -> io::Result<T>) -> Result<T> {
    // Before the question is seen: from then on Ctrl-C is a key, and no signal that comes before the key is waited for.
    let raw = Raw::for_keys();
    let asking = Asking::begin()?;
    let said = ask();
    drop(raw);
    said.map_err(|source| {
        // The question hides the cursor, and only an answer shows it again.
        let _gone = super::raw_note(b"\x1b[?25h\n");
        if source.kind() == io::ErrorKind::Interrupted {
            // The signal may still be on its way to the handlers that would end us by it.
            std::mem::forget(asking);
            return Error::new(
                Kind::Interrupted,
                "stopped at the question; what it asked about was not done",
            );
        }
        Error::cannot_run(format!("the question cannot be asked: {source}")).help("answer it with --yes")
    })
}

/// Asks for one of these letters, which has no default; `None` when it is left with Escape, Enter, `n` or `q`.
///
/// # Errors
/// The terminal cannot be read, or the person pressed Ctrl-C.
pub(crate) fn pick(question: &str, letters: &[char]) -> Result<Option<char>> {
    asking(|| {
        let term = Term::stderr();
        if !term.is_term() {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "not a terminal"));
        }
        let offered: Vec<_> = letters.iter().map(char::to_string).collect();
        term.write_str(&format!("{question} [{}] ", offered.join("/")))?;
        let picked = loop {
            match term.read_key()? {
                Key::Char(letter) if letters.contains(&letter) => break Some(letter),
                Key::Char('n' | 'q') | Key::Escape | Key::Enter => break None,
                _ => {}
            }
        };
        term.write_line(&picked.map(String::from).unwrap_or_default())?;
        Ok(picked)
    })
}

/// `y`, `n` and the others answer at once. Another letter begins a word, which ends with Enter.
fn ask(question: &str, default: bool, others: &[char]) -> io::Result<Said> {
    let term = Term::stderr();
    if !term.is_term() {
        return Err(io::Error::new(io::ErrorKind::NotConnected, "not a terminal"));
    }
    let mut answer = Answer { word: String::new(), default, others };
    let more: String = others.iter().map(|letter| format!("/{letter}")).collect();
    term.write_str(&format!("{question} [{}{more}] ", if default { "Y/n" } else { "y/N" }))?;
    term.hide_cursor()?;
    let said = loop {
        if let Some(said) = answer.take(&term.read_key()?) {
            break said;
        }
    };
    term.clear_line()?;
    let shown = match said {
        Said::Yes => "yes".to_owned(),
        Said::No => "no".to_owned(),
        Said::Other(letter) => letter.to_string(),
    };
    term.write_line(&format!("{question} {shown}"))?;
    term.show_cursor()?;
    Ok(said)
}

/// What was typed so far.
struct Answer<'a> {
    word: String,
    default: bool,
    others: &'a [char],
}

impl Answer<'_> {
    /// Takes a key; `Some` when that is the answer. Only Enter alone is the default: `quit`, `stop` and
    /// everything else that is not a yes is a no.
    fn take(&mut self, key: &Key) -> Option<Said> {
        match key {
            Key::Char('y' | 'Y') if self.word.is_empty() => return Some(Said::Yes),
            Key::Char('n' | 'N') if self.word.is_empty() => return Some(Said::No),
            Key::Char(letter) if self.word.is_empty() && self.others.contains(letter) => {
                return Some(Said::Other(*letter));
            }
            Key::Escape => return Some(Said::No),
            Key::Enter if self.word.is_empty() && self.default => return Some(Said::Yes),
            Key::Enter => return Some(Said::No),
            Key::Char(letter) if !letter.is_whitespace() => self.word.push(*letter),
            Key::Backspace => drop(self.word.pop()),
            _ => {}
        }
        None
    }
}

/// Lives as long as a question waits.
struct Asking;

impl Asking {
    fn begin() -> Result<Self> {
        static REGISTERED: OnceLock<io::Result<()>> = OnceLock::new();
        let registered = REGISTERED.get_or_init(|| {
            signal_hook::flag::register_conditional_default(SIGINT, &NOTHING_IS_ASKED).map(|_| ())
        });
        if let Err(source) = registered {
            return Err(Error::cannot_run(format!("could not listen for Ctrl-C: {source}")));
        }
        NOTHING_IS_ASKED.store(false, Ordering::SeqCst);
        Ok(Self)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        NOTHING_IS_ASKED.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes_and_only_enter_alone_the_default() {
        for (typed, default, expected) in [
            ("y", false, Some(true)),
            ("Y", false, Some(true)),
            ("n", true, Some(false)),
            ("\n", true, Some(true)),
            ("\n", false, Some(false)),
            ("quit\n", true, Some(false)),
            ("abort\n", true, Some(false)),
            ("stop\n", true, Some(false)),
            ("any\n", true, Some(false)),
            ("oyes", true, None),
            ("q", true, None),
            ("q\u{8}\n", true, Some(true)),
            ("\u{1b}", true, Some(false)),
        ] {
            let mut answer = Answer { word: String::new(), default, others: &['k'] };
            let key = |c| match c {
                '\n' => Key::Enter,
                '\u{8}' => Key::Backspace,
                '\u{1b}' => Key::Escape,
                c => Key::Char(c),
            };
            let said = typed.chars().find_map(|c| answer.take(&key(c)));
            let expected = expected.map(|yes| if yes { Said::Yes } else { Said::No });
            assert_eq!(said, expected, "{typed:?}");
        }
    }
}
