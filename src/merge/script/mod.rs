//! The scripts that run in the box, and how their answers are read.

use super::{Remote, Response};
use crate::command;
use crate::config::RemoteRoot;
use crate::error::{Error, Result};
use crate::exec::Heard;
use crate::fs::Digest;
use crate::worktree::Base;

const PRELUDE: &str = include_str!("prelude.sh");
/// How an answer's line starts; whatever else a login shell prints is not ours.
const MARK: &str = "createos-sandbox: ";

/// One of the scripts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Script {
    /// Unpacks the upload and makes the baseline.
    Prepare,
    /// Lists and packs what differs from the base.
    List,
    /// Packs contents of the base.
    Contents,
    /// Keeps what came home as the base's contents.
    Keep,
    /// Looks whether paths are gone from the disk.
    Gone,
    /// Looks for work that is not in the checked-out tree.
    Elsewhere,
    /// Finds what a box was started from whose base is not recorded here.
    Adopt,
}

impl Script {
    fn text(self) -> String {
        let own = match self {
            Self::Prepare => include_str!("prepare.sh"),
            Self::List => include_str!("list.sh"),
            Self::Contents => include_str!("contents.sh"),
            Self::Keep => include_str!("keep.sh"),
            Self::Gone => include_str!("gone.sh"),
            Self::Elsewhere => include_str!("elsewhere.sh"),
            Self::Adopt => include_str!("adopt.sh"),
        };
        format!("{PRELUDE}\n{own}")
    }
}

/// Why a script stopped, in its own word, with a detail from the box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) why: String,
    pub(super) detail: String,
}

/// A script's marked lines.
#[derive(Debug, Default)]
pub(super) struct Said(Vec<(String, String)>);

impl Said {
    /// The last value said for `key`.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(said, _)| said == key).map(|(_, value)| value.as_str())
    }

    /// Every value said for `key`, in order.
    pub(super) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(said, _)| said == key).map(|(_, value)| value.as_str())
    }

    /// The last value said for `key`, as a number.
    pub(super) fn number(&self, key: &str) -> Option<usize> {
        self.get(key)?.parse().ok()
    }

    fn parse(stdout: &str) -> Self {
        let marked = stdout.lines().filter_map(|line| line.strip_prefix(MARK)?.split_once('='));
        Self(marked.map(|(key, value)| (key.to_owned(), value.trim_end().to_owned())).collect())
    }
}

/// Runs a script on the workspace `root`. The outer error is the provider's; the inner one the script's.
pub(super) fn run(
    remote: &mut dyn Remote,
    script: Script,
    root: &RemoteRoot,
    args: &[&str],
) -> Result<Result<Said, Stop>> {
    let answer = remote.exec(&script.text(), &with_root(root, args))?;
    read(&answer)
}

/// The same for a script that may take minutes. `progress` gets how far it says it is.
pub(super) fn run_long(
    remote: &mut dyn Remote,
    script: Script,
    root: &RemoteRoot,
    args: &[&str],
    progress: &mut dyn FnMut(&str),
) -> Result<Result<Said, Stop>> {
    let mut line = Vec::new();
    let answer = remote.exec_long(&script.text(), &with_root(root, args), &mut |heard| match heard {
        Heard::Lost => progress("the connection is lost, trying again …"),
        Heard::Output(bytes) => {
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(piece);
                if piece.ends_with(b"\n") {
                    let said = Said::parse(&String::from_utf8_lossy(&line));
                    said.get("progress").into_iter().for_each(&mut *progress);
                    line.clear();
                }
            }
        }
    })?;
    read(&answer)
}

