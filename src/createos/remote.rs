//! A provider's box as the room `merge` wants it.

use super::{BoxId, Provider};
use crate::error::Result;
use crate::merge::{Answer, Remote};
use std::io::{Read, Write};
use std::time::Duration;

/// A running box at a provider.
#[derive(Debug, Clone)]
pub(crate) struct ProviderBox {
    /// Where it is.
    pub(crate) provider: Provider,
    /// Which one.
    pub(crate) id: BoxId,
}

impl ProviderBox {
    /// The box `id` at `provider`.
    pub(crate) fn new(provider: Provider, id: BoxId) -> Self {
        Self { provider, id }
    }
}

impl Remote for ProviderBox {
    fn exec(&mut self, script: &str, args: &[&str]) -> Result<Answer> {
        let said = self.provider.exec(&self.id, script, args, Duration::from_secs(600))?;
        Ok(Answer { code: said.code, stdout: said.text(), stderr: said.stderr })
    }

    fn push(&mut self, contents: &mut (dyn Read + Send), path: &str) -> Result<()> {
        Ok(self.provider.push(&self.id, contents, path)?)
    }

    fn pull(&mut self, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
        Ok(self.provider.pull(&self.id, path, contents, limit)?)
    }
}
