//! The folder of it: `COS_STATE_DIR`, else `createos-sandbox` in the user's cache.

use crate::error::{Error, Result};
use crate::fs::{Lock, make_private, private_folder};
use crate::paths::Paths;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a lock of the earlier driver is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The state folder. It is made by the first write: looking leaves nothing behind.
#[derive(Debug, Clone)]
pub(crate) struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// The folder for this environment.
    ///
    /// # Errors
    /// It is in the home of another user, and we are root.
    pub(crate) fn of(paths: &Paths) -> Result<Self> {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let path = absolute("COS_STATE_DIR").unwrap_or_else(|| {
            let cache = absolute("XDG_CACHE_HOME").unwrap_or_else(|| paths.home().join(".cache"));
            cache.join("createos-sandbox")
        });
        paths.refuse_foreign_home(&path)?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, closed to others, and a folder below it.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn make(&self, below: &str) -> Result<PathBuf> {
        if let Some(above) = self.path.parent().filter(|above| !above.exists()) {
            make_private(above)?;
        }
        private_folder(&self.path)?;
        let folder = self.path.join(below);
        if !below.is_empty() {
            private_folder(&folder)?;
        }
        Ok(folder)
    }

    /// The lock of a project: one at a time makes, ends or pauses its box. A live one of the earlier driver counts.
    ///
    /// # Errors
    /// The folder cannot be written, or somebody else has it for half a minute.
    pub(crate) fn lock(&self, key: &str) -> Result<Lock> {
        self.make("")?;
        let busy = |who: String| {
            Error::failed(format!(
                "another cos of this project is at work for {} s: {who}",
                PATIENCE.as_secs()
            ))
            .help("wait for it, then do this again")
        };
        let path = self.path.join(format!("{key}.flock"));
        let lock = Lock::take_within(&path, PATIENCE)?.ok_or_else(|| busy(path.display().to_string()))?;
        let began = Instant::now();
        while let Some(pid) = self.earlier_driver(key) {
            if began.elapsed() > PATIENCE {
                return Err(busy(format!("process {pid}")));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(lock)
    }

    /// The living process of the earlier driver that has its lock.
    fn earlier_driver(&self, key: &str) -> Option<i32> {
        let text = std::fs::read_to_string(self.path.join(format!("{key}.lock/pid"))).ok()?;
        let pid = text.trim().parse().ok()?;
        rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid)?).ok()?;
        Some(pid)
    }
}
