//! Which box processes run now: the host's id of each PID 1, with its start time, so that a number
//! that was given to another process since is never signalled.

use super::local_box::{KEEPER_LOCK, LocalBox, PROCESSES, RUNNING};
use crate::error::{Error, IoContext};
use crate::fs::{IfThere, Lock};
use crate::local::failure::Result;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the names of pipes end that lie beside the records.
const CONTROL: &str = "control";
/// How long the end of a killed process may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long what keeps the network may take to see by itself that nobody needs it any more.
const GRACE: Duration = Duration::from_millis(500);

/// A box process on record, until dropped.
#[derive(Debug)]
pub(crate) struct RunningRecord(PathBuf);

impl Drop for RunningRecord {
    fn drop(&mut self) {
        forget(&self.0);
    }
}

/// Why a box process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunPurpose {
    /// A command of ours waits for it: exec, push, pull.
    Foreground,
    /// It goes on by itself.
    Process,
}

impl RunPurpose {
    fn word(self) -> &'static str {
        match self {
            Self::Foreground => "foreground",
            Self::Process => "process",
        }
    }
}

/// The pipe beside a record through which the host speaks to that PID 1. A signal would not do: the box
/// can send those too.
fn control(record: &Path) -> PathBuf {
    record.with_extension(CONTROL)
}

fn forget(record: &Path) {
    // Gone already when its owner or the deletion of the whole box was quicker.
    let _gone = std::fs::remove_file(control(record));
    let _gone = std::fs::remove_file(record);
}

/// Puts a box's PID 1 on record, and gives the end of the pipe that it listens to. The caller holds the
/// box's lock since it has looked at its status.
pub(crate) fn register(found: &LocalBox, init: Pid, purpose: RunPurpose) -> Result<(RunningRecord, OwnedFd)> {
    // Those whose starters were killed have left their records.
    for entry in entries(&found.running())?.into_iter().filter(|entry| entry.process.is_none()) {
        forget(&entry.path);
    }
    let path = found.running().join(init.as_raw_nonzero().to_string());
    let born = start_time(init)
        .ok_or_else(|| Error::failed("the box process ended before it had begun").help("try again"))?;
    // What a process with the same number left.
    forget(&path);
    let pipe = control(&path);
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).at("create", &pipe)?;
    let registered = RunningRecord(path);
    // Open for writing too, so that it never looks as if the last writer had hung up.
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let listening = rustix::fs::open(&pipe, flags, Mode::empty()).at("open", &pipe)?;
    std::fs::write(&registered.0, format!("{born} {}", purpose.word())).at("write", &registered.0)?;
    Ok((registered, listening))
}

/// Kills every program in the box of this folder and waits until they are gone. Their supervisors may
/// live a little longer. A damaged box may lack the records.
pub(crate) fn kill_all(folder: &Path) -> Result<()> {
    let running = folder.join(RUNNING);
    let deadline = Instant::now() + PATIENCE;
    let listed = if running.exists() { entries(&running)? } else { Vec::new() };
    for entry in listed {
        if let Some(process) = entry.process {
            let _just_ended = pidfd_send_signal(&process, Signal::KILL);
            wait(&process, deadline)?;
        }
        forget(&entry.path);
    }
    Ok(())
}

