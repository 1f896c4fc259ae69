//! What a command prints, and how it ends.

use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::ExitCode;

/// stdout, stderr and the exit code.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: u8,
}

impl Reply {
    /// Text on stdout, success.
    pub(crate) fn text(out: impl Into<String>) -> Self {
        Self { out: out.into(), ..Self::default() }
    }

    /// Text on stderr, exit 1.
    pub(crate) fn failed(err: impl Into<String>) -> Self {
        Self { err: err.into(), code: 1, ..Self::default() }
    }

    /// The Rust debug text with which Herdr reports errors that leave its `main`.
    pub(crate) fn debug(message: &str) -> Self {
        Self::failed(format!("Error: Custom {{ kind: Other, error: {message:?} }}\n"))
    }

    /// A result of the API.
    pub(crate) fn result(id: &str, result: Value) -> Self {
        Self::text(format!("{}\n", sorted(json!({ "id": id, "result": result }))))
    }

    /// A refusal of the API.
    pub(crate) fn refused(id: &str, code: &str, message: &str) -> Self {
        Self::failed(format!("{}\n", json!({ "error": { "code": code, "message": message }, "id": id })))
    }

    /// Prints it.
    pub(crate) fn print(self) -> ExitCode {
        let _closed_pipe = std::io::stdout().write_all(self.out.as_bytes());
        let _closed_pipe = std::io::stderr().write_all(self.err.as_bytes());
        ExitCode::from(self.code)
    }
}

/// Wrong usage: text on stderr, exit 2.
pub(crate) fn usage(text: &str) -> Reply {
    Reply { out: String::new(), err: format!("{text}\n"), code: 2 }
}

/// The value with its keys in alphabetical order, as the real command line prints them.
pub(crate) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
