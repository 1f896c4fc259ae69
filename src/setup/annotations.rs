//! Failures as annotations of a GitHub workflow run.

use crate::setup::checks::check::{Check, Status};

/// A workflow command for each check that fails this run.
pub(super) fn annotations(checks: &[Check], strict: bool) -> Vec<String> {
    let fails = |check: &&Check| match check.status {
        Status::Fail => true,
        Status::Warn => strict,
        Status::Ok | Status::Note | Status::Skip => false,
    };
    checks
        .iter()
        .filter(fails)
        .map(|check| {
            let fix = check.fix.as_ref().map_or_else(String::new, |fix| format!("\nfix: {fix}"));
            format!(
                "::error title=createos-sandbox {}::{}",
                check.id,
                escaped(&format!("{}{fix}", check.message))
            )
        })
        .collect()
}

/// The escapes of a workflow command's data.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_are_annotated_and_on_one_line() {
        let checks = [
            Check::ok("os", "fine"),
            Check::warn("keys", "5 of 6"),
            Check::fail("git", "100%\ngone").fix("x"),
        ];
        assert_eq!(
            annotations(&checks, false),
            ["::error title=createos-sandbox git::100%25%0Agone%0Afix: x"]
        );
        assert_eq!(annotations(&checks, true).len(), 2);
    }
}
