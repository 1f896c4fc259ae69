//! `.createos-sandbox.toml` at the top of a worktree: what a team says that its project needs. It is the repository's
//! word, so it counts only after the user's yes to exactly this content.

use super::{Agent, Rootfs, Settings, Shape};
use crate::error::{Error, IoContext, Result};
use crate::fs::{IfThere, digest, read_regular};
use std::path::Path;
use std::str::FromStr;
use toml_edit::{ImDocument, Item};

/// The file's name.
pub(crate) const PROJECT: &str = ".createos-sandbox.toml";
/// A larger file is a mistake, in bytes.
const LARGEST: usize = 64 * 1024;
/// More commands are a mistake.
const MOST: usize = 50;

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) agent: Option<Agent>,
    pub(crate) shape: Option<Shape>,
    pub(crate) rootfs: Option<Rootfs>,
    /// A folder below the worktree in which the agent starts.
    pub(crate) cwd: Option<String>,
    /// Commands for a new box.
    pub(crate) on_create: Vec<String>,
    /// Commands for a box that was resumed.
    pub(crate) on_resume: Vec<String>,
    /// Of exactly this content.
    pub(crate) hash: String,
}

impl Project {
    /// That of the worktree with this top folder; `None` without one.
    ///
    /// # Errors
    /// It cannot be read, or has something that is not known; with file, line and column.
    pub(crate) fn read(root: &Path) -> Result<Option<Self>> {
        let path = root.join(PROJECT);
        let Some(bytes) = read_regular(&path).if_there().at("read", &path)? else { return Ok(None) };
        let parsed = Self::parse(&bytes).map_err(|(at, why)| {
            let before = &bytes[..at.min(bytes.len())];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
            Error::usage(format!("{}:{line}:{column}: {why}", path.display()))
                .help("correct the file, or take it away")
        });
        parsed.map(Some)
    }

    /// With the place of what is wrong, in bytes from the beginning.
    fn parse(bytes: &[u8]) -> Result<Self, (usize, String)> {
        if bytes.len() > LARGEST {
            return Err((0, format!("it is larger than {LARGEST} bytes")));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|bad| (bad.valid_up_to(), "it is no text".to_owned()))?;
        let document = ImDocument::parse(text)
            .map_err(|bad| (bad.span().map_or(0, |span| span.start), bad.message().to_owned()))?;
        let mut project = Self { hash: digest(bytes).to_string(), ..Self::default() };
        let table = document.as_table();
        for (name, item) in table {
            let key = table.key(name).and_then(toml_edit::Key::span);
            let at = item.span().or(key.clone()).map_or(0, |span| span.start);
            let wrong = |why: String| (at, format!("\"{name}\": {why}"));
            match name {
                "agent" => project.agent = Some(one(item).map_err(wrong)?),
                "shape" => project.shape = Some(one(item).map_err(wrong)?),
                "rootfs" => project.rootfs = Some(one(item).map_err(wrong)?),
                "cwd" => project.cwd = Some(folder(item).map_err(wrong)?),
                "onCreate" => project.on_create = commands(item).map_err(wrong)?,
                "onResume" => project.on_resume = commands(item).map_err(wrong)?,
                unknown => {
                    let at = key.map_or(at, |span| span.start);
                    let known = ["agent", "shape", "rootfs", "cwd", "onCreate", "onResume"];
                    let near = super::nearest(unknown, &known);
                    let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
                    return Err((at, format!("unknown key \"{unknown}\"{near}")));
                }
            }
        }
        Ok(project)
    }
}

fn text(item: &Item) -> Result<&str, String> {
    item.as_str().ok_or_else(|| "expected a text".to_owned())
}

fn one<T: FromStr<Err = Error>>(item: &Item) -> Result<T, String> {
    text(item)?.parse().map_err(|error: Error| error.message().to_owned())
}

/// A relative path without `..`; that it leads nowhere else is seen when links are resolved.
fn folder(item: &Item) -> Result<String, String> {
    let text = text(item)?.trim_end_matches('/');
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
    if text.split('/').all(plain) {
        Ok(text.to_owned())
    } else {
        Err("expected a folder below the worktree".into())
    }
}

fn commands(item: &Item) -> Result<Vec<String>, String> {
    let wrong = || "expected a list of commands".to_owned();
    let list = item.as_array().ok_or_else(wrong)?;
    if list.len() > MOST {
        return Err(format!("more than {MOST} commands"));
    }
    list.iter()
        .map(|value| {
            let text = value.as_str().ok_or_else(wrong)?;
            super::judged_arg(text).map(str::to_owned)
        })
        .collect()
}

impl Project {
    /// The settings that it gives where the user's own say nothing.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            agent: self.agent,
            shape: self.shape.clone(),
            rootfs: self.rootfs.clone(),
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(PROJECT), text).unwrap();
        let error = Project::read(dir.path()).unwrap_err();
        error.message().rsplit_once("toml:").unwrap().1.to_owned()
    }

    #[test]
    fn what_a_team_says_is_read_and_tied_to_its_content() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Project::read(dir.path()).unwrap(), None);
        let text =
            "agent = \"codex\"\nshape = \"s-4vcpu-8gb\"\ncwd = \"web/app/\"\nonCreate = [\"npm ci\"]\n";
        std::fs::write(dir.path().join(PROJECT), text).unwrap();
        let project = Project::read(dir.path()).unwrap().unwrap();
        assert_eq!(project.agent, Some("codex".parse().unwrap()));
        assert_eq!(
            (project.cwd.as_deref(), &project.on_create[..]),
            (Some("web/app"), &["npm ci".to_owned()][..])
        );
        assert!(project.on_resume.is_empty() && project.rootfs.is_none());
        assert_eq!(project.settings().shape.unwrap().as_str(), "s-4vcpu-8gb");
        std::fs::write(dir.path().join(PROJECT), format!("{text}# changed\n")).unwrap();
        assert_ne!(Project::read(dir.path()).unwrap().unwrap().hash, project.hash);
    }

    #[test]
    fn what_it_may_not_say_is_an_error_with_its_place() {
        for (text, told) in [
            (
                "agent = \"codex\"\nonCraete = []\n",
                "2:1: unknown key \"onCraete\"; did you mean \"onCreate\"?",
            ),
            ("\negress = [\"a.com\"]\n", "2:1: unknown key \"egress\""),
            ("unattended = true", "1:1: unknown key \"unattended\""),
            ("agent = 7", "1:9: \"agent\": expected a text"),
            ("rootfs = \"/etc\"", "1:10: \"rootfs\": rootfs \"/etc\" is not an image name"),
            ("cwd = \"../x\"", "1:7: \"cwd\": expected a folder below the worktree"),
            ("onCreate = \"npm ci\"", "1:12: \"onCreate\": expected a list of commands"),
        ] {
            assert_eq!(bad(text), told);
        }
        assert!(bad("agent = ").starts_with("1:"), "{}", bad("agent = "));
    }
}
