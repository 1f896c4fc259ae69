//! The agent of a try: a shell on a PTY in the box, to which an edit and a commit are typed.

use super::stage::Interrupt;
use crate::config::RemoteRoot;
use crate::createos::{BoxId, Provider, StartSpec};
use crate::error::{Error, Result};
use std::time::Duration;

/// The file that the agent edits or makes.
pub(super) const EDITED: &str = "greeting.txt";
/// The line that it adds.
pub(super) const LINE: &str = "Hello from inside the box.";
/// How long the whole conversation may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a shell on a PTY in the workspace, attaches to it, and types as an agent would: an edit,
/// a commit, the end. The keys go through the terminal, not through `exec`.
///
/// # Errors
/// The provider refuses, or the shell did not say that the commit was made.
pub(super) fn work(provider: &Provider, id: &BoxId, root: &RemoteRoot, interrupt: &Interrupt) -> Result<()> {
    let shell = provider.process_start(
        id,
        &StartSpec {
            cwd: root.to_string(),
            rows: 24,
            cols: 80,
            program: "/bin/bash".into(),
            args: vec!["--norc".into()],
        },
    )?;
    interrupt.check()?;
    let typed = format!(
        "printf '%s\\n' '{LINE}' >> {EDITED}\n\
         git add {EDITED}\n\
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
