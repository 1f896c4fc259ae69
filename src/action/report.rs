//! What an action tells: its one result line for programs, its words for people.

use crate::command;
use crate::error::{Error, Kind};
use crate::herdr::PaneId;
use serde_json::{Map, Value};

/// The line's beginning; the last such line in the log is the result.
const MARK: &str = "CREATEOS_HERDR_RESULT: ";
/// Herdr's log keeps the first 64 KiB of stdout (docs/measured/herdr.md 4.6).
const LONGEST: usize = 60 * 1024;

/// How a person who pressed a key hears of it. Nobody sees an action's stdout then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The screen shows it already.
    Nothing,
    /// A toast or a title, and nothing where neither is seen: the person's own act.
    Glance,
    /// A short line: a toast, else the pane's title, else a popup where no pane shows titles.
    Toast,
    /// Text to read, a fault, or a question's first half.
    Popup,
}

/// An action's outcome, with the members of its result line.
#[derive(Debug, Clone)]
#[must_use]
pub(crate) struct Report {
    pub(crate) refused: Option<Error>,
    fields: Map<String, Value>,
    pub(crate) text: String,
    pub(crate) notice: Notice,
    pub(crate) pane: Option<PaneId>,
}

impl Report {
    /// `text` is for people: one line, or a small table.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { refused: None, fields: Map::new(), text: text.into(), notice: Notice::Toast, pane: None }
    }

    /// A refusal that still has members for the result line, as a conflict's files.
    pub(crate) fn refused(error: Error) -> Self {
        Self { refused: Some(error), notice: Notice::Popup, ..Self::new("") }
    }

    /// A refusal gets something to do next, whatever it is.
    pub(crate) fn with_fix(mut self) -> Self {
        self.refused = self.refused.map(|error| match error.kind() {
            Kind::Interrupted => error.help("run it again to be asked again"),
            _ if error.hints().is_empty() => {
                error.help(format!("try again; check the setup with: {}", command::setup().flag("--doctor")))
            }
            _ => error,
        });
        self
    }

    /// A member of the result line; one that has nothing to say is left out.
    pub(crate) fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() && value.as_str() != Some("") {
            self.fields.insert(name.into(), value);
        }
        self
    }

    /// What became of the box of this name, the first members of most result lines.
    pub(crate) fn about(self, result: &str, name: &str) -> Self {
        self.field("result", result).field("box", name)
    }

    /// How it is told after a key press.
    pub(crate) fn notice(mut self, notice: Notice) -> Self {
        self.notice = notice;
        self
    }

    /// The pane on which a title may show it.
    pub(crate) fn on(mut self, pane: Option<&PaneId>) -> Self {
        self.pane = pane.cloned();
        self
    }

    /// Its result line.
    pub(crate) fn line(&self, action: &str) -> String {
        let mut members = Map::new();
        members.insert("schemaVersion".into(), 1.into());
        members.insert("action".into(), action.into());
        members.insert("ok".into(), self.refused.is_none().into());
        members.extend(self.fields.clone());
        if let Some(error) = &self.refused {
            members.insert("error".into(), full_message(error).into());
            members.insert("fix".into(), fix(error).into());
        }
        let text = Value::Object(members.clone()).to_string();
        if text.len() <= LONGEST {
            return format!("{MARK}{text}");
        }
        // What is cut is said to be, and the line stays one JSON object.
        members.insert("truncated".into(), true.into());
        let (mut members, mut most) = (Value::Object(members), 2_000);
        loop {
            cut(&mut members, most);
            let text = members.to_string();
            if text.len() <= LONGEST || most == 0 {
                return format!("{MARK}{text}");
            }
            most /= 2;
        }
    }
}

/// What to do next, in one line. A hint that announces the next one goes on with it.
fn fix(error: &Error) -> String {
    error.hints().iter().fold(String::new(), |text, hint| match text.as_bytes() {
        [] => hint.clone(),
        [.., b':'] => format!("{text} {hint}"),
        _ => format!("{text}; {hint}"),
    })
}

/// Cuts every text to so many characters, and every list to so many items.
fn cut(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(most) {
                text.truncate(end);
            }
        }
        Value::Array(items) => {
            items.truncate(most);
            items.iter_mut().for_each(|item| cut(item, most));
        }
        Value::Object(members) => members.values_mut().for_each(|member| cut(member, most)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The message with its facts, in one line.
pub(crate) fn full_message(error: &Error) -> String {
    let facts: Vec<_> = error.facts().iter().map(|(label, value)| format!("{label}: {value}")).collect();
    if facts.is_empty() {
        return error.message().to_owned();
    }
    format!("{} ({})", error.message(), facts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_members_in_their_order() {
        let report = Report::new("x").field("result", "applied").field("bytes", 237);
        assert_eq!(
            report.line("apply"),
            r#"CREATEOS_HERDR_RESULT: {"schemaVersion":1,"action":"apply","ok":true,"result":"applied","bytes":237}"#
        );
        let error = Error::failed("no").fact("box", "b").help("do");
        assert_eq!(
            Report::refused(error).line("start"),
            r#"CREATEOS_HERDR_RESULT: {"schemaVersion":1,"action":"start","ok":false,"error":"no (box: b)","fix":"do"}"#
        );
    }

    #[test]
    fn a_member_without_a_word_is_left_out_and_a_fix_reads_as_a_sentence() {
        let report = Report::new("x").field("boxId", "").field("pane", None::<String>).field("files", 0);
        assert_eq!(
            report.line("start"),
            r#"CREATEOS_HERDR_RESULT: {"schemaVersion":1,"action":"start","ok":true,"files":0}"#
        );
        let error = Error::failed("no").help("press the key, or name the box:").help("a one").help("a two");
        assert_eq!(fix(&error), "press the key, or name the box: a one; a two");
    }

    #[test]
    fn a_line_is_short_whatever_stands_in_it_and_stays_json() {
        let names =
            |length: usize| (0..20_000).map(|n| format!("{n}{}", "x".repeat(length))).collect::<Vec<_>>();
        let rows = |length| {
            names(length).into_iter().map(|name| serde_json::json!({ "name": name })).collect::<Vec<_>>()
        };
        // Each of these is six bytes in JSON.
        let hostile = "\u{1}".repeat(1_000_000);
        let refused = || Error::failed("no");
        let report = || Report::new("x").field("result", "applied").field("box", "hd-shop-ab3dxxxxx");
        for (case, report) in [
            ("many names", report().field("files", names(0))),
            ("long names", report().field("files", names(4_000))),
            ("one name", report().field("files", vec![hostile.clone()])),
            ("rows", report().field("files", rows(300))),
            ("a text", report().field("patch", hostile.clone())),
            ("an error", Report::refused(Error::failed(hostile.clone())).field("box", "hd-shop-ab3dxxxxx")),
            ("facts", Report::refused(names(99).iter().fold(refused(), |error, name| error.fact("f", name)))),
            ("a fix", Report::refused(names(99).into_iter().fold(refused(), Error::help))),
        ] {
            let text = report.line("apply");
            assert!(text.len() <= 60 * 1024 + MARK.len(), "{case}: {}", text.len());
            let value: Value = serde_json::from_str(text.strip_prefix(MARK).unwrap()).unwrap();
            assert_eq!(value["truncated"], true, "{case}");
            assert_eq!((&value["action"], &value["schemaVersion"]), (&"apply".into(), &1.into()), "{case}");
            assert_eq!(value["ok"], report.refused.is_none(), "{case}");
        }
    }
}
