//! The embedded provider: real boxes, as root and as an ordinary user.

mod fork;
mod internet;
mod isolation;
mod kernel;
mod lifecycle;
mod limits;
mod network;
mod pause;
mod ports;
mod probe;
mod process;
mod remove;
mod screen;
mod transfer;

use crate::support::{Home, Outcome, User, outcome};
use std::io::Write;
use std::process::{Command, Stdio};

/// A home with one box, which goes with it.
pub struct Sandbox {
    home: Home,
    id: String,
}

impl Sandbox {
    /// A box without network, made by `user`.
    pub fn of(user: User) -> Self {
        Self::with(Home::of(user), &["--network", "none"])
    }

    /// The same, whose programs may make namespaces of their own.
    pub fn nested(user: User) -> Self {
        Self::with(Home::of(user), &["--network", "none", "--nested"])
    }

    /// A box in this home, with more flags for `create`.
    #[track_caller]
    pub fn with(home: Home, flags: &[&str]) -> Self {
        let mut args = vec!["local", "sandbox", "create", "--shape", "s-1vcpu-1gb"];
        args.extend(flags);
        let made = home.run(&args).success().json();
        let id = made["id"].as_str().expect("an id").to_owned();
        Self { home, id }
    }

    /// The home.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Its full id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// `local sandbox …`; `@` stands for the box.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut all = vec!["local", "sandbox"];
        all.extend(args.iter().map(|arg| if *arg == "@" { self.id.as_str() } else { *arg }));
        self.home.command(&all)
    }

    /// Runs it.
    pub fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    /// Runs it with these bytes on stdin.
    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Outcome {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let feed = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("the program ends");
        let _it_may_stop_reading = feed.join().expect("the feed does not panic");
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a shell script in the box.
    pub fn sh(&self, script: &str) -> Outcome {
        self.run(&["exec", "--stream", "@", "--", "sh", "-c", script])
    }

    /// A shell script's stdout; it must succeed.
    #[track_caller]
    pub fn say(&self, script: &str) -> String {
        self.sh(script).success().stdout
    }

    /// `process start …`; the id.
    #[track_caller]
    pub fn start(&self, args: &[&str]) -> String {
        let mut all = vec!["process", "start"];
        all.extend(args);
        self.run(&all).success().json()["process_id"].as_str().expect("a process id").to_owned()
    }

    /// `process get`.
    #[track_caller]
    pub fn process(&self, id: &str) -> serde_json::Value {
        self.run(&["process", "get", "@", id]).success().json()
    }
}

impl Drop for Sandbox {
    /// Ends everything in all boxes of the home before the folder goes.
    fn drop(&mut self) {
        let listed = self.home.run(&["local", "sandbox", "list", "--quiet"]);
        for id in listed.stdout.split_whitespace() {
            let removed = self.home.run(&["local", "sandbox", "rm", "--yes", id]);
            assert!(std::thread::panicking() || removed.code == 0, "{removed:?}");
        }
    }
}

/// Runs it where no file can grow by a single byte, as on a disk that is full.
fn on_a_full_disk(made: &Sandbox, args: &[&str]) -> Outcome {
    let inner = made.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    command.arg(inner.get_program()).args(inner.get_args()).env_clear().stdin(Stdio::null());
    command.current_dir(made.home().path());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    outcome(command)
}
