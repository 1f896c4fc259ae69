//! A hermetic home: empty environment, own folders, no network, the real binary.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]

mod git;
mod herdr;
mod http;
pub mod printed;
mod pty;
mod terminal;

pub use git::Repo;
pub use herdr::{Herdr, on_github, program, real_herdr};
pub use http::{Answer, Server};
pub use pty::Pty;
pub use terminal::Terminal;

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// PATH of every process that a test starts.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the result line of an action begins with.
pub const RESULT: &str = "CREATEOS_HERDR_RESULT: ";

/// The line of the official CLI that the stand-in plays: `main`, which people have, or `branch`. The tests pass with
/// either; `CREATEOS_STAND_IN_GENERATION` chooses for a whole run.
pub fn generation() -> String {
    std::env::var("CREATEOS_STAND_IN_GENERATION").unwrap_or_else(|_| "main".into())
}

/// Who runs the binary. Root ignores mode bits, so what concerns isolation and permissions runs as both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Whoever runs the tests.
    Me,
    /// uid 65534, without groups and capabilities; only root can become it.
    Nobody,
}

impl User {
    /// All users that this machine lets us be.
    pub fn all() -> Vec<User> {
        if rustix::process::geteuid().is_root() { vec![User::Me, User::Nobody] } else { vec![User::Me] }
    }
}

/// A home folder of its own, removed when dropped.
pub struct Home {
    dir: tempfile::TempDir,
    user: User,
    vars: Vec<(String, String)>,
}

/// What a run left.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// Asserts exit code 0 and gives the outcome back.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, 0, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts this exit code and that stderr says `text`.
    #[track_caller]
    pub fn fails(self, code: i32, text: &str) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        assert!(self.stderr.contains(text), "[{text}] is not in stderr:\n{}", self.stderr);
        self
    }

    /// stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }
}

impl Home {
    /// A home of the user who runs the tests.
    pub fn new() -> Self {
        Self::of(User::Me)
    }

    /// A home of `user`, with `.config`, a runtime folder and a temporary folder.
    pub fn of(user: User) -> Self {
        let dir = tempfile::Builder::new().prefix("cs-").tempdir_in("/tmp").expect("a temporary home");
        let home = Self { dir, user, vars: Vec::new() };
        for folder in ["run", "tmp"] {
            std::fs::create_dir(home.path().join(folder)).expect("a folder");
            home.mode(folder, 0o700);
        }
        home.own(home.path());
        home
    }

    /// Puts the home's own `bin` first on the PATH of everything that runs in it.
    #[must_use]
    pub fn with_bin(self) -> Self {
        std::fs::create_dir_all(self.path().join("bin")).expect("a folder");
        self.own(self.path());
        let path = format!("{}/bin:{PATH}", self.path().display());
        self.var("PATH", path)
    }

    /// The home folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Sets a variable for every run.
    #[must_use]
    pub fn var(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.vars.push((name.into(), value.as_ref().into()));
        self
    }

    /// Writes a file, with its folders, owned by the home's user.
    pub fn write(&self, relative: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(relative);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, contents).expect("a file");
        self.own(self.path());
        path
    }

    /// A file's text.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        let path = self.path().join(relative);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Sets a mode.
    pub fn mode(&self, relative: &str, bits: u32) {
        std::fs::set_permissions(self.path().join(relative), std::fs::Permissions::from_mode(bits))
            .expect("a mode");
    }

    /// Gives everything below `path` to the home's user.
    pub fn own(&self, path: &Path) {
        if self.user == User::Nobody {
            let status = Command::new("chown").arg("-hR").arg("65534:65534").arg(path).status();
            assert!(status.expect("chown").success());
        }
    }

    /// The real binary with `args`, as the home's user, in the home folder.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(&binary(), args)
    }

    /// Any program with the same user, folder and environment.
    pub fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = match self.user {
            User::Me => Command::new(program),
            User::Nobody => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]);
                command.arg("--no-new-privs").arg(program);
                command
            }
        };
        command.args(args).env_clear().current_dir(self.path()).stdin(Stdio::null());
        command.env("HOME", self.path()).env("PATH", PATH).env("LANG", "C.UTF-8").env("TZ", "UTC");
        command.env("TMPDIR", self.path().join("tmp")).env("XDG_RUNTIME_DIR", self.path().join("run"));
        command.env("GIT_CONFIG_SYSTEM", "/dev/null");
        for (name, value) in &self.vars {
            command.env(name, value);
        }
        command
    }

    /// Runs the real binary to its end.
    #[must_use = "assert on the exit code or the output"]
    pub fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    /// Runs the real binary in a folder.
    #[must_use = "assert on the exit code or the output"]
    pub fn run_in(&self, folder: &Path, args: &[&str]) -> Outcome {
        let mut command = self.command(args);
        command.current_dir(folder);
        outcome(command)
    }
}

