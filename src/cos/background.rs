//! Processes of this machine that work for the project's box. One is ended only when it is proven to be the one on record:
//! by its number and by the time at which it was started.

use super::say::say;
use super::state::ProjectBox;
use rustix::process::{Pid, Signal, kill_process};

/// Ends them.
pub(super) fn end(own: &ProjectBox) {
    let Some((pid, started)) = own.sync() else { return };
    match (Pid::from_raw(pid), started) {
        (Some(process), Some(started)) if start_time(pid) == Some(started) => {
            let _just_ended = kill_process(process, Signal::TERM);
        }
        // Another process may have its number by now.
        (Some(process), None) if rustix::process::test_kill_process(process).is_ok() => {
            say(format!(
                "process {pid} may be the file sync of an earlier cos: it is left alone, end it yourself"
            ));
        }
        _ => {}
    }
}

/// Field 22 of `/proc/PID/stat` (proc(5)); the name before it may hold anything. Systems without it prove nothing.
fn start_time(pid: i32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')? + 2;
    std::str::from_utf8(&stat[after..]).ok()?.split(' ').nth(19)?.parse().ok()
}
