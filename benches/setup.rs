//! How much processor time a setup takes that has nothing to do: `cargo bench --bench setup [-- PROGRAM]`.
//!
//! Own time only: the kernel's clock of the process itself, user and system, without the programs that it asks for
//! their versions. Those are scripts here, so that nothing else has to be installed. Nothing is judged.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may panic, and it prints"
)]

#[cfg(target_os = "linux")]
fn main() {
    // `cargo test --benches` and `cargo bench -- --list` only want to know that it builds.
    if !std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        linux::run();
    }
}

/// The clock of another process is Linux's.
#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    /// Runs of each command; the median counts.
    const ROUNDS: usize = 30;

    pub fn run() {
        let named = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).map(PathBuf::from);
        let named = named.map(|path| path.canonicalize().unwrap());
        let program = named.unwrap_or_else(|| env!("CARGO_BIN_EXE_createos-sandbox").into());
        let home = tempfile::Builder::new().prefix("setup-bench-").tempdir().unwrap();
        programs(home.path());
        cpu(&program, home.path(), &["setup"]);
        println!("own processor time, medians of {ROUNDS} runs\n");
        println!("| command | median | slowest |\n|---|---:|---:|");
        for words in [&["setup"][..], &["setup", "--doctor"], &["version"]] {
            let mut times: Vec<Duration> = (0..ROUNDS).map(|_| cpu(&program, home.path(), words)).collect();
            times.sort();
            let ms = |time: &Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
            println!("| {} | {} | {} |", words.join(" "), ms(&times[ROUNDS / 2]), ms(times.last().unwrap()));
        }
        cpu(&program, home.path(), &["setup", "--undo"]);
    }

    /// A Herdr that registers what it is told to link, an official CLI that is signed in, and git.
    fn programs(home: &Path) {
        let herdr = "#!/bin/sh\ncase \"$*\" in\n--version) echo 'herdr 0.8.2';;\n'config check') echo 'config: ok';;\n\
            'plugin link '*) mkdir -p $HOME/.config/herdr; echo \"[{\\\"plugin_id\\\":\\\"createos.sandbox\\\",\
            \\\"plugin_root\\\":\\\"$3\\\",\\\"enabled\\\":true,\\\"source\\\":{\\\"kind\\\":\\\"local\\\"}}]\" > $HOME/.config/herdr/plugins.json;;\n\
            'plugin uninstall '*) echo '[]' > $HOME/.config/herdr/plugins.json;;\n\
            'session list --json') echo '{\"sessions\":[]}';;\n'status --json') echo '{\"server\":{\"running\":false}}';;\n\
            *) exit 97;;\nesac\n";
        let createos = "#!/bin/sh\ncase \"$*\" in\n--version) echo 'createos version v0.0.29';;\n\
            '-o json sandbox list --limit 1') echo null;;\n'-o json sandbox shapes') echo '[{\"id\":\"s-2vcpu-4gb\"}]';;\n\
            *) exit 97;;\nesac\n";
        let git = "#!/bin/sh\necho 'git version 2.47.3'\n";
        std::fs::create_dir(home.join("bin")).unwrap();
        for (name, text) in [("herdr", herdr), ("createos", createos), ("git", git)] {
            let path = home.join("bin").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Runs it to its end; the processor time of the process alone.
    fn cpu(program: &Path, home: &Path, words: &[&str]) -> Duration {
        let path = format!("{}/bin:/usr/bin:/bin", home.display());
        let mut command = Command::new(program);
        command.args(words).env_clear().env("HOME", home).env("PATH", path).current_dir(home);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let pid = child.id();
        let mut ended = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the pointer is to a siginfo of ours. The child stays a zombie, so that its clock can be read.
        let waited =
            unsafe { libc::waitid(libc::P_PID, pid, ended.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) };
        assert_eq!(waited, 0, "the end is waited for");
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both pointers are to values of ours.
        let read = unsafe {
            libc::clock_getcpuclockid(libc::pid_t::try_from(pid).unwrap(), &mut clock) == 0
                && libc::clock_gettime(clock, &mut time) == 0
        };
        assert!(read, "the clock of the process can be read");
        assert!(child.wait().unwrap().success(), "{words:?}");
        Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
    }
}
