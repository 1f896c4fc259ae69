//! `environment`: variables of the agent in its box, and where each value comes from.

use super::value::what;
use crate::text_type::text_type;
use serde_json::{Map, Value, json};

/// A longer value is a mistake, in bytes.
pub(crate) const LONGEST: usize = 64 * 1024;
/// More variables are a mistake.
const MOST: usize = 100;

/// Names that decide how a box's own programs start, or are ours.
const REFUSED: [&str; 12] = [
    "PATH",
    "HOME",
    "SHELL",
    "USER",
    "LOGNAME",
    "PWD",
    "OLDPWD",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
];
/// Beginnings of such names: the loader's, Herdr's, ours.
const REFUSED_FAMILIES: [&str; 4] = ["LD_", "DYLD_", "HERDR_", "CREATEOS_"];

text_type! {
    /// A variable's name.
    pub(crate) VariableName: judge => String
}

fn judge(text: &str) -> Result<&str, String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let good = (1..=100).contains(&text.len())
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(is_word);
    if !good {
        return Err(format!("\"{text}\" is no name of a variable"));
    }
    if REFUSED.contains(&text) || REFUSED_FAMILIES.iter().any(|family| text.starts_with(family)) {
        return Err(format!(
            "\"{text}\" is not given to a box: it decides how programs start there, or is ours"
        ));
    }
    Ok(text)
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// It stands in the file.
    Text(String),
    /// Nowhere: one of ours is taken away.
    Nothing,
    /// A variable of this machine.
    From(String),
    /// A file of this machine, `~/…` or absolute.
    File(String),
    /// What a program of this machine prints; no shell.
    Command(Vec<String>),
}

/// The whole setting, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Environment(Vec<(VariableName, Source)>);

impl Environment {
    /// Each name with its source.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.0.iter().map(|(name, source)| (name.as_str(), source))
    }

    /// Whether it says anything of this variable: one of ours gives way to it, or is taken away.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.entries().any(|(own, _)| own == name)
    }
}

/// From its value in the file.
///
/// # Errors
/// Why it is not valid.
pub(super) fn read(value: &Value) -> Result<Environment, String> {
    let object = value
        .as_object()
        .ok_or_else(|| format!("expected an object from name to value, found {}", what(value)))?;
    if object.len() > MOST {
        return Err(format!("more than {MOST} variables"));
    }
    let one = |(name, value): (&String, &Value)| {
        Ok((name.parse()?, source(value).map_err(|why| format!("\"{name}\": {why}"))?))
    };
    object.iter().map(one).collect::<Result<_, String>>().map(Environment)
}

fn source(value: &Value) -> Result<Source, String> {
    const FORMS: &str = "a text, null, {\"from\": NAME}, {\"file\": PATH} or {\"command\": [PROGRAM, …]}";
    match value {
        Value::Null => Ok(Source::Nothing),
        Value::String(text) if text.len() > LONGEST || text.contains('\0') => {
            Err("the value is too long, or has a zero byte".into())
        }
        Value::String(text) => Ok(Source::Text(text.clone())),
        Value::Object(members) if members.len() == 1 => {
            of_object(members).ok_or_else(|| format!("expected {FORMS}"))
        }
        _ => Err(format!("expected {FORMS}")),
    }
}

fn of_object(members: &Map<String, Value>) -> Option<Source> {
    let (kind, value) = members.iter().next()?;
    let text = || value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    match kind.as_str() {
        "from" => text().map(Source::From),
        "file" => text().filter(|path| path.starts_with('/') || path.starts_with("~/")).map(Source::File),
        "command" => {
            let words: Option<Vec<String>> =
                value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            words
                .filter(|words| words.first().is_some_and(|program| !program.is_empty()))
                .map(Source::Command)
        }
        _ => None,
    }
}

/// As the file has it.
pub(super) fn write(environment: &Environment) -> Value {
    let value = |source: &Source| match source {
        Source::Text(text) => text.as_str().into(),
        Source::Nothing => Value::Null,
        Source::From(name) => json!({ "from": name }),
        Source::File(path) => json!({ "file": path }),
        Source::Command(words) => json!({ "command": words }),
    };
    Value::Object(environment.entries().map(|(name, source)| (name.to_owned(), value(source))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_written_as_it_is_read() {
        let value = json!({
            "A": "x", "B": null, "C_1": { "from": "D" }, "E": { "file": "~/key" },
            "_F": { "command": ["pass", "show", "x"] },
        });
        let environment = read(&value).unwrap();
        assert_eq!(write(&environment), value);
        assert!(environment.names("B") && !environment.names("D"));
    }

    #[test]
    fn names_of_the_loader_of_ours_and_of_no_variable_are_refused() {
        for bad in
            ["", "1A", "A-B", "A B", "Ä", "PATH", "HOME", "LD_PRELOAD", "DYLD_X", "HERDR_ENV", "BASH_ENV"]
        {
            assert!(read(&json!({ bad: "x" })).is_err(), "{bad}");
        }
        for bad in [
            json!([]),
            json!({ "A": 1 }),
            json!({ "A": {} }),
            json!({ "A": { "from": "" } }),
            json!({ "A": { "file": "key" } }),
            json!({ "A": { "command": "pass show x" } }),
            json!({ "A": { "command": [] } }),
            json!({ "A": { "from": "B", "file": "/x" } }),
            json!({ "A": "x\u{0}" }),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }
}
