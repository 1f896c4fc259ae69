//! Errors of the provider command line, with the codes of its JSON envelope (docs/measured/createos-cli.md 3.11).

use crate::error::{Error, Kind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct Failure {
    code: &'static str,
    error: Error,
}

/// A failure on its way from one of our processes to another.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Parts {
    code: String,
    exit: u8,
    message: String,
    facts: Vec<(String, String)>,
    hints: Vec<String>,
}

/// `Result` with [`Failure`].
pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Nothing of that name or id.
    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self { code: "not_found", error: Error::failed(message) }
    }

    /// It is there, but not in a state that allows this.
    pub(super) fn conflict(message: impl Into<String>) -> Self {
        Self { code: "conflict", error: Error::failed(message) }
    }

    /// Adds what to do next.
    #[must_use]
    pub(super) fn help(mut self, hint: impl Into<String>) -> Self {
        self.error = self.error.help(hint);
        self
    }

    pub(super) fn error(&self) -> &Error {
        &self.error
    }

    /// The error without its code.
    pub(super) fn into_error(self) -> Error {
        self.error
    }

    /// Ready for the way.
    pub(super) fn into_parts(self) -> Parts {
        Parts {
            code: self.code.into(),
            exit: self.error.exit().code(),
            message: self.error.message().into(),
            facts: self.error.facts().to_vec(),
            hints: self.error.hints().to_vec(),
        }
    }

    /// As it was before.
    pub(super) fn from_parts(parts: Parts) -> Self {
        let codes = ["not_found", "conflict", "bad_request"];
        let code = codes.into_iter().find(|code| *code == parts.code).unwrap_or("error");
        let kind = match (parts.exit, code) {
            (2, "bad_request") => Kind::Usage,
            (2, _) => Kind::CannotRun,
            _ => Kind::Failed,
        };
        let error = Error::new(kind, parts.message);
        let error = parts.facts.into_iter().fold(error, |error, (label, value)| error.fact(label, value));
        Self { code, error: parts.hints.into_iter().fold(error, Error::help) }
    }

    pub(super) fn envelope(&self) -> Value {
        let facts = self.error.facts().iter().map(|(label, value)| format!("; {label}: {value}"));
        let message = self.error.message().to_owned() + &facts.collect::<String>();
        let mut body = json!({ "code": self.code, "message": message });
        if !self.error.hints().is_empty() {
            body["hint"] = json!(self.error.hints().join("; "));
        }
        json!({ "error": body })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            Kind::Usage => "bad_request",
            Kind::Failed | Kind::CannotRun | Kind::Interrupted => "error",
        };
        Self { code, error }
    }
}
