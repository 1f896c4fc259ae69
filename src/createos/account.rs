//! An account: whether the session is usable, which shapes there are, and where the official CLI takes its credential
//! from (docs/measured/createos-cli.md 5.3, 3.1). No secret is read: of a stored session only when it ends.

use super::json;
use super::{Failure, Provider};
use serde::Deserialize;
use serde_json::Value;
use std::io::BufReader;
use std::path::PathBuf;
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

/// Variables that hold a key, in the CLI's order; the first one wins over what is stored.
pub(crate) const KEY_VARIABLES: [&str; 3] =
    ["CREATEOS_API_KEY", "CREATEOS_PLAN_API_KEY", "CREATEOS_PROJECT_API_KEY"];
/// Files of a stored login below the home folder; the first is a session that ends and is renewed.
pub(crate) const STORED: [&str; 2] = [SESSION, ".createos/.token"];

const SESSION: &str = ".createos/.oauth";

/// A stored session: its tokens are skipped.
#[derive(Deserialize)]
struct Session {
    expires_at: i64,
}

impl Provider {
    /// A variable holds a key.
    pub(super) fn has_key(&self) -> bool {
        KEY_VARIABLES.into_iter().any(|name| self.variable(name).is_some())
    }

    /// There is a key or a stored login.
    pub(super) fn has_credentials(&self) -> bool {
        let home = self.home();
        self.has_key() || home.is_some_and(|home| STORED.iter().any(|file| home.join(file).exists()))
    }

    /// The file of the stored session.
    pub(super) fn session_file(&self) -> Option<PathBuf> {
        Some(self.home()?.join(SESSION))
    }

    /// When the stored session ends, in seconds since 1970; `None` when there is none, it does not say, or it is
    /// being written.
    pub(super) fn session_ends(&self) -> Option<i64> {
        let file = std::fs::File::open(self.session_file()?).ok()?;
        let session: Session = serde_json::from_reader(BufReader::new(file)).ok()?;
        Some(session.expires_at).filter(|ends| *ends > 0)
    }

    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from).or_else(crate::paths::home)
    }
}
