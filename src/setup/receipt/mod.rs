//! What setup did, written before the first change and completed after the last, so that a run that was
//! killed can be finished or undone. Later setups add to the first one's receipt: undo takes all back.

pub(super) mod disk;
mod plugin_state;

pub(crate) use plugin_state::PluginState;

use crate::fs::Digest;
use crate::keys::{Added, Patch};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub(crate) const VERSION: u32 = 1;

/// What setup did to Herdr.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receipt {
    pub(crate) schema_version: u32,
    /// Whether every change was made.
    pub(crate) state: Progress,
    /// Users' files that were written.
    #[serde(default)]
    pub(crate) files: Vec<FileReceipt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plugin: Option<PluginReceipt>,
    /// The bindings that were added, by each setup that added some.
    #[serde(default)]
    pub(crate) keys: Vec<KeysReceipt>,
    /// Herdr's configuration folder, absolute; absent in the receipts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) herdr_config: Option<PathBuf>,
    /// Edits that turned Herdr's notices on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notices: Vec<NoticesReceipt>,
    /// A copy of a program that a build may have replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<ProgramReceipt>,
    /// Folders that setup made, in that order.
    #[serde(default)]
    pub(crate) folders: Vec<PathBuf>,
}

/// Whether a setup came to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Progress {
    /// It was begun.
    #[default]
    Applying,
    /// It was completed.
    Complete,
}

/// A user's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileReceipt {
    pub(crate) what: UserFile,
    /// As its program reads it.
    pub(crate) path: PathBuf,
    /// What it was before the first setup; none when it did not exist. The bytes are beside the receipt.
    pub(crate) original: Option<Digest>,
    /// What setups left, the last one at the end.
    pub(crate) left: Vec<Digest>,
    /// Another program or person wrote it between two setups, so undo may not give back the original.
    #[serde(default)]
    pub(crate) edited_between: bool,
}

/// Bindings that a setup added to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeysReceipt {
    /// The file, as Herdr reads it; absent in the receipts of earlier versions, which may mean any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) added: Added,
}

impl KeysReceipt {
    /// Whether the bindings may be in the file at `path`.
    pub(crate) fn may_be_in(&self, path: &Path) -> bool {
        self.path.as_deref().is_none_or(|known| known == path)
    }
}

/// An edit of a file that turned Herdr's notices on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NoticesReceipt {
    /// The file, as Herdr reads it.
    pub(crate) path: PathBuf,
    #[serde(flatten)]
    pub(crate) patch: Patch,
}

/// The users' files that setup writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UserFile {
    /// The plugin's `config.json`.
    Config,
    /// Herdr's `config.toml`.
    Keys,
}

/// The registration before the first setup and after the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PluginReceipt {
    pub(crate) original: PluginState,
    pub(crate) left: PluginState,
    /// The commit of the original, where it was installed from GitHub; absent in the receipts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

impl PluginReceipt {
    /// The original as it is to be had again: where no ref was asked for, its commit, since what is newest may have
    /// moved on.
    pub(crate) fn again(&self) -> PluginState {
        let mut again = self.original.clone();
        if let PluginState::Github { source, .. } = &mut again {
            source.reference = source.reference.take().or_else(|| self.commit.clone());
        }
        again
    }
}

/// A program before a build ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramReceipt {
    pub(crate) path: PathBuf,
    /// Its bytes, beside the receipt.
    pub(crate) original: Digest,
}

impl Receipt {
    /// The hashes under which originals, and what setups left, are kept beside it.
    pub(crate) fn digests(&self) -> Vec<Digest> {
        let files = self.files.iter().flat_map(|file| file.original.iter().chain(&file.left));
        files.chain(self.program.iter().map(|program| &program.original)).copied().collect()
    }

    /// Notes that a file is going to be changed from `before` to `after`. The first original stays.
    pub(crate) fn note_file(&mut self, what: UserFile, path: &Path, before: Option<Digest>, after: Digest) {
        let is_it = |file: &&mut FileReceipt| file.what == what && file.path == path;
        let Some(known) = self.files.iter_mut().find(is_it) else {
            self.files.push(FileReceipt {
                what,
                path: path.into(),
                original: before,
                left: vec![after],
                edited_between: false,
            });
            return;
        };
        let ours = before == known.original || before.is_some_and(|before| known.left.contains(&before));
        known.edited_between |= !ours;
        known.left.retain(|left| *left != after);
        known.left.push(after);
    }

    /// Notes that the registration is going to change. The first original stays, unless another plugin was
    /// put in place of the one that we left: then an undo gives that one back.
    pub(crate) fn note_plugin(&mut self, from: &PluginState, to: &PluginState, commit: Option<&str>) {
        let commit = commit.map(str::to_owned);
        match &mut self.plugin {
            Some(known) => {
                if *from != PluginState::Absent && !from.is_at(&known.left) {
                    known.original = from.clone();
                    known.commit = commit;
                }
                known.left = to.clone();
            }
            none => {
                *none = Some(PluginReceipt { original: from.clone(), left: to.clone(), commit });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::digest;
    use crate::herdr::GithubSource;

    fn hash(text: &str) -> Digest {
        digest(text.as_bytes())
    }

    #[test]
    fn a_second_setup_keeps_the_first_original() {
        let mut receipt = Receipt::default();
        let path = Path::new("/c");
        receipt.note_file(UserFile::Keys, path, Some(hash("original")), hash("first"));
        receipt.note_file(UserFile::Keys, path, Some(hash("first")), hash("second"));
        let file = receipt.files[0].clone();
        assert_eq!((file.original, file.edited_between), (Some(hash("original")), false));
        assert_eq!(file.left, [hash("first"), hash("second")]);
        receipt.note_file(UserFile::Keys, path, Some(hash("by the user")), hash("third"));
        assert!(receipt.files[0].edited_between);
    }

    #[test]
    fn a_run_that_was_killed_before_its_write_is_no_edit() {
        let mut receipt = Receipt::default();
        receipt.note_file(UserFile::Config, Path::new("/c"), None, hash("first"));
        receipt.note_file(UserFile::Config, Path::new("/c"), None, hash("first"));
        assert!(!receipt.files[0].edited_between);
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let source = GithubSource { repository: "o/r".into(), reference: Some("v1".into()) };
        let mut receipt = Receipt::default();
        let from = PluginState::Github { source, enabled: false };
        receipt.note_plugin(&from, &PluginState::Absent, None);
        receipt.note_file(UserFile::Keys, Path::new("/c"), None, hash("x"));
        let text = serde_json::to_string(&receipt).unwrap();
        assert_eq!(serde_json::from_str::<Receipt>(&text).unwrap(), receipt);
        assert!(text.contains(r#""kind":"github","repository":"o/r","reference":"v1""#), "{text}");
    }
}
