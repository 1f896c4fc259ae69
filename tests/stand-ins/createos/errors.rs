//! How failures are told (docs/measured/createos-cli.md 3.11): the main line prints text on stdout, whatever `-o`
//! says; the branch an envelope there, or text on stderr.

use crate::control::{Control, Generation};
use crate::{Call, print, tell};
use serde_json::json;
use std::io::IsTerminal;

/// Nobody is signed in.
pub(crate) const SIGNED_OUT: &str = "you're not signed in — run 'createos login' to get started";
/// What older printers say in place of every error that is not the service's.
const GENERIC: &str = "something went wrong, please try again";

/// A printer's lines: a badge before the first, blanks before the others.
pub(crate) fn badge(control: &Control, word: &str, message: &str) -> String {
    let styled = std::env::var_os("NO_COLOR").is_none();
    if control.generation == Generation::Branch && !(styled && std::io::stdout().is_terminal()) {
        return format!("{word}: {message}\n");
    }
    let blank = " ".repeat(word.len() + 2);
    let mut text = String::new();
    for (number, line) in message.lines().enumerate() {
        let lead = if number == 0 { format!(" {word} ") } else { blank.clone() };
        text += &match styled {
            true => format!("\u{1b}[30;101m{lead}\u{1b}[0m \u{1b}[91m{line}\u{1b}[0m\n"),
            false => format!("{lead} {line}\n"),
        };
    }
    text
}

/// The advice for what the service refused. The same for 401 and 403.
fn hint(code: &str) -> Option<&'static str> {
    match code {
        "bad_request" => Some("check the values that you passed; --help lists what is possible"),
        "unauthorized" | "forbidden" => Some("run 'createos login' to sign in again"),
        "not_found" => Some("check the ID or the name: createos sandbox list"),
        _ => None,
    }
}

/// A usage error: the words, and the help, on stdout (docs/measured/createos-cli.md 3.11).
pub(crate) fn refuse_usage(control: &Control, message: &str) -> u8 {
    if message != SIGNED_OUT {
        print(&format!(
            "Incorrect Usage: {}\n\nOPTIONS:\n   --help, -h\n",
            message.lines().next().unwrap_or_default()
        ));
    }
    print(&badge(control, "ERROR", message));
    1
}

impl Call<'_> {
    /// Tells of a failure as this generation does. The code is the service's; `error` is a failure of the program
    /// itself.
    pub(crate) fn fail(&self, code: &str, message: &str) -> u8 {
        let usual = if self.is_main() { "stdout" } else { "envelope" };
        let form = self.control.errors.as_deref().unwrap_or(usual);
        let advice = hint(code).map(|hint| format!("  Hint: {hint}\n")).unwrap_or_default();
        match form {
            "envelope" if self.argv.json || !std::io::stdout().is_terminal() => {
                let mut body = json!({ "code": code, "message": message });
                if let Some(hint) = hint(code) {
                    body["hint"] = json!(hint);
                }
                print(&format!("{:#}\n", json!({ "error": body })));
            }
            "generic" if code == "error" => print(&badge(self.control, "ERROR", GENERIC)),
            "stdout" | "generic" => print(&(badge(self.control, "ERROR", message) + &advice)),
            "envelope" | "stderr" => tell(&(badge(self.control, "ERROR", message) + &advice)),
            other => panic!("no way to tell errors is called {other}"),
        }
        1
    }
}
