//! The processes of ours: found by a word on their command line, and killed.

use super::{LONG, World};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::os::fd::OwnedFd;
use std::path::Path;

impl World {
    /// The rows and columns of the terminal on which the process of ours that runs `WORD` is.
    #[track_caller]
    pub fn terminal_size(&self, word: &str) -> (u16, u16) {
        let [pid] = processes(word, self.home.path())[..] else { panic!("not one process runs {word}") };
        let terminal =
            std::fs::File::open(format!("/proc/{}/fd/0", pid.as_raw_nonzero())).expect("its stdin");
        let size = rustix::termios::tcgetwinsize(terminal).expect("a terminal");
        (size.ws_row, size.ws_col)
    }

    /// Whether a process of ours runs `WORD`.
    pub fn runs(&self, word: &str) -> bool {
        running(word, self.home.path())
    }

    /// Kills every process of ours that runs `WORD`, as the kernel does that is out of memory, and waits for their
    /// end: until then they hold their locks.
    #[track_caller]
    pub fn kill(&self, word: &str) {
        let open = |pid: &Pid| pidfd_open(*pid, PidfdFlags::empty()).ok();
        let killed: Vec<OwnedFd> = processes(word, self.home.path()).iter().filter_map(open).collect();
        self.signal(word, Signal::KILL);
        for process in killed {
            let limit = Timespec::try_from(LONG).expect("a short time");
            let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)).expect("a poll");
            assert_eq!(ended, 1, "what runs {word} outlives a kill");
        }
    }

    /// Sends a signal to every process of ours that runs `WORD`.
    #[track_caller]
    pub fn signal(&self, word: &str, signal: Signal) {
        let found = processes(word, self.home.path());
        assert!(!found.is_empty(), "no process runs {word}");
        for pid in found {
            let _already_gone = kill_process(pid, signal);
        }
    }
}

/// Whether a process of ours with this word lives in this home.
pub fn running(word: &str, home: &Path) -> bool {
    !processes(word, home).is_empty()
}

/// The processes of this home with this word on their command line.
fn processes(word: &str, home: &Path) -> Vec<Pid> {
    let home = format!("HOME={}", home.display());
    let ours = |entry: &std::fs::DirEntry| {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        read("cmdline").split(|byte| *byte == 0).any(|own| own == word.as_bytes())
            && read("environ").split(|byte| *byte == 0).any(|pair| pair == home.as_bytes())
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(ours).filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect()
}
