//! The worktree of a try: a made-up repository, or one that is only read.

use super::stage::Interrupt;
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use crate::worktree::Worktree;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The made-up repository's files: path, contents, executable.
const FILES: [(&str, &str, bool); 4] = [
    ("README.md", "# A repository that was made up for a try\n", false),
    (super::agent::EDITED, "Hello from your machine.\n", false),
    ("run.sh", "#!/bin/sh\ncat greeting.txt\n", true),
    // Tracked by git, and still it must not leave.
    (".env", "NOT_A_SECRET=but it looks like one\n", false),
];

/// Makes a repository with one commit in `folder`.
///
/// # Errors
/// The folder cannot be written, or git refuses.
pub(super) fn made_up(git: &Path, folder: &Path, interrupt: &Interrupt) -> Result<Worktree> {
    std::fs::create_dir(folder).at("create the folder", folder)?;
    write_git(git, folder, &["init", "--quiet", "--template="], interrupt)?;
    for (name, contents, executable) in FILES {
        let path = folder.join(name);
        std::fs::write(&path, contents).at("write", &path)?;
        if executable {
            std::fs::set_permissions(&path, Permissions::from_mode(0o755)).at("set the mode of", &path)?;
        }
    }
    write_git(git, folder, &["add", "--all", "--force"], interrupt)?;
    write_git(git, folder, &["commit", "--quiet", "--message", "Begin"], interrupt)?;
    Worktree::discover_until(git, folder, Some(interrupt.flag()))
}

/// The throw-away copy of somebody's worktree that the work comes home to: what leaves the machine, unpacked.
///
/// # Errors
/// tar is missing or fails.
pub(super) fn copy(git: &Path, archive: &mut File, folder: &Path, interrupt: &Interrupt) -> Result<PathBuf> {
    std::fs::create_dir(folder).at("create the folder", folder)?;
    // Before anything of the worktree is there that git could take for its own.
    write_git(git, folder, &["init", "--quiet", "--template="], interrupt)?;
    let ended = Run::new("tar")
        .args(["-xzf", "-", "-C"])
        .arg(folder)
        .stdin_feed(|stdin| std::io::copy(archive, stdin).map(|_| ()))
        .limit(Duration::from_secs(600))
        .stop_when(interrupt.flag())
        .run()?;
    if !ended.success() {
        return Err(Error::failed("tar could not unpack the copy").fact("it said", ended.stderr_text()));
    }
    Ok(folder.to_path_buf())
}

/// git with nobody's configuration: neither the user's hooks, signing and templates, nor what the files of a
/// worktree would be if they lay in a home folder.
fn write_git(git: &Path, folder: &Path, args: &[&str], interrupt: &Interrupt) -> Result<()> {
    let person = ("createos-sandbox try", "try@createos-sandbox.invalid");
    let ended = Run::new(git)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", person.0)
        .env("GIT_AUTHOR_EMAIL", person.1)
        .env("GIT_COMMITTER_NAME", person.0)
        .env("GIT_COMMITTER_EMAIL", person.1)
        .cwd(folder)
        .args(["-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null"])
        .args(args)
        .stop_when(interrupt.flag())
        .run()?;
    if ended.success() {
        Ok(())
    } else {
        Err(Error::failed(format!("git {} failed", args[0])).fact("it said", ended.stderr_text()))
    }
}
