//! What setup did, written before the first change and completed after the last, so that a run that was
//! killed can be finished or undone. Later setups add to the first one's receipt: undo takes all back.

pub(super) mod way;

use crate::command;
use crate::error::{Error, IoContext, Result};
use crate::fs::{Digest, Mode, digest, kill_point, stage, write_atomic};
use crate::herdr::{GithubSource, Source};
use crate::keys::{Added, Patch};
use crate::paths::{PLUGIN_ID, Paths};
use crate::setup::change::PluginChange;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The version of the format that we write.
const VERSION: u32 = 1;

/// The file's name in the folder of receipts.
pub(in crate::setup) const NAME: &str = "herdr.json";

/// What setup did to Herdr.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receipt {
    /// The version of this format.
    pub(crate) schema_version: u32,
    /// Whether every change was made.
    pub(crate) state: State,
    /// Users' files that were written.
    #[serde(default)]
    pub(crate) files: Vec<FileReceipt>,
    /// The plugin's registration.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It was begun.
    Applying,
    /// It was completed.
    Complete,
}

/// A user's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileReceipt {
    /// Which one.
    pub(crate) what: What,
    /// As its program reads it.
    pub(crate) path: PathBuf,
    /// What it was before the first setup; none when it did not exist. The bytes are beside the receipt.
    pub(crate) original: Option<Digest>,
    /// What setups left, the last one at the end.
    pub(crate) left: Vec<Digest>,
    /// Somebody else wrote it between two setups, so that the original is not what undo may give back.
    #[serde(default)]
    pub(crate) edited_between: bool,
}

/// Bindings that a setup added to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeysReceipt {
    /// The file, as Herdr reads it; absent in the receipts of earlier versions, which may mean any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    /// The bindings.
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
    /// The edit.
    #[serde(flatten)]
    pub(crate) patch: Patch,
}

/// The users' files that setup writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// The plugin's `config.json`.
    Config,
    /// Herdr's `config.toml`.
    Keys,
}

/// The registration before the first setup and after the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PluginReceipt {
    /// Before.
    pub(crate) original: PluginState,
    /// After.
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

/// How a plugin is registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub(crate) enum PluginState {
    /// Not at all.
    Absent,
    /// A linked folder.
    Linked {
        /// The folder.
        root: PathBuf,
        /// Whether it runs.
        enabled: bool,
    },
    /// Installed from GitHub.
    Github {
        /// From where.
        #[serde(flatten)]
        source: GithubSource,
        /// Whether it runs.
        enabled: bool,
    },
}

/// A program before a build ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramReceipt {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its bytes, beside the receipt.
    pub(crate) original: Digest,
}

impl PluginState {
    /// As the registry has it.
    pub(crate) fn of(plugin: Option<&crate::herdr::Plugin>) -> Self {
        match plugin {
            None => Self::Absent,
            Some(plugin) => match plugin.source() {
                Source::Linked => Self::Linked { root: plugin.root.clone(), enabled: plugin.enabled },
                Source::Github(source) => Self::Github { source, enabled: plugin.enabled },
            },
        }
    }
}

impl PluginState {
    /// Whether two registrations are of the same place, enabled or not. The registry has real paths.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Linked { root: one, .. }, Self::Linked { root: other, .. }) => {
                let real = |path: &Path| path.canonicalize().unwrap_or_else(|_is_gone| path.to_path_buf());
                one == other || real(one) == real(other)
            }
            (Self::Github { source: one, .. }, Self::Github { source: other, .. }) => one == other,
            _ => self == other,
        }
    }

    /// Whether Herdr runs it; what is not there counts as enabled, since it was never switched off.
    pub(crate) fn enabled(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Linked { enabled, .. } | Self::Github { enabled, .. } => *enabled,
        }
    }
}

