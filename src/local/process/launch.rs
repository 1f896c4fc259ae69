//! Starting what stays: the supervisor of a process, the keeper of a network.

use crate::error::Error;
use crate::local::entry::hidden;
use crate::local::failure::Result;
use crate::local::wire::channel::Channel;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// So long its answer may take: a supervisor may wait for an older keeper, and then for its own.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a process that stays, by this word: in a session of its own, with nothing of ours but its order. Gives its
/// answer.
pub(crate) fn background<A: DeserializeOwned>(word: &str, brief: &impl Serialize) -> Result<A> {
    let wrong = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::WouldBlock => Error::failed("what was started does not answer"),
        _ => Error::failed(format!("could not start a supervisor: {source}")),
    };
    let (ours, theirs) = Channel::pair().map_err(wrong)?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("createos-sandbox").args(["local", word]).env_clear().current_dir("/");
    // Sockets are found through two of these, and none of them is shown to the box.
    for name in hidden::VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    #[cfg(debug_assertions)]
    {
        use crate::local::boxes::pause::LOOK;
        command.envs(std::env::var_os(LOOK).map(|value| (LOOK, value)));
    }
    command.stdin(theirs.into_fd()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: two system calls between fork and exec, no allocation and no lock.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
    // Not waited for: it outlives us, and the process that inherits our children reaps it.
    let _stays = command.spawn().map_err(wrong)?;
    drop(command);
    ours.set_patience(Some(PATIENCE)).map_err(wrong)?;
    ours.send(brief, None).map_err(wrong)?;
    match ours.receive::<A>().map_err(wrong)? {
        Some((answer, _)) => Ok(answer),
        None => Err(Error::failed("the supervisor ended before it had begun").into()),
    }
}
