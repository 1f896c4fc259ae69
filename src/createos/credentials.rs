//! Where the official CLI takes its credential from (docs/measured/createos-cli.md 5.3, 3.1). No secret is read: of a
//! stored session only when it ends.

use super::Provider;
use serde::Deserialize;
use std::io::BufReader;
use std::path::PathBuf;

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
