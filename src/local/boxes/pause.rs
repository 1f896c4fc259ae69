//! Pausing and resuming: every process of a box is stopped with SIGSTOP, and goes on with SIGCONT.
//!
//! It is the PID 1 of each entry that does it, on a word from the host, with one call for all: that
//! works for every user, where the freezer of cgroups needs a delegated group. A program can see that it was
//! stopped. Programs that keep waking each other may put it off; then the box is not called paused.
//! Memory stays where it is.

use super::local_box::LocalBox;
use super::meta::{BoxStatus, now};
use super::record;
use super::running::{self, RunPurpose};
use crate::command;
use crate::error::{Error, IoContext};
use crate::fs::IfThere;
use crate::local::failure::{Failure, Result};
use crate::local::wire::hello::Hello;
use crate::local::wire::spec::{AWAKE, FREEZE, FROZEN, THAW};
use std::fs::File;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The variable, in milliseconds, by which tests make supervisors look more often whether a box is idle.
#[cfg(debug_assertions)]
pub(crate) const LOOK: &str = "CREATEOS_SANDBOX_IDLE_LOOK";
/// How long it may take until everything has stopped, or goes on.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stops everything in a running box and lets go of those who are attached.
pub(crate) fn pause(found: &mut LocalBox) -> Result<()> {
    let _lock = found.lock()?;
    found.refresh()?;
    pause_locked(found)
}

fn pause_locked(found: &mut LocalBox) -> Result<()> {
    if found.meta.status != BoxStatus::Running {
        let (name, status) = (&found.meta.name, found.meta.status.word());
        return Err(Failure::conflict(format!("sandbox {name} is {status}")));
    }
    if !running::tell_all(found, FREEZE, FROZEN, PATIENCE)? {
        running::tell_all(found, THAW, AWAKE, PATIENCE)?;
        let name = &found.meta.name;
        return Err(Failure::from(
            Error::failed(format!("sandbox {name} was not paused: its programs do not stay stopped"))
                .help("they may be waking each other; it runs on as before")
                .help(format!(
                    "see what runs: {}",
                    command::own(["local", "sandbox", "process", "list"]).on(name)
                )),
        ));
    }
    let before = found.meta.clone();
    found.meta.status = BoxStatus::Paused;
    found.meta.paused_at = Some(now());
    if let Err(failure) = found.save() {
        // Not on record, so not paused: a full disk must not leave a box that only stands still.
        found.meta = before;
        running::tell_all(found, THAW, AWAKE, PATIENCE)?;
        return Err(failure);
    }
    for record in record::all(found)?.iter().filter(|record| record.is_running()) {
        // A terminal that shows a stopped program would look as if it hung.
        if let Ok(mut stream) = UnixStream::connect(&record.socket) {
            let _ended_meanwhile = stream.write_all(&Hello::LetGo.frame());
        }
    }
    Ok(())
}

/// Lets everything in a paused box go on.
pub(crate) fn resume(found: &mut LocalBox) -> Result<()> {
    let _lock = found.lock()?;
    found.refresh()?;
    match found.meta.status {
        BoxStatus::Paused => {}
        status => {
            let words = format!("sandbox {} is {}", found.meta.name, status.word());
            return Err(Failure::conflict(words));
        }
    }
    touch(found)?;
    if !running::tell_all(found, THAW, AWAKE, PATIENCE)? {
        return Err(Error::failed("the first process of the box does not answer").help("try again").into());
    }
    let before = found.meta.clone();
    found.meta.status = BoxStatus::Running;
    found.meta.last_resumed_at = Some(now());
    found.save().or_else(|failure| {
        found.meta = before;
        running::tell_all(found, FREEZE, FROZEN, PATIENCE)?;
        Err(failure)
    })
}

/// Notes that the box is in use.
pub(crate) fn touch(found: &LocalBox) -> Result<()> {
    let path = found.folder().join("activity");
    let file = File::options().create(true).append(true).open(&path).at("write", &path)?;
    Ok(file.set_modified(SystemTime::now()).at("write", &path)?)
}

/// How long the box may still be idle; `None` when it does not pause by itself.
pub(crate) fn time_left(found: &LocalBox) -> Result<Option<Duration>> {
    let (Some(limit), BoxStatus::Running) = (found.meta.auto_pause_after_seconds, found.meta.status) else {
        return Ok(None);
    };
    let path = found.folder().join("activity");
    let modified = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified());
    let last = match modified(&path).if_there().at("look at", &path)? {
        Some(last) => last,
        None => {
            let meta = found.folder().join("meta.json");
            modified(&meta).at("look at", &meta)?
        }
    };
    // A clock that was put back makes nothing older.
    let idle = SystemTime::now().duration_since(last).unwrap_or_default();
    Ok(Some(Duration::from_secs(limit).saturating_sub(idle)))
}

/// When to look again at a box that may be idle for so long. Tests, in debug builds, look more often.
pub(crate) fn next_look(left: Duration) -> Duration {
    #[cfg(debug_assertions)]
    if let Some(every) = std::env::var(LOOK).ok().and_then(|text| text.parse().ok()) {
        return left.min(Duration::from_millis(every));
    }
    left
}

/// Pauses a box that has been idle for as long as it may. A program that runs in the foreground is
/// activity, however silent.
pub(crate) fn settle(found: &mut LocalBox) -> Result<()> {
    let is_over = |found: &LocalBox| Ok::<_, Failure>(time_left(found)? == Some(Duration::ZERO));
    if !is_over(found)? {
        return Ok(());
    }
    let _lock = found.lock()?;
    found.refresh()?;
    if !is_over(found)? || running::any(found, RunPurpose::Foreground)? {
        return Ok(());
    }
    pause_locked(found).or_else(|failure| {
        // What cannot be stopped is at work. The caller wants the box itself: it stays awake.
        crate::ui::note(format!("warning: {}", crate::ui::visible(failure.error().message())));
        touch(found)
    })
}
