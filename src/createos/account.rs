//! What an account may do: whether the session is usable, and which shapes there are.

use super::Failure;
use super::json;
use super::provider::Provider;
use serde_json::Value;
use std::time::Duration;

/// A person waits for the answer, and nothing is lost when it does not come.
const LIMIT: Duration = Duration::from_secs(15);

impl Provider {
    /// Whether the session is usable: one row of the list is asked for (docs/measured/createos-cli.md 3.1).
    ///
    /// # Errors
    /// Refused as signed out when it is not, anything else when the answer is no list.
    pub(crate) fn session(&self) -> Result<(), Failure> {
        let run = self.json(LIMIT).args(["list", "--limit", "1"]);
        match self.document("sandbox list", run)? {
            // An empty list may be `null`.
            Value::Null | Value::Array(_) => Ok(()),
            // Some other program's success, or this one's for words that it does not know
            // (docs/measured/createos-cli.md 3.11).
            _ => Err(Failure::other("sandbox list", "the answer is no list")),
        }
    }

    /// The shapes of the account's plan.
    ///
    /// # Errors
    /// The call failed, or answered no list of shapes.
    pub(crate) fn shapes(&self) -> Result<Vec<String>, Failure> {
        let answer = self.document("sandbox shapes", self.json(LIMIT).arg("shapes"))?;
        let Value::Array(shapes) = &answer else {
            return Err(Failure::other("sandbox shapes", "the answer is no list"));
        };
        Ok(shapes.iter().filter_map(|shape| json::text(shape, "id")).map(str::to_owned).collect())
    }
}
