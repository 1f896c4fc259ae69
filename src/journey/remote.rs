//! A provider's box as the room `merge` wants it.

use crate::config::RemoteRoot;
use crate::createos::{BoxId, Provider};
use crate::error::Result;
use crate::exec::{Heard, Hearing};
use crate::merge::{self, Filters, OnClash, Proposal, Remote, Response};
use crate::worktree::{Base, RelPath, Rules, stays_home};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// How long work may take that is long: 500 MB of many small files.
const LONG: Duration = Duration::from_secs(30 * 60);
/// How long any other script may take.
const SHORT: Duration = Duration::from_secs(600);

/// A running box at a provider.
#[derive(Debug, Clone)]
pub(crate) struct ProviderBox {
    /// Where it is.
    pub(crate) provider: Provider,
    /// Which one.
    pub(crate) id: BoxId,
    limit: Duration,
}

impl ProviderBox {
    /// The box `id` at `provider`.
    pub(crate) fn new(provider: Provider, id: BoxId) -> Self {
        Self { provider, id, limit: SHORT }
    }

    /// The same for somebody who waits for an answer: a script may take no longer than this.
    #[must_use]
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// What the box, which has to run, changed since `base`, judged with the rules by which its files have left.
    ///
    /// # Errors
    /// The box cannot be asked, its answer cannot be trusted, or the worktree not be read.
    pub(crate) fn propose(
        &mut self,
        root: &RemoteRoot,
        worktree: &Path,
        base: &Base,
        git: &Path,
        rules: &Rules,
        on_clash: OnClash,
    ) -> Result<Proposal> {
        let keeps_home = |path: &RelPath| {
            let why = stays_home(path, base.get(path).is_some(), rules);
            why.map(|(reason, rule)| format!("{} ({rule})", reason.words()))
        };
        merge::propose(self, root, worktree, base, &Filters { git, keeps_home: &keeps_home, on_clash })
    }
}

impl Remote for ProviderBox {
    fn exec(&mut self, script: &str, args: &[&str]) -> Result<Response> {
        let said = self.provider.exec(&self.id, script, args, self.limit)?;
        Ok(Response { code: said.code, stdout: said.text(), stderr: said.stderr })
    }

    fn exec_long(&mut self, script: &str, args: &[&str], heard: Hearing<'_>) -> Result<Response> {
        let mut stdout = Vec::new();
        let code = self.provider.run_long(&self.id, script, args, LONG, &mut |said| {
            if let Heard::Output(bytes) = said {
                stdout.extend_from_slice(bytes);
            }
            heard(said);
        })?;
        Ok(Response { code, stdout: String::from_utf8_lossy(&stdout).into_owned(), stderr: String::new() })
    }

    fn push(&mut self, contents: &mut (dyn Read + Send), path: &str) -> Result<()> {
        Ok(self.provider.push(&self.id, contents, path)?)
    }

    fn pull(&mut self, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
        Ok(self.provider.pull(&self.id, path, contents, limit)?)
    }
}
