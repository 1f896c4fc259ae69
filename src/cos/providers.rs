//! Who makes boxes: what was said for this call, else the environment, else the settings, else CreateOS.

use super::program;
use super::variable::variable;
use crate::command;
use crate::config::{CosConfig, ProviderKind};
use crate::createos::{Credentials, Provider};
use crate::error::{Error, Result};
use crate::paths::{Paths, own_binary};
use std::path::PathBuf;

/// The surroundings of a call.
pub(super) struct Providers {
    pub(super) paths: Paths,
    pub(super) config: CosConfig,
    /// Who makes new boxes.
    pub(super) kind: ProviderKind,
}

impl Providers {
    /// Reads the settings and the environment.
    ///
    /// # Errors
    /// There is no home, the settings are wrong, or a word is no provider.
    pub(super) fn read(said: Option<&str>) -> Result<Self> {
        let paths = Paths::from_env()?;
        let config = CosConfig::load(&settings(&paths))?;
        let kind = match said.map(str::to_owned).or_else(|| variable("COS_PROVIDER")) {
            Some(word) => word.parse()?,
            None => config.provider.unwrap_or_default(),
        };
        Ok(Self { paths, config, kind })
    }

    /// The provider of new boxes.
    ///
    /// # Errors
    /// As [`Providers::of`].
    pub(super) fn new_boxes(&self) -> Result<Provider> {
        self.of(self.kind)
    }

    /// A provider that can be asked: its program is here, and somebody is signed in.
    ///
    /// # Errors
    /// The program is missing and cannot be installed, or nobody is signed in.
    pub(super) fn of(&self, kind: ProviderKind) -> Result<Provider> {
        match kind {
            ProviderKind::Local => Ok(Provider::local(own_binary()?)),
            ProviderKind::Createos => {
                let program = program::find_or_install(&self.paths)?;
                if self.credentials().winner().is_none() {
                    return Err(signed_out());
                }
                Ok(Provider::createos(program))
            }
        }
    }

    /// With which credential boxes of CreateOS are made.
    pub(super) fn credentials(&self) -> Credentials {
        Credentials::look(self.paths.home(), |name| variable(name).is_some())
    }
}

/// Nobody is signed in. An agent reads this as often as a person does.
pub(super) fn signed_out() -> Error {
    Error::failed("not signed in to CreateOS")
        .help(format!("in a terminal of your own: {}", command::createos(["login"])))
        .help("or export CREATEOS_API_KEY there; never paste a key into a conversation")
        .help("boxes on this machine need no account: --provider local")
}

/// The settings' file.
pub(super) fn settings(paths: &Paths) -> PathBuf {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    folder.unwrap_or_else(|| paths.home().join(".config")).join("createos-sandbox/cos.json")
}
