//! The one error type: a kind that decides the exit code, a message, facts and hints.

use crate::exit::Exit;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// `Result` with this crate's [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// What an error means for the exit code (docs/exit-codes.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command ran and failed: exit code 1.
    Failed,
    /// The command line or a setting is wrong: exit code 2.
    Usage,
    /// The command could not run at all on this machine: exit code 2.
    CannotRun,
    /// A person pressed Ctrl-C at a question: exit code 130, as a shell reports it.
    Interrupted,
}

/// An error as a person reads it: what happened, facts, and what to type next.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    kind: Kind,
    message: String,
    facts: Vec<(String, String)>,
    hints: Vec<String>,
}

impl Error {
    /// An error of the given kind. The message is lower case and has no final period.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), facts: Vec::new(), hints: Vec::new() }
    }

    /// The command ran and failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Wrong use: the caller must type something else.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// The machine cannot do this.
    pub(crate) fn cannot_run(message: impl Into<String>) -> Self {
        Self::new(Kind::CannotRun, message)
    }

    /// An I/O error, never without its path.
    pub(crate) fn io(doing: &str, path: &Path, source: &std::io::Error) -> Self {
        // A temporary file's error ends with the file's random name.
        let words = source.to_string();
        let words = words.rsplit_once(" at path \"").map_or(words.as_str(), |(words, _)| words);
        Self::failed(format!("could not {doing} {}: {words}", path.display())).help(match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make some space, then run this again",
            ErrorKind::ReadOnlyFilesystem => "it is mounted read-only: make it writable, then run this again",
            _ => "",
        })
    }

    /// Adds a labelled fact, shown aligned below the message.
    #[must_use]
    pub(crate) fn fact(mut self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((label.into(), value.into()));
        self
    }

    /// Adds what to do next: a sentence or a command to type.
    #[must_use]
    pub(crate) fn help(mut self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        // Another program may have said nothing: no empty line for that.
        if !hint.trim().is_empty() {
            self.hints.push(hint);
        }
        self
    }

    /// Takes over the facts and hints of the error that it comes from.
    #[must_use]
    pub(crate) fn because(mut self, cause: &Self) -> Self {
        self.facts.extend(cause.facts.iter().cloned());
        self.hints.extend(cause.hints.iter().cloned());
        self
    }

    /// The kind, for callers that decide on it.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The message without facts and hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The labelled facts in the order in which they were added.
    pub(crate) fn facts(&self) -> &[(String, String)] {
        &self.facts
    }

    /// The hints in the order in which they were added.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    pub(crate) fn exit(&self) -> Exit {
        match self.kind {
            Kind::Failed => Exit::FAILED,
            Kind::Usage | Kind::CannotRun => Exit::UNUSABLE,
            Kind::Interrupted => Exit::INTERRUPTED,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Gives an I/O result the path and the verb that a reader needs.
pub(crate) trait IoContext<T> {
    /// `doing` is a verb phrase: "read", "create the folder".
    fn at(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for std::io::Result<T> {
    fn at(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::io(doing, path, &source))
    }
}

impl<T> IoContext<T> for rustix::io::Result<T> {
    fn at(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::io(doing, path, &source.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_names_its_path_once_and_says_what_helps() {
        let none = tempfile::NamedTempFile::new_in("/nowhere").expect_err("there is no such folder");
        let error = Error::io("write", Path::new("/nowhere"), &none);
        assert_eq!(error.message(), "could not write /nowhere: No such file or directory (os error 2)");
        assert!(error.hints().is_empty());
        for (kind, hint) in [
            (ErrorKind::StorageFull, "make some space, then run this again"),
            (ErrorKind::QuotaExceeded, "make some space, then run this again"),
            (ErrorKind::ReadOnlyFilesystem, "it is mounted read-only: make it writable, then run this again"),
        ] {
            assert_eq!(Error::io("write", Path::new("/x"), &kind.into()).hints(), [hint]);
        }
    }
}