impl PluginState {
    /// What a person types to bring the registration there.
    pub(crate) fn command(&self) -> String {
        match self {
            Self::Absent => command::herdr(["plugin", "uninstall", PLUGIN_ID]).into(),
            Self::Linked { root, enabled } => {
                let link = command::herdr(["plugin", "link"]).path(root);
                if *enabled { link.into() } else { link.flag("--disabled").into() }
            }
            Self::Github { source, enabled } => {
                let install = command::herdr(["plugin", "install", &source.repository]);
                let reference = source.reference.iter();
                let install = reference.fold(install, |install, name| install.with("--ref", name));
                match enabled {
                    true => install.into(),
                    false => format!("{install} && {}", command::herdr(["plugin", "disable", PLUGIN_ID])),
                }
            }
        }
    }
}

impl fmt::Display for PluginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disabled = |enabled: &bool| if *enabled { "" } else { ", disabled" };
        match self {
            Self::Absent => f.write_str("not installed"),
            Self::Linked { root, enabled } => {
                write!(f, "linked from {}{}", root.display(), disabled(enabled))
            }
            Self::Github { source, enabled } => write!(f, "installed from {source}{}", disabled(enabled)),
        }
    }
}

impl Default for Receipt {
    fn default() -> Self {
        Self {
            schema_version: VERSION,
            state: State::Applying,
            files: Vec::new(),
            plugin: None,
            keys: Vec::new(),
            herdr_config: None,
            notices: Vec::new(),
            program: None,
            folders: Vec::new(),
        }
    }
}

