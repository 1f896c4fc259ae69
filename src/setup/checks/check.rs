//! One judged observation, and what a list of them says as a whole.

use crate::command::Command;
use crate::exit::Exit;
use serde::Serialize;

/// How a check ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// As it should be.
    #[default]
    Ok,
    /// Worth knowing; it may be a fault.
    Warn,
    /// Worth knowing and no fault: somebody chose it, or may. It never fails.
    Note,
    /// Not as it should be.
    Fail,
    /// It does not apply here.
    Skip,
}

impl Status {
    /// Whether it fails a run in which failures, and warnings, fail.
    pub(crate) fn fails(self, failures: bool, warnings: bool) -> bool {
        (self == Self::Fail && failures) || (self == Self::Warn && warnings)
    }
}

/// One judged observation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[must_use]
pub(crate) struct Check {
    /// Stable name. Several findings about one thing share it.
    pub(crate) id: &'static str,
    /// How it ended.
    pub(crate) status: Status,
    /// Whether a failure fails the whole doctor.
    pub(crate) required: bool,
    /// What was found, such as a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<String>,
    /// What is needed, where what was found will not do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) needed: Option<String>,
    /// The file or program in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// One sentence.
    pub(crate) message: String,
    /// What to type or do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
    /// Whether `createos-sandbox setup herdr` mends it.
    pub(crate) fixable: bool,
}

impl Check {
    pub(crate) fn new(id: &'static str, status: Status, message: impl Into<String>) -> Self {
        Self { id, status, message: message.into(), ..Self::default() }
    }

    pub(crate) fn ok(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Status::Ok, message)
    }

    pub(crate) fn warn(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Status::Warn, message)
    }

    pub(crate) fn note(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Status::Note, message)
    }

    pub(crate) fn fail(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Status::Fail, message)
    }

    pub(crate) fn skip(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Status::Skip, message)
    }

    /// A failure of it fails the doctor.
    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    pub(crate) fn needed(mut self, needed: impl Into<String>) -> Self {
        self.needed = Some(needed.into());
        self
    }

    pub(crate) fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// What to do is this setup.
    pub(crate) fn fixed_by(mut self, setup: Command) -> Self {
        self.fix = Some(setup.into());
        self.fixable = true;
        self
    }
}

/// How many checks ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Summary {
    /// As they should be.
    pub(crate) ok: usize,
    /// Worth knowing; perhaps faults.
    pub(crate) warnings: usize,
    /// Worth knowing, and no faults.
    pub(crate) notes: usize,
    /// Failed.
    pub(crate) failed: usize,
    /// Did not apply.
    pub(crate) skipped: usize,
}

impl Summary {
    pub(crate) fn count(checks: &[Check]) -> Self {
        let count = |status| checks.iter().filter(|check| check.status == status).count();
        Self {
            ok: count(Status::Ok),
            warnings: count(Status::Warn),
            notes: count(Status::Note),
            failed: count(Status::Fail),
            skipped: count(Status::Skip),
        }
    }
}

/// The exit code that these checks ask for: warnings fail only when it is strict.
pub(crate) fn exit_code(checks: &[Check], strict: bool) -> Exit {
    Exit::failed_if(checks.iter().any(|check| check.status.fails(check.required || strict, strict)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_required_failures_fail_and_strict_takes_warnings_too() {
        let warn = [Check::ok("a", ""), Check::warn("b", "")];
        assert_eq!((exit_code(&warn, false), exit_code(&warn, true)), (Exit::DONE, Exit::FAILED));
        assert_eq!(exit_code(&[Check::fail("a", "").required()], false), Exit::FAILED);
        assert_eq!(exit_code(&[Check::skip("a", ""), Check::note("b", "")], true), Exit::DONE);
    }
}
