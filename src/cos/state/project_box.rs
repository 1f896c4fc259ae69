//! The project's own box, as the earlier driver has it on record: members that are texts, of which those that we do not
//! know are kept.

use super::StateFolder;
use crate::createos::{BoxId, BoxName, ProviderKind};
use crate::error::{Error, IoContext, Result};
use crate::fs::{IfThere, Mode, read_if_there, write_atomic};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The record of a project's box.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProjectBox {
    members: Map<String, Value>,
}

impl ProjectBox {
    fn text(&self, key: &str) -> &str {
        self.members.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Sets a member.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.members.insert(key.into(), Value::String(value.into()));
    }

    /// Its full id; none while it is being made.
    pub(crate) fn id(&self) -> Option<BoxId> {
        self.text("id").parse().ok()
    }

    pub(crate) fn name(&self) -> Option<BoxName> {
        self.text("name").parse().ok()
    }

    pub(crate) fn shape(&self) -> &str {
        self.text("shape")
    }

    /// It was made here; else it was adopted, and is never deleted. A record without the word is of an older driver, which
    /// had only its own.
    pub(crate) fn is_owned(&self) -> bool {
        self.text("owned") != "0"
    }

    /// The provider that it was made with; the earlier driver had only one.
    pub(crate) fn provider(&self) -> ProviderKind {
        self.text("provider").parse().unwrap_or_default()
    }

    /// The folder in the box that is kept in step with one here.
    pub(crate) fn sync_remote(&self) -> &str {
        self.text("sync_remote")
    }

    /// The process of this machine that keeps a folder in step, and the time at which it was started, where that is on
    /// record.
    pub(crate) fn sync(&self) -> Option<(i32, Option<u64>)> {
        Some((self.text("sync_pid").parse().ok()?, self.text("sync_started").parse().ok()))
    }

    /// Remembers a fork.
    pub(crate) fn add_fork(&mut self, id: &BoxId) {
        let known = self.text("fork_ids").to_owned();
        self.set("fork_ids", format!("{known} {id}").trim().to_owned());
    }

    /// Forgets a fork.
    pub(crate) fn drop_fork(&mut self, id: &BoxId) {
        let left: Vec<String> =
            self.forks().into_iter().filter(|fork| fork != id).map(|fork| fork.to_string()).collect();
        self.set("fork_ids", left.join(" "));
    }

    /// Its forks.
    pub(crate) fn forks(&self) -> Vec<BoxId> {
        self.text("fork_ids").split_whitespace().filter_map(|id| id.parse().ok()).collect()
    }
}

impl StateFolder {
    fn project(&self, key: &str) -> PathBuf {
        self.path().join(format!("{key}.json"))
    }

    /// The record of a project's box; `None` when there is none.
    ///
    /// # Errors
    /// It cannot be read. One that is damaged is moved aside: that is no proof that there is no box.
    pub(crate) fn project_box(&self, key: &str) -> Result<Option<ProjectBox>> {
        let path = self.project(key);
        let Some(bytes) = read_if_there(&path)? else { return Ok(None) };
        match serde_json::from_slice(&bytes) {
            Ok(members) => Ok(Some(ProjectBox { members })),
            Err(error) => {
                let aside = (1..).map(|number| path.with_extension(format!("json.damaged-{number}")));
                let aside = aside.into_iter().find(|aside| !aside.exists()).expect("there is always another");
                std::fs::rename(&path, &aside).at("move aside", &path)?;
                Err(Error::failed(format!(
                    "{}:{}:{}: the record of this project's box cannot be read: {error}",
                    path.display(),
                    error.line(),
                    error.column()
                ))
                .fact("moved to", aside.display().to_string())
                .help(format!(
                    "its box may be there, as cos-proj-{key}: look for it before you make another"
                )))
            }
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn keep_project_box(&self, key: &str, record: &ProjectBox) -> Result<()> {
        self.make("")?;
        let mut bytes = serde_json::to_vec_pretty(&record.members).expect("a record has text keys");
        bytes.push(b'\n');
        write_atomic(&self.project(key), &bytes, Mode::Private)
    }

    /// Forgets it: the box is gone, or was never ours.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn forget_project_box(&self, key: &str) -> Result<()> {
        let path = self.project(key);
        std::fs::remove_file(&path).if_there().at("remove", &path).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_the_earlier_driver_is_read_and_what_it_has_more_is_kept() {
        let record: ProjectBox = ProjectBox {
            members: serde_json::from_str(
                r#"{"id":"sb-01ARZ3NDEKTSV4RRFFQ69G5FAV","name":"cos-proj-0123456789ab","shape":"s-2vcpu-2gb","owned":"0",
                   "sync_pid":"","fork_ids":"sb-1 sb-2","cluster_net":"x","extra":"kept"}"#,
            )
            .unwrap(),
        };
        assert_eq!(record.id().unwrap().as_str(), "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV");
        assert_eq!(record.name().unwrap().as_str(), "cos-proj-0123456789ab");
        assert!(!record.is_owned());
        assert_eq!((record.provider(), record.forks().len()), (ProviderKind::Createos, 2));
        assert!(ProjectBox::default().is_owned());
        let mut changed = record.clone();
        changed.set("owned", "1");
        assert_eq!(changed.text("extra"), "kept");
    }
}
