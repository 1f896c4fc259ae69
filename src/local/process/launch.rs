//! Starting a supervisor.

use super::supervisor::{Brief, SupervisorAnswer};
use crate::error::Error;
use crate::local::entry::hidden;
use crate::local::failure::Result;
use crate::local::wire::channel::Channel;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Starts the process that stays: in a session of its own, with nothing of ours but its order.
pub(crate) fn supervise(brief: &Brief) -> Result<SupervisorAnswer> {
    let wrong = |source: std::io::Error| Error::failed(format!("could not start a supervisor: {source}"));
    let (ours, theirs) = Channel::pair().map_err(wrong)?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("createos-sandbox").args(["local", "supervise"]).env_clear().current_dir("/");
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
    let _supervisor = command.spawn().map_err(wrong)?;
    drop(command);
    ours.send(brief, None).map_err(wrong)?;
    match ours.receive::<SupervisorAnswer>().map_err(wrong)? {
        Some((answer, _)) => Ok(answer),
        None => Err(Error::failed("the supervisor ended before it had begun").into()),
    }
}