fn with_root<'a>(root: &'a RemoteRoot, args: &[&'a str]) -> Vec<&'a str> {
    [&[root.as_str()], args].concat()
}

fn read(answer: &Response) -> Result<Result<Said, Stop>> {
    let said = Said::parse(&answer.stdout);
    if let Some(why) = said.get("stop") {
        let detail = said.get("detail").unwrap_or_default().to_owned();
        return Ok(Err(Stop { why: why.to_owned(), detail }));
    }
    if answer.code == 0 {
        return Ok(Ok(said));
    }
    let printed = if answer.stderr.trim().is_empty() { &answer.stdout } else { &answer.stderr };
    let last = printed.trim().lines().last().unwrap_or_default();
    Err(Error::failed(format!("a script in the box ended with code {}", answer.code)).fact("it said", last))
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        let Stop { why, detail } = stop;
        match why.as_str() {
            "missing" => Self::failed(format!("{detail} is missing in the box"))
                .help("use an image (rootfs) that has bash, git, GNU tar and GNU coreutils"),
            "occupied" => Self::failed(format!("{detail} in the box is not empty"))
                .help("choose another remoteRoot, or an image whose workspace is empty"),
            "folder" => Self::failed(format!("{detail} cannot be used in the box"))
                .help("choose a remoteRoot that the box's user may write"),
            "archive" => Self::failed("the uploaded archive is not in the box").fact("expected at", detail),
            "list" => Self::failed("the base list did not arrive in the box").fact("expected at", detail),
            "unpack" => Self::failed("the box could not unpack the upload").fact("tar said", detail),
            "repository" => {
                Self::failed("the box could not make the baseline commit").fact("git said", detail)
            }
            "gone" => Self::failed(format!("the workspace {detail} is gone from the box")).help(format!(
                "nothing was changed here; look into the box with: {}",
                command::action("attach")
            )),
            "workspace" => Self::failed(format!("the workspace of the box is not at {detail}")),
            "listing" => Self::failed("the box could not list its workspace").fact("git said", detail),
            "unreadable" => Self::failed("the box's user cannot read a part of the workspace")
                .fact("the box said", detail),
            "large" | "packed" => {
                let size = detail.parse().map_or(detail, crate::ui::bytes);
                let all =
                    if why == "large" { format!(": {size}") } else { format!(" at once: {size}, packed") };
                Self::failed(format!("the changes in the box are too large to bring home{all}"))
                    .help("remove large files in the box, or have its .gitignore name them")
            }
            "pack" => Self::failed("the box could not pack its changes").fact("it said", detail),
            _ => Self::failed(format!("the box stopped: {why}")).fact("detail", detail),
        }
    }
}

/// A name that nobody else uses: 16 hex digits.
pub(super) fn token() -> String {
    crate::random::hex(16)
}

/// A base list as it travels, and its hash.
pub(super) fn packed(base: &Base) -> (Vec<u8>, Digest) {
    let mut bytes = Vec::new();
    base.write(&mut bytes).expect("writing to memory does not fail");
    let hash = crate::fs::digest(&bytes);
    (bytes, hash)
}

/// A path that the box says it wrote, judged: absolute, plain, and only ever used in the box again.
pub(super) fn box_path(said: &Said, key: &str) -> Result<String> {
    let path = said.get(key).unwrap_or_default();
    let plain = path.starts_with('/') && path.len() < 4096 && !path.chars().any(char::is_control);
    if !plain || path.split('/').any(|part| part == "..") {
        return Err(super::lying(format!("it says that its {key} is at \"{path}\"")));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_lines_count_and_the_last_one_wins() {
        let said = Said::parse("motd\ncreateos-sandbox: store=/a\nx=1\ncreateos-sandbox: store=/b\r\n");
        assert_eq!(said.get("store"), Some("/b"));
        assert_eq!(said.get("x"), None);
    }

    #[test]
    fn a_path_of_the_box_must_be_plain_and_absolute() {
        for bad in ["parcel=", "parcel=x", "parcel=/a/../b", "parcel=/a\u{1b}[2J"] {
            assert!(box_path(&Said::parse(&format!("{MARK}{bad}")), "parcel").is_err(), "{bad}");
        }
        assert_eq!(box_path(&Said::parse(&format!("{MARK}parcel=/a/b.tgz")), "parcel").unwrap(), "/a/b.tgz");
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(token(), token());
    }
}