/// Kills everything in the box of this folder and waits until it is gone, the supervisors included. A
/// damaged box may lack the records of either.
pub(crate) fn end_all(folder: &Path) -> Result<()> {
    let processes = folder.join(PROCESSES);
    let deadline = Instant::now() + PATIENCE;
    kill_all(folder)?;
    let supervised = std::fs::read_dir(&processes).if_there().at("read", &processes)?;
    for path in supervised.into_iter().flatten().flatten().map(|entry| entry.path()) {
        while path.extension().is_some_and(|end| end == "lock") && Lock::try_take(&path)?.is_none() {
            if Instant::now() > deadline {
                return Err(stuck());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    end_keeper(&folder.join(KEEPER_LOCK), deadline)
}

/// Waits for the end of what keeps the network, and brings it about: an entry whose process on the host is stopped never
/// gives its part in it back.
fn end_keeper(lock: &Path, deadline: Instant) -> Result<()> {
    let grace = Instant::now() + GRACE;
    while lock.exists() && Lock::try_take(lock)?.is_none() {
        let now = Instant::now();
        if now > deadline {
            return Err(stuck());
        }
        if now > grace
            && let Some((_, keeper)) = holder(lock)
        {
            let _just_ended = pidfd_send_signal(&keeper, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Writes down in a lock that this process holds it.
pub(crate) fn sign(lock: &Lock) {
    let me = rustix::process::getpid();
    if let Some(born) = start_time(me) {
        // On a full disk nobody knows who it is; it holds all the same.
        let _unsigned = lock.sign(&format!("{} {born}", me.as_raw_nonzero()));
    }
}

/// The living process that has signed a lock; it holds it, if anybody does.
pub(crate) fn holder(lock: &Path) -> Option<(Pid, OwnedFd)> {
    let text = std::fs::read_to_string(lock).ok()?;
    let (pid, born) = text.split_once(' ')?;
    let pid = Pid::from_raw(pid.parse().ok()?)?;
    Some((pid, open(pid, born.parse().ok()?)?))
}

/// Says a word to every PID 1 and waits until all call themselves `name`, which says that they have
/// obeyed; whether they did within `patience`.
pub(crate) fn tell_all(found: &LocalBox, word: u8, name: &CStr, patience: Duration) -> Result<bool> {
    let deadline = Instant::now() + patience;
    let living: Vec<RunningInit> =
        entries(&found.running())?.into_iter().filter(|entry| entry.process.is_some()).collect();
    for entry in &living {
        let pipe = control(&entry.path);
        match File::options().write(true).custom_flags(libc::O_NONBLOCK).open(&pipe) {
            Ok(mut pipe) => pipe.write_all(&[word]).at("write", &entry.path)?,
            // It ended meanwhile.
            Err(error) if [Some(libc::ENOENT), Some(libc::ENXIO)].contains(&error.raw_os_error()) => {}
            Err(source) => return Err(source).at("open", &pipe)?,
        }
    }
    for pid in living.iter().filter_map(|entry| entry.pid) {
        let comm = format!("/proc/{}/comm", pid.as_raw_nonzero());
        // One that ended meanwhile has no name any more.
        while std::fs::read(&comm).is_ok_and(|read| read.trim_ascii_end() != name.to_bytes()) {
            if Instant::now() > deadline {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(true)
}

/// Whether something runs for this purpose.
pub(crate) fn any(found: &LocalBox, purpose: RunPurpose) -> Result<bool> {
    let alike =
        |entry: &RunningInit| entry.process.is_some() && entry.purpose.as_deref() == Some(purpose.word());
    Ok(entries(&found.running())?.iter().any(alike))
}

/// A record of a PID 1.
struct RunningInit {
    path: PathBuf,
    pid: Option<Pid>,
    purpose: Option<String>,
    /// The process that it means, if that still lives.
    process: Option<OwnedFd>,
}

fn entries(folder: &Path) -> Result<Vec<RunningInit>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).at("read", folder)?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == CONTROL) {
            continue;
        }
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let (born, purpose) = text.split_once(' ').unzip();
        let born = born.and_then(|born| born.parse().ok());
        let process = pid.zip(born).and_then(|(pid, born)| open(pid, born));
        found.push(RunningInit { path, pid, purpose: purpose.map(str::to_owned), process });
    }
    Ok(found)
}

/// A descriptor of the process that has this id and was started then.
fn open(pid: Pid, born: u64) -> Option<OwnedFd> {
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // Looked at after the open: if it is the same now, the descriptor means it.
    (start_time(pid) == Some(born)).then_some(process)
}

fn wait(process: &OwnedFd, deadline: Instant) -> Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
    match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left)) {
        Ok(0) => Err(stuck()),
        _ => Ok(()),
    }
}

fn stuck() -> crate::local::failure::Failure {
    Error::failed("a process of the box does not end although it was killed")
        .help("it hangs in the kernel; try again later")
        .into()
}

/// Field 22 of `/proc/PID/stat` (proc(5)); the name before it may hold anything.
fn start_time(pid: Pid) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')? + 2;
    std::str::from_utf8(&stat[after..]).ok()?.split(' ').nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_came_back_is_somebody_else() {
        let me = rustix::process::getpid();
        let born = start_time(me).unwrap();
        assert!(open(me, born).is_some());
        assert!(open(me, born + 1).is_none());
    }

    #[test]
    fn who_holds_a_lock_has_signed_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(KEEPER_LOCK);
        assert!(holder(&path).is_none());
        let lock = Lock::try_take(&path).unwrap().unwrap();
        assert!(holder(&path).is_none());
        sign(&lock);
        assert_eq!(holder(&path).unwrap().0, rustix::process::getpid());
        std::fs::write(&path, format!("{} 1", rustix::process::getpid().as_raw_nonzero())).unwrap();
        assert!(holder(&path).is_none(), "an earlier process with this number");
    }

    #[test]
    fn a_keeper_that_does_not_end_is_ended_with_its_box() {
        use std::os::unix::process::ExitStatusExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(KEEPER_LOCK);
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        // The lock is that of the open file, which the child has too.
        let mut keeper = std::process::Command::new("sleep").arg("600").stdin(file).spawn().unwrap();
        let pid = Pid::from_child(&keeper);
        std::fs::write(&path, format!("{} {}", pid.as_raw_nonzero(), start_time(pid).unwrap())).unwrap();
        rustix::process::kill_process(pid, Signal::STOP).unwrap();
        end_all(dir.path()).unwrap();
        assert_eq!(keeper.wait().unwrap().signal(), Some(libc::SIGKILL));
    }
}