impl Receipt {
    /// The receipt of Herdr's setup; none when there was none, or when it was undone.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or a newer version of this program wrote it.
    pub(crate) fn read(paths: &Paths) -> Result<Option<Self>> {
        let path = file(paths);
        let bytes = match crate::fs::read_regular(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path, &error)),
        };
        let damaged = |reason: String| {
            Error::failed(format!("the receipt {} is damaged: {reason}", path.display()))
                .help("the originals are beside it; move the file away to set up without it")
        };
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if value["schemaVersion"].as_u64().is_some_and(|version| version > u64::from(VERSION)) {
            return Err(Error::cannot_run(format!("a newer createos-sandbox wrote {}", path.display()))
                .help("update createos-sandbox and try again"));
        }
        serde_json::from_value(value).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Writes it.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub(crate) fn write(&self, paths: &Paths) -> Result<()> {
        make_private(&paths.receipts())?;
        self.write_in(&paths.receipts())
    }

    /// Writes it together with the folders on the way to it that are `missing`, the outermost first: all of them are
    /// there at once, so that a run that is killed never leaves a folder that no receipt knows of.
    ///
    /// # Errors
    /// The folders or the file cannot be made.
    pub(crate) fn write_with(&self, missing: &[PathBuf], paths: &Paths) -> Result<()> {
        let (Some(outermost), Some(receipts)) = (missing.first(), missing.last()) else {
            return self.write(paths);
        };
        let (Some(base), Some(name)) = (outermost.parent(), outermost.file_name()) else {
            return self.write(paths);
        };
        let refused = |error: std::io::Error| Error::io("create the folder", outermost, &error);
        let staged = stage(base).map_err(|error| error.fact("to create", outermost.display().to_string()))?;
        kill_point();
        let inner = staged.path().join(name);
        for folder in missing {
            let rest = folder.strip_prefix(outermost).unwrap_or(Path::new(""));
            let mode = if folder == receipts { 0o700 } else { 0o755 };
            std::fs::DirBuilder::new().mode(mode).create(inner.join(rest)).map_err(refused)?;
        }
        self.write_in(&inner.join(receipts.strip_prefix(outermost).unwrap_or(Path::new(""))))?;
        std::fs::rename(&inner, outermost).map_err(refused)?;
        kill_point();
        std::fs::File::open(base).and_then(|base| base.sync_all()).at("sync", base)
    }

    fn write_in(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::failed(format!("the receipt cannot be written: {error}")))?;
        write_atomic(&folder.join(NAME), format!("{text}\n").as_bytes(), Mode::Private)
    }

    /// The hashes under which originals, and what setups left, are kept beside it.
    pub(crate) fn digests(&self) -> Vec<Digest> {
        let files = self.files.iter().flat_map(|file| file.original.iter().chain(&file.left));
        files.chain(self.program.iter().map(|program| &program.original)).copied().collect()
    }

    /// Notes that a file is going to be changed from `before` to `after`. The first original stays.
    pub(crate) fn note_file(&mut self, what: What, path: &Path, before: Option<Digest>, after: Digest) {
        let position = self.files.iter().position(|file| file.what == what && file.path == path);
        let Some(known) = position.map(|index| &mut self.files[index]) else {
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

    /// Notes that the registration is going to change. The first original stays, unless somebody has put another
    /// plugin in place of the one that we left: that is what an undo gives back then.
    pub(crate) fn note_plugin(&mut self, change: &PluginChange) {
        let PluginChange { from, to, commit } = change;
        match &mut self.plugin {
            Some(known) => {
                if *from != PluginState::Absent && !from.is_at(&known.left) {
                    known.original = from.clone();
                    known.commit = commit.clone();
                }
                known.left = to.clone();
            }
            none => {
                let (original, left, commit) = (from.clone(), to.clone(), commit.clone());
                *none = Some(PluginReceipt { original, left, commit });
            }
        }
    }
}

/// Keeps the bytes of an original beside the receipt.
///
/// # Errors
/// The folder or the file cannot be written.
pub(crate) fn keep_original(paths: &Paths, bytes: &[u8]) -> Result<Digest> {
    let digest = digest(bytes);
    let folder = originals(paths);
    make_private(&folder)?;
    let path = folder.join(digest.to_string());
    if !path.exists() {
        write_atomic(&path, bytes, Mode::Private)?;
    }
    Ok(digest)
}

/// The bytes of an original.
///
/// # Errors
/// They are gone, or are not the ones that were kept.
pub(crate) fn original(paths: &Paths, wanted: Digest) -> Result<Vec<u8>> {
    let path = originals(paths).join(wanted.to_string());
    let bytes = crate::fs::read_regular(&path).at("read", &path)?;
    if digest(&bytes) == wanted {
        return Ok(bytes);
    }
    Err(Error::failed(format!("{} is not what was kept there", path.display())))
}

/// The receipt itself.
pub(in crate::setup) fn file(paths: &Paths) -> PathBuf {
    paths.receipts().join(NAME)
}

/// The folder of the originals.
pub(in crate::setup) fn originals(paths: &Paths) -> PathBuf {
    paths.receipts().join("originals")
}

fn make_private(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder).at("create the folder", folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> Digest {
        digest(text.as_bytes())
    }

    #[test]
    fn a_second_setup_keeps_the_first_original() {
        let mut receipt = Receipt::default();
        let path = Path::new("/c");
        receipt.note_file(What::Keys, path, Some(hash("original")), hash("first"));
        receipt.note_file(What::Keys, path, Some(hash("first")), hash("second"));
        let file = receipt.files[0].clone();
        assert_eq!((file.original, file.edited_between), (Some(hash("original")), false));
        assert_eq!(file.left, [hash("first"), hash("second")]);
        receipt.note_file(What::Keys, path, Some(hash("by the user")), hash("third"));
        assert!(receipt.files[0].edited_between);
    }

    #[test]
    fn a_run_that_was_killed_before_its_write_is_no_edit() {
        let mut receipt = Receipt::default();
        receipt.note_file(What::Config, Path::new("/c"), None, hash("first"));
        receipt.note_file(What::Config, Path::new("/c"), None, hash("first"));
        assert!(!receipt.files[0].edited_between);
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let source = GithubSource { repository: "o/r".into(), reference: Some("v1".into()) };
        let mut receipt = Receipt::default();
        let from = PluginState::Github { source, enabled: false };
        receipt.note_plugin(&PluginChange { from, to: PluginState::Absent, commit: None });
        receipt.note_file(What::Keys, Path::new("/c"), None, hash("x"));
        let text = serde_json::to_string(&receipt).unwrap();
        assert_eq!(serde_json::from_str::<Receipt>(&text).unwrap(), receipt);
        assert!(text.contains(r#""kind":"github","repository":"o/r","reference":"v1""#), "{text}");
    }
}
