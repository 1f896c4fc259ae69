//! The program of a box process: its descriptors, its terminal, its folder, its start.

use super::super::wire::spec::{Bytes, Order, Task};
use super::sys::{self, Fork};
use super::{dial, files};
use crate::ui::terminal::Size;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};
use rustix::termios::Winsize;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// A terminal of the box's own.
pub(super) struct Terminal {
    master: OwnedFd,
    slave: OwnedFd,
}

impl Terminal {
    /// Opens one of this size.
    pub(super) fn open(size: Size) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let master = rustix::fs::open("/dev/pts/ptmx", flags, Mode::empty())?;
        rustix::pty::unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let slave = rustix::fs::open(&name, flags, Mode::empty())?;
        let size = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size)?;
        Ok(Self { master, slave })
    }

    /// The host's side.
    pub(super) fn master(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }
}

/// What becomes the program's stdin, stdout and stderr. Without a terminal, stdout and stderr are
/// what this process has itself.
pub(super) struct Stdio<'a> {
    /// A pipe from the host, or nothing to read.
    pub(super) stdin: Option<OwnedFd>,
    /// A terminal for all three.
    pub(super) terminal: Option<&'a Terminal>,
}

/// Why there is no program.
pub(super) struct NotStarted {
    pub(super) what: String,
    /// What the system said.
    pub(super) error: io::Error,
}

/// Starts the program. For push and pull the "program" is this process's own code, as confined as any.
pub(super) fn start(order: &Order, stdio: Stdio<'_>) -> Result<Pid, NotStarted> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| NotStarted { what, error }
    };
    let (report, mut tell) = io::pipe().map_err(failed("make a pipe"))?;
    match sys::fork().map_err(io::Error::from).map_err(failed("fork"))? {
        Fork::Child => {
            let result = prepare(&stdio).and_then(|()| match &order.task {
                Task::Run { argv, cwd, .. } => Err(run(argv, cwd, &order.env)),
                Task::Push { path } => Ok(files::push(OsStr::from_bytes(path))),
                Task::Pull { path } => Ok(files::pull(OsStr::from_bytes(path))),
                Task::Dial { port } => Ok(dial::dial(*port)),
            });
            let code = match result {
                Ok(code) => code,
                Err(NotStarted { what, error }) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    let _init_gone = tell.write_all(format!("{errno} {what}").as_bytes());
                    127
                }
            };
            std::process::exit(code)
        }
        Fork::Parent(pid) => {
            drop(tell);
            if !matches!(order.task, Task::Run { .. }) {
                // The pipe stays open while our own code works: there is no exec that closes it.
                return Ok(pid);
            }
            let mut said = String::new();
            let mut report = File::from(OwnedFd::from(report));
            report.read_to_string(&mut said).map_err(failed("hear from the program"))?;
            match said.split_once(' ').and_then(|(errno, what)| Some((errno.parse().ok()?, what))) {
                None => Ok(pid),
                Some((errno, what)) => {
                    collect(pid);
                    Err(NotStarted { what: what.into(), error: io::Error::from_raw_os_error(errno) })
                }
            }
        }
    }
}

fn prepare(stdio: &Stdio<'_>) -> Result<(), NotStarted> {
    let done = || -> io::Result<()> {
        sys::reset_signals();
        rustix::process::setsid()?;
        match stdio.terminal {
            Some(terminal) => {
                rustix::process::ioctl_tiocsctty(&terminal.slave)?;
                rustix::stdio::dup2_stdin(&terminal.slave)?;
                rustix::stdio::dup2_stdout(&terminal.slave)?;
                rustix::stdio::dup2_stderr(&terminal.slave)?;
            }
            None => match &stdio.stdin {
                Some(stdin) => rustix::stdio::dup2_stdin(stdin)?,
                None => rustix::stdio::dup2_stdin(File::open("/dev/null")?)?,
            },
        }
        Ok(())
    };
    done().map_err(|error| NotStarted { what: "prepare the program".into(), error })
}

/// Comes back only with the reason why it did not start.
fn run(argv: &[Bytes], cwd: &Bytes, env: &[(Bytes, Bytes)]) -> NotStarted {
    let name = String::from_utf8_lossy(argv.first().map_or(&[][..], Vec::as_slice)).into_owned();
    let failed = |error: io::Error| NotStarted { what: format!("run {name}"), error };
    let nul = |_| io::Error::from_raw_os_error(libc::EINVAL);
    if let Err(error) = std::env::set_current_dir(OsStr::from_bytes(cwd)) {
        return NotStarted { what: format!("enter {}", String::from_utf8_lossy(cwd)), error };
    }
    let words: Result<Vec<CString>, _> = argv.iter().cloned().map(CString::new).collect();
    let variables: Result<Vec<CString>, _> = env
        .iter()
        .map(|(key, value)| CString::new([key.as_slice(), b"=", value.as_slice()].concat()))
        .collect();
    let (words, variables) = match (words, variables) {
        (Ok(words), Ok(variables)) => (words, variables),
        (Err(error), _) | (_, Err(error)) => return failed(nul(error)),
    };
    let Some(program) = words.first() else { return failed(io::Error::from_raw_os_error(libc::ENOENT)) };
    if program.as_bytes().contains(&b'/') {
        return failed(sys::exec(program, &words, &variables).into());
    }
    let path = env.iter().find(|(key, _)| key == b"PATH").map_or(&[][..], |(_, value)| value.as_slice());
    let mut worst = Errno::NOENT;
    for folder in path.split(|byte| *byte == b':').filter(|folder| !folder.is_empty()) {
        let Ok(full) = CString::new([folder, b"/", program.as_bytes()].concat()) else { continue };
        match sys::exec(&full, &words, &variables) {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => worst = Errno::ACCESS,
            errno => return failed(errno.into()),
        }
    }
    failed(worst.into())
}

/// Waits for one child that is known to end.
fn collect(pid: Pid) {
    while let Err(Errno::INTR) = rustix::process::waitpid(Some(pid), WaitOptions::empty()) {}
}
