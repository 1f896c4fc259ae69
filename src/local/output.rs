//! JSON or text: one document on stdout in JSON mode, whatever happens.

use super::failure::Failure;
use crate::error::Error;
use crate::exit::Exit;
use crate::ui;
use serde_json::Value;
use std::ffi::OsString;
use std::io::IsTerminal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// One JSON document on stdout.
    Json,
    /// Words for people.
    Text,
}

impl OutputMode {
    /// `-o json`, or no terminal to read it on; `-o table` is text everywhere (docs/measured/createos-cli.md 3.15).
    pub(super) fn from_flag(output: Option<&str>) -> Self {
        match output {
            Some("json") => Self::Json,
            Some(_) => Self::Text,
            None if std::io::stdout().is_terminal() => Self::Text,
            None => Self::Json,
        }
    }

    /// Shows a result: the document, or the words.
    pub(super) fn show(self, document: &Value, words: impl FnOnce() -> String) {
        match self {
            Self::Json => print(document),
            Self::Text => ui::line(words()),
        }
    }

    /// Shows an error; gives the exit code.
    pub(super) fn fail(self, failure: &Failure) -> Exit {
        match self {
            Self::Json => print(&failure.envelope()),
            Self::Text => ui::report(failure.error()),
        }
        failure.error().exit()
    }
}

/// Two spaces of indentation and a final newline (docs/measured/createos-cli.md 3.15). What a terminal could take as
/// an order is escaped: the document means the same.
pub(super) fn print(document: &Value) {
    ui::line(escaped(&format!("{document:#}")));
}

/// JSON with every character escaped that is no letter to a terminal. The writer has done so below U+0020;
/// the others stand only inside of strings.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\u{7f}' || ui::is_hostile(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// Shows a command line of `local …` that cannot be read, as JSON where that is expected; exit code 2.
pub(crate) fn wrong_use(error: &clap::Error, args: &[OsString]) -> Exit {
    let before: Vec<&str> =
        args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str()).collect();
    let said = before.iter().enumerate().find_map(|(at, arg)| match *arg {
        "-o" | "--output" => before.get(at + 1).copied(),
        arg => ["-o=", "--output=", "-o"].iter().find_map(|start| arg.strip_prefix(start)),
    });
    let is_text = ["exec", "rm", "delete", "destroy"].iter().any(|verb| before.contains(verb));
    let mode = if is_text { OutputMode::Text } else { OutputMode::from_flag(said) };
    if mode == OutputMode::Text || !error.use_stderr() {
        let _closed_pipe = error.print();
        return Exit::of_program(error.exit_code());
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim();
    mode.fail(&Error::usage(text).into())
}

/// Rows of words, each column as wide as its widest cell.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| lines.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A view as aligned lines.
pub(crate) fn facts(view: &Value) -> String {
    let members: Vec<(String, String)> = view
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // A line feed would begin a line that poses as another fact.
            (key.clone(), ui::visible(&text).replace('\n', "\\x0a"))
        })
        .collect();
    let width = members.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    members.iter().map(|(key, value)| format!("{key:width$}  {value}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_orders_nothing_and_means_the_same() {
        let document = serde_json::json!({ "stdout": "ä\u{9b}2J\u{202e}\u{7f}\u{e0041}\u{1b}" });
        let text = escaped(&document.to_string());
        assert_eq!(text, r#"{"stdout":"ä\u009b2J\u202e\u007f\udb40\udc41\u001b"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }
}