/// Runs a command to its end.
#[must_use = "assert on the exit code or the output"]
pub fn outcome(mut command: Command) -> Outcome {
    let output = command.output().expect("the program starts");
    let outcome = Outcome {
        code: output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0)),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    // A real Herdr cuts what it reads from a narrow pane in the middle of words.
    let is_cut = real_herdr().is_some() && Path::new(command.get_program()).ends_with("herdr");
    if !is_cut {
        printed::are_commands(&outcome.stderr);
        printed::are_commands(&outcome.stdout);
    }
    outcome
}

/// The result line that an action printed.
#[track_caller]
pub fn result_line(stdout: &str) -> Value {
    let line = stdout.lines().rev().find_map(|line| line.strip_prefix(RESULT));
    serde_json::from_str(line.unwrap_or_else(|| panic!("no result line: {stdout}")))
        .expect("the result line is JSON")
}

/// Says why a test has nothing to try on this machine.
#[expect(clippy::print_stderr, reason = "it is for who reads the tests")]
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// The binary under test, where every user can run it: the build folder may be closed to nobody.
/// `CREATEOS_SANDBOX_BIN_PATH` names another one, such as the static binary of a release.
pub fn binary() -> PathBuf {
    let named = std::env::var_os("CREATEOS_SANDBOX_BIN_PATH").map(PathBuf::from);
    runnable(&named.unwrap_or_else(|| env!("CARGO_BIN_EXE_createos-sandbox").into()))
}

/// A stand-in built as an example beside the binary, such as `herdr-stand-in`, where every user can run it.
pub fn stand_in(name: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_BIN_EXE_createos-sandbox")).parent().expect("the build folder");
    let path = beside.join("examples").join(name);
    assert!(path.exists(), "{} is not built: with a filter, type `cargo test -- FILTER`", path.display());
    runnable(&path)
}

/// The program itself; where other users cannot reach it, a copy that lives as long as the test process.
fn runnable(built: &Path) -> PathBuf {
    static COPIES: Mutex<Option<PathBuf>> = Mutex::new(None);
    extern "C" fn remove_copies() {
        if let Some(folder) = COPIES.lock().ok().and_then(|mut copies| copies.take()) {
            let _nobody_is_left_to_tell = std::fs::remove_dir_all(folder);
        }
    }
    if !rustix::process::geteuid().is_root() || open_to_all(built) {
        return built.to_path_buf();
    }
    let mut copies = COPIES.lock().expect("the copies");
    let folder = copies.get_or_insert_with(|| {
        let dir = tempfile::Builder::new().prefix("cs-bin-").tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("a mode");
        // SAFETY: the handler is a plain function that takes a lock and removes a folder.
        assert_eq!(unsafe { libc::atexit(remove_copies) }, 0, "a handler at the end");
        dir.keep()
    });
    let path = folder.join(built.file_name().expect("a program"));
    if !path.exists() {
        // By a program of its own: a descriptor of ours that is open for writing would be inherited by
        // what another test starts at that moment, and starting the copy would fail as "text file busy".
        let status = Command::new("cp").arg(built).arg(&path).status().expect("cp starts");
        assert!(status.success(), "a copy of {}", built.display());
    }
    path
}

/// Whether every user can reach and run the program at `path`.
fn open_to_all(path: &Path) -> bool {
    path.ancestors()
        .all(|part| std::fs::metadata(part).is_ok_and(|found| found.permissions().mode() & 0o005 == 0o005))
}

/// Waits until `check` holds, at most `limit`; says what was waited for when it does not.
#[track_caller]
pub fn eventually(what: &str, limit: Duration, mut check: impl FnMut() -> bool) {
    let started = Instant::now();
    loop {
        let began = Instant::now();
        if check() {
            return;
        }
        assert!(started.elapsed() < limit, "did not happen within {limit:?}: {what}");
        rest(began);
    }
}

/// Waits before the next look, three times as long as the one that began then has taken: one that starts a program
/// takes the processor from what it waits for.
pub fn rest(began: Instant) {
    let shortest = Duration::from_millis(20);
    std::thread::sleep((began.elapsed() * 3).clamp(shortest, 15 * shortest));
}
