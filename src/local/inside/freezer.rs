//! Stopping everything in a box and proving it, and letting it go on.

use super::super::pause;
use super::sys;
use rustix::process::{Pid, Signal};
use rustix::time::Timespec;

/// Between two looks at what does not stand still yet.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// What has been asked for, and how far it is. This process's name says it to the host.
#[derive(Default)]
pub(super) enum Freezer {
    /// Everything runs.
    #[default]
    Awake,
    /// Everything has been sent a SIGSTOP. Some may still be on the way out of the kernel, and may wake
    /// others there with their last call.
    Stopping {
        /// Those that a person had stopped before.
        before: Vec<Pid>,
        /// Whether all stood still at the last look: one look is not one moment, two are.
        still: bool,
    },
    /// Everything stands still.
    Frozen {
        /// Those that a person had stopped before.
        before: Vec<Pid>,
    },
}

impl Freezer {
    /// Takes a word of the host.
    pub(super) fn obey(&mut self, word: u8) {
        match (word, std::mem::take(self)) {
            (pause::FREEZE, Self::Awake) => {
                let before = processes().into_iter().filter(|pid| is_stopped(*pid)).collect();
                *self = Self::Stopping { before, still: false };
            }
            (pause::THAW, Self::Stopping { before, .. } | Self::Frozen { before }) => {
                thaw(&before);
                call(pause::AWAKE);
            }
            (_, other) => *self = other,
        }
    }

    /// Does the next piece of what was asked for.
    pub(super) fn turn(&mut self) {
        let Self::Stopping { before, still } = self else { return };
        // One call for all: nothing can fork its way out. No process at all is fine too.
        let _nobody = sys::signal_all(Signal::STOP);
        let now = processes().into_iter().all(stands_still);
        if now && *still {
            *self = Self::Frozen { before: std::mem::take(before) };
            call(pause::FROZEN);
        } else {
            *still = now;
        }
    }

    /// How long nothing needs to be done unasked; `None` for ever.
    pub(super) fn wait(&self) -> Option<Timespec> {
        matches!(self, Self::Stopping { .. }).then_some(PAUSE)
    }
}

fn call(name: &std::ffi::CStr) {
    rustix::thread::set_name(name).expect("a process may name itself");
}

/// Children before their parents, so that no shell sees its job as stopped.
fn thaw(stopped: &[Pid]) {
    let mut frozen = processes();
    frozen.sort_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
    for pid in frozen.into_iter().filter(|pid| !stopped.contains(pid)) {
        let _gone = rustix::process::kill_process(pid, Signal::CONT);
    }
}

/// Everybody in the box but PID 1.
fn processes() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|pid| !pid.is_init())
        .collect()
}

/// Whether no thread of it can do anything: stopped, ended, or in a call of the kernel's that it will not
/// come out of into its own code. A parent waits in such a one for the child that vfork gave it.
fn stands_still(pid: Pid) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    threads.into_iter().flatten().flatten().all(|thread| {
        // One that has ended meanwhile stands still for good.
        std::fs::read(thread.path().join("stat")).map_or(true, |stat| b"TtDXZ".contains(&state(&stat)))
    })
}

fn is_stopped(pid: Pid) -> bool {
    let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    state(&stat) == b'T'
}

/// The letter for the state in a `stat` file, which stands behind the last parenthesis (proc(5)).
fn state(stat: &[u8]) -> u8 {
    let closed = stat.iter().rposition(|byte| *byte == b')');
    closed.and_then(|at| stat.get(at + 2)).copied().unwrap_or(b'X')
}
