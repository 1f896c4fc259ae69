//! A box: its folder, and what is in it.

use super::json::{parse, write_json};
use super::meta::{BoxStatus, Meta};
use crate::command;
use crate::error::IoContext;
use crate::fs::Lock;
use crate::local::failure::{Failure, Result};
use crate::local::keeper::log::NetworkLog;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// In a box's folder: records of its processes.
pub(crate) const PROCESSES: &str = "processes";
/// In a box's folder: those of its processes that run now.
pub(crate) const RUNNING: &str = "running";

/// In a box's folder: held by who keeps its network.
pub(crate) const KEEPER_LOCK: &str = "keeper.lock";

#[derive(Debug, Clone)]
pub(crate) struct LocalBox {
    folder: PathBuf,
    /// Its record when it was read.
    pub(crate) meta: Meta,
}

impl LocalBox {
    /// The box in this folder.
    pub(super) fn new(folder: PathBuf, meta: Meta) -> Self {
        Self { folder, meta }
    }

    /// Its folder on the host.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// As the command line shows it, with what its network was refused.
    pub(crate) fn view(&self) -> Value {
        let mut view = self.meta.view();
        if let (Value::Object(view), Value::Object(network)) =
            (&mut view, NetworkLog::read(&self.folder).view())
        {
            view.extend(network);
        }
        view
    }

    /// Its root file system: written by the box, so never walked by path.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Records of its processes.
    pub(crate) fn processes(&self) -> PathBuf {
        self.folder.join(PROCESSES)
    }

    /// Those of its processes that run now, a file each.
    pub(crate) fn running(&self) -> PathBuf {
        self.folder.join(RUNNING)
    }

    /// Held while its status is looked at and acted upon.
    pub(crate) fn lock(&self) -> Result<Lock> {
        let path = self.folder.join("lock");
        match Lock::wait(&path) {
            Ok(lock) => Ok(lock),
            Err(_) if !self.folder.exists() => {
                Err(Failure::conflict(format!("sandbox {} is destroyed", self.meta.name)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads its record again. Call it with the lock held.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let path = self.folder.join("meta.json");
        self.meta = parse(&path, &std::fs::read(&path).at("read", &path)?)?;
        Ok(())
    }

    /// Writes its record. Call it with the lock held.
    pub(crate) fn save(&self) -> Result<()> {
        write_json(&self.folder.join("meta.json"), &self.meta)
    }

    /// Refuses unless it is running.
    pub(crate) fn must_run(&self) -> Result<()> {
        let name = &self.meta.name;
        let refused = || Failure::conflict(format!("sandbox {name} is {}", self.meta.status.word()));
        match self.meta.status {
            BoxStatus::Running => Ok(()),
            BoxStatus::Paused => {
                let resume = command::own(["local", "sandbox", "resume"]).on(name);
                Err(refused().help(format!("resume it first: {resume}")))
            }
            BoxStatus::Destroying | BoxStatus::Destroyed => Err(refused()),
        }
    }
}
