//! Stopping everything in a box and proving it, and letting it go on.

use super::super::wire::spec::{AWAKE, FREEZE, FROZEN, THAW};
use super::sys;
use rustix::process::{Pid, Signal};
use rustix::time::Timespec;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Between two looks at what does not stand still yet.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// How long parents may take to stop before their children.
const COURTESY: Duration = Duration::from_millis(300);

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
            (FREEZE, Self::Awake) => {
                let before = processes().into_iter().filter(|pid| is_stopped(*pid)).collect();
                stop_parents();
                *self = Self::Stopping { before, still: false };
            }
            (THAW, Self::Stopping { before, .. } | Self::Frozen { before }) => {
                thaw(&before);
                call(AWAKE);
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
            call(FROZEN);
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

/// One parent after the other, older ones first: a shell that sees its job stop before it stands still itself takes
/// the terminal from it when it goes on. A courtesy only: [`sys::signal_all`] leaves nobody out afterwards.
fn stop_parents() {
    let deadline = Instant::now() + COURTESY;
    for pid in parents() {
        let _gone = rustix::process::kill_process(pid, Signal::STOP);
        while !stands_still(pid) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Everybody in the box who has a child, in the order in which they were made.
fn parents() -> Vec<Pid> {
    let mut all = processes();
    let of = |pid: &Pid| parent(&stat(*pid));
    let parents: HashSet<_> = all.iter().filter_map(of).collect();
    all.retain(|pid| parents.contains(pid));
    all.sort_by_key(|pid| pid.as_raw_nonzero());
    all
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
    state(&stat(pid)) == b'T'
}

/// The `stat` file of a process; nothing once it is gone.
fn stat(pid: Pid) -> Vec<u8> {
    std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default()
}

/// The letter for the state in a `stat` file.
fn state(stat: &[u8]) -> u8 {
    after_name(stat).next().and_then(|word| word.first()).copied().unwrap_or(b'X')
}

/// The parent in a `stat` file.
fn parent(stat: &[u8]) -> Option<Pid> {
    let word = after_name(stat).nth(1)?;
    Pid::from_raw(std::str::from_utf8(word).ok()?.parse().ok()?)
}

/// The words of a `stat` file after the name, which ends with the last parenthesis (proc(5)).
fn after_name(stat: &[u8]) -> impl Iterator<Item = &[u8]> {
    let closed = stat.iter().rposition(|byte| *byte == b')').map_or(stat.len(), |at| at + 1);
    stat[closed..].split(|byte| *byte == b' ').skip(1)
}
