//! An account: whether the session is usable, which shapes there are, and where the official CLI takes its credential
//! from (docs/measured/createos-cli.md 5.3, 3.1). No secret is read: of a stored session only when it ends.
//!
//! An OAuth session that is about to end is renewed by one call alone, and then the others go: its refresh token counts
//! once, and the official CLI takes no lock (docs/measured/createos-cli.md 3.1).

use super::{Failure, Provider, Result, json};
use crate::fs::{Lock, digest, private_folder};
use crate::paths::Paths;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A person waits for the answer, and nothing is lost when it does not come.
const LIMIT: Duration = Duration::from_secs(15);

impl Provider {
    /// Whether the session is usable: one row of the list is asked for (docs/measured/createos-cli.md 3.1).
    ///
    /// # Errors
    /// Refused as signed out when it is not, anything else when the answer is no list.
    pub(crate) fn session(&self) -> Result<()> {
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
    pub(crate) fn shapes(&self) -> Result<Vec<String>> {
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

/// The CLI renews a session in its last minute (docs/measured/createos-cli.md 3.1), in seconds.
const EARLY: i64 = 60;
/// A call that starts so many seconds before the last minute may still reach the service in it, so it waits, too.
const MARGIN: i64 = 5;
/// How long the call that renews may take.
const CALL: Duration = Duration::from_secs(30);
/// How long the others wait for it; then each goes on by itself.
const PATIENCE: Duration = Duration::from_secs(45);
/// A session that could not be renewed is not tried at each call again.
const AGAIN: Duration = Duration::from_secs(60);

/// The last try of this process for each session: when it would end, and when it was tried.
static TRIED: Mutex<BTreeMap<PathBuf, (i64, Instant)>> = Mutex::new(BTreeMap::new());

impl Provider {
    /// Sees to it that a call which begins now finds no session that it would have to renew. Costs a look at one file;
    /// nothing with a key, and nothing for boxes of this machine. When it cannot be done, the call itself says why.
    pub(super) fn refreshed(&self) {
        if !self.kind().has().account || self.has_key() || !self.is_ending() {
            return;
        }
        let Some(file) = self.session_file() else { return };
        let mut tried = TRIED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _alone = self.alone(&file);
        let Some(ends) = self.session_ends().filter(|_| self.is_ending()) else { return };
        if tried.get(&file).is_some_and(|(known, at)| *known == ends && at.elapsed() < AGAIN) {
            return;
        }
        let early = u64::try_from(ends - now() - EARLY + 1).unwrap_or(0);
        if self.rest("", Duration::from_secs(early)).is_ok() {
            let _the_call_itself_will_say = self.json_as_it_is(CALL).args(["list", "--limit", "1"]).run();
            tried.insert(file, (ends, Instant::now()));
        }
    }

    fn is_ending(&self) -> bool {
        self.session_ends().is_some_and(|ends| ends - now() < EARLY + MARGIN)
    }

    /// The lock under which one process of this machine renews the session; `None` when it cannot be had.
    pub(super) fn alone(&self, session: &Path) -> Option<Lock> {
        // The last folder is the same for every process, whatever its environment says.
        let folder = Paths::sockets().pop()?;
        private_folder(&folder).ok()?;
        let name = digest(session.as_os_str().as_bytes()).to_string();
        let path = folder.join(format!("renew-{}", &name[..16]));
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(lock) = Lock::try_take(&path).ok()? {
                return Some(lock);
            }
            self.rest("", Duration::from_millis(20)).ok()?;
        }
        None
    }
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}
