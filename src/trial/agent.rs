//! The agent of a try: a shell on a PTY in the box, to which an edit and a commit are typed.

use super::stage::Interrupt;
use crate::config::RemoteRoot;
use crate::createos::{BoxId, Provider, StartSpec};
use crate::error::{Error, Result};
use crate::worktree::{Base, FileKind, RelPath};
use std::time::Duration;

/// The file that the agent edits or makes.
pub(super) const EDITED: &str = "greeting.txt";
/// The line that it adds.
pub(super) const LINE: &str = "Hello from inside the box.";
/// How long the whole conversation may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Endings of files that are lines of text, most of the time.
const TEXT: [&str; 12] =
    [".md", ".txt", ".rs", ".go", ".py", ".js", ".ts", ".c", ".java", ".rb", ".sh", ".toml"];

/// The file to edit: one that came with the upload, so that no ignore rule of the worktree keeps the edit
/// in the box; a new one where none is fit.
pub(super) fn edited(base: &Base, made_up: bool) -> String {
    let files = base.iter().filter(|(_, entry)| entry.kind == FileKind::File && !made_up);
    files.filter_map(|(path, _)| plain(path)).next().unwrap_or(EDITED).into()
}

/// A path that can be typed as it is, of a text file that is not hidden.
fn plain(path: &RelPath) -> Option<&str> {
    let text = std::str::from_utf8(path.as_bytes()).ok()?;
    let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
    let shown = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && !text.contains("/.");
    (letters && shown && TEXT.iter().any(|end| text.ends_with(end))).then_some(text)
}

/// Starts a shell on a PTY in the workspace, attaches to it, and types as an agent would: an edit,
/// a commit, the end. The keys go through the terminal, not through `exec`.
///
/// # Errors
/// The provider refuses, or the shell did not say that the commit was made.
pub(super) fn work(
    provider: &Provider,
    id: &BoxId,
    root: &RemoteRoot,
    edited: &str,
    interrupt: &Interrupt,
) -> Result<()> {
    let (cwd, args) = (root.to_string(), vec!["--norc".into()]);
    let (folder, variables) = (cwd.clone(), Vec::new());
    let spec = StartSpec { cwd, folder, variables, rows: 24, cols: 80, program: "/bin/bash".into(), args };
    let shell = provider.process_start(id, &spec)?;
    interrupt.check()?;
    let typed = format!(
        "printf '%s\\n' '{LINE}' >> {edited}\n\
         git add --force {edited}\n\
         git commit --quiet --message 'Say hello from the box' && echo committed $((40 + 2))\n\
         exit\n"
    );
    let shown = provider.attach_typing(id, &shell.id, typed, PATIENCE)?;
    if shown.contains("committed 42") {
        Ok(())
    } else {
        Err(Error::failed("the shell in the box did not commit").fact("it showed", shown.trim()))
    }
}
