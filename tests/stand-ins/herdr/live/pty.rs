//! A program on a PTY: the process of a pane, and its screen.

use super::terminal::Terminal;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::OpenptFlags;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A pane's process.
pub(super) struct Pty {
    master: File,
    screen: Arc<Mutex<Terminal>>,
    pub(super) pid: u32,
}

impl Pty {
    /// Starts `command` with a controlling terminal of 40 by 120.
    pub(super) fn spawn(mut command: Command) -> std::io::Result<(Self, Child)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let slave =
            File::options().read(true).write(true).open(name.to_str().expect("a device's name is plain"))?;
        let size = rustix::termios::Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size)?;
        command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
        // SAFETY: only async-signal-safe system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                Ok(())
            });
        }
        let child = command.spawn()?;
        drop(command);
        let master = File::from(master);
        let screen = Arc::new(Mutex::new(Terminal::new(40, 120, 500)));
        let (mut reader, sink) = (master.try_clone()?, Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                sink.lock().expect("the screen").process(&buffer[..count]);
            }
        });
        Ok((Self { master, screen, pid: child.id() }, child))
    }

    /// What the screen shows now, without trailing blanks.
    pub(super) fn text(&self) -> String {
        let screen = self.screen.lock().expect("the screen");
        let lines: Vec<_> = screen.screen().rows(0, 120).map(|row| row.trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Types raw bytes.
    pub(super) fn send(&self, bytes: &[u8]) -> std::io::Result<()> {
        (&self.master).write_all(bytes)
    }

    /// The foreground processes: id, name, argv. Linux only, as the classification of agents is here.
    pub(super) fn foreground(&self) -> (i32, Vec<(i32, String, Vec<String>)>) {
        let Ok(group) = rustix::termios::tcgetpgrp(&self.master) else { return (0, Vec::new()) };
        let group = group.as_raw_nonzero().get();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
            if rest.split(' ').nth(2).and_then(|own| own.parse::<i32>().ok()) != Some(group) {
                continue;
            }
            let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
            let name = String::from_utf8_lossy(&read("comm")).trim_end().to_owned();
            let argv = read("cmdline")
                .split(|byte| *byte == 0)
                .filter(|word| !word.is_empty())
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect();
            found.push((pid, name, argv));
        }
        found.sort();
        (group, found)
    }

    /// The agent in the foreground, by `HERDR_AGENT` of its processes, else by name (docs/measured/herdr.md 8.2).
    pub(super) fn agent(&self) -> Option<String> {
        const KNOWN: [&str; 9] =
            ["claude", "codex", "opencode", "pi", "cursor", "gemini", "copilot", "qwen", "amp"];
        let (_, processes) = self.foreground();
        let by_variable = processes.iter().find_map(|(pid, ..)| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let value =
                environment.split(|byte| *byte == 0).find_map(|pair| pair.strip_prefix(b"HERDR_AGENT="))?;
            let value = String::from_utf8_lossy(value).into_owned();
            KNOWN.contains(&value.as_str()).then_some(value)
        });
        by_variable.or_else(|| {
            processes.iter().map(|(_, name, _)| name).find(|name| KNOWN.contains(&name.as_str())).cloned()
        })
    }

    /// HUP, TERM after 0.26 s, KILL after 0.5 s (docs/measured/herdr.md 13).
    pub(super) fn end(&self) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).expect("a child's id");
        std::thread::spawn(move || {
            for (signal, wait) in [(Signal::HUP, 260), (Signal::TERM, 240), (Signal::KILL, 0)] {
                if kill_process(pid, signal).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(wait));
            }
        });
    }
}
