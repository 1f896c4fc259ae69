//! A program on a real PTY: what it shows, and what a person types.

use rustix::pty::OpenptFlags;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A child that has a PTY as its controlling terminal; killed when dropped.
pub struct Pty {
    child: Child,
    master: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Pty {
    /// Starts `command` on a terminal of `rows` by `cols`.
    pub fn spawn(mut command: Command, rows: u16, cols: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // What another test starts at this moment must not hold the terminal open; not every system can say so.
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).expect("a PTY");
        rustix::pty::grantpt(&master).expect("grantpt");
        rustix::pty::unlockpt(&master).expect("unlockpt");
        let name = rustix::pty::ptsname(&master, Vec::new()).expect("ptsname");
        let slave =
            File::options().read(true).write(true).open(name.to_str().expect("a name")).expect("the slave");
        rustix::termios::tcsetwinsize(&slave, winsize(rows, cols)).expect("a size");
        command.stdin(slave.try_clone().expect("a descriptor"));
        command.stdout(slave.try_clone().expect("a descriptor"));
        command.stderr(slave);
        command.env("TERM", "xterm-256color");
        // SAFETY: only async-signal-safe system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // As on a terminal, whoever runs the tests: what runs in the background ignores Ctrl-C.
                for signal in [libc::SIGINT, libc::SIGQUIT] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().expect("the program starts");
        drop(command);
        let master = File::from(master);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, sink) = (master.try_clone().expect("a descriptor"), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                sink.lock().expect("the screen").extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, master, seen }
    }

    /// Everything shown so far, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("the screen")).into_owned()
    }

    /// Everything shown so far, as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.lock().expect("the screen").clone()
    }

    /// Types.
    pub fn send(&mut self, keys: impl AsRef<[u8]>) {
        self.master.write_all(keys.as_ref()).expect("the terminal takes input");
    }

    /// Changes the size, as a person does who pulls a window.
    pub fn resize(&self, rows: u16, cols: u16) {
        rustix::termios::tcsetwinsize(&self.master, winsize(rows, cols)).expect("a size");
    }

    /// Waits until `text` was shown.
    #[track_caller]
    pub fn expect(&self, text: &str, limit: Duration) {
        let started = Instant::now();
        while !self.text().contains(text) {
            assert!(started.elapsed() < limit, "[{text}] was not shown within {limit:?}:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end.
    #[track_caller]
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                return status;
            }
            assert!(started.elapsed() < limit, "it still runs after {limit:?}:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The child's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn winsize(rows: u16, cols: u16) -> rustix::termios::Winsize {
    rustix::termios::Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }
}
