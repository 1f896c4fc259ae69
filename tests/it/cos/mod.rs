//! `cos`, on real local boxes and with the stand-in for the official CLI.

mod defects;
mod examples;
mod fanout;
mod killed;
mod offload;
mod project;
mod service;
mod shell;
mod wanted;
mod words;

use crate::support::{Home, Outcome, Repo, binary, generation, outcome, stand_in};
use serde_json::{Map, Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A home with a project, whose boxes go with it.
pub struct Cos {
    home: Home,
    repo: Repo,
    script: Map<String, Value>,
}

impl Cos {
    /// Boxes of this machine.
    pub fn local() -> Self {
        Self::of(Home::new().with_bin().var("COS_PROVIDER", "local"))
    }

    /// Boxes that the stand-in plays.
    pub fn service() -> Self {
        let mut cos = Self::of(Home::new().with_bin().var("CREATEOS_API_KEY", "k"));
        symlink(stand_in("createos-stand-in"), cos.home.path().join("bin/createos")).expect("a link");
        std::fs::create_dir_all(cos.home.path().join(".createos-stand-in")).expect("a folder");
        cos.script("provider", json!(binary()));
        cos.script("generation", json!(generation()));
        cos
    }

    fn of(home: Home) -> Self {
        let repo = Repo::init(&home.path().join("shop"));
        repo.write("README.md", "hello\n").write("src/main.py", "print('hi')\n").write(".env", "A=1\n");
        repo.write(".gitignore", "out/\n").commit("one");
        Self { home, repo, script: Map::new() }
    }

    /// Scripts the stand-in.
    pub fn script(&mut self, key: &str, value: Value) {
        self.script.insert(key.into(), value);
        self.home.write(".createos-stand-in/control.json", Value::Object(self.script.clone()).to_string());
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(&[&["cos"], args].concat());
        command.current_dir(self.repo.root());
        command
    }

    /// `cos …` in the project.
    #[must_use = "assert on the exit code or the output"]
    pub fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    /// The same, going on by itself.
    pub fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// The state folder.
    pub fn state(&self) -> PathBuf {
        self.home.path().join(".cache/createos-sandbox")
    }

    /// Records of boxes of calls.
    pub fn records(&self) -> Vec<Value> {
        let entries = std::fs::read_dir(self.state().join("boxes")).into_iter().flatten().flatten();
        let files = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"));
        files
            .map(|path| serde_json::from_slice(&std::fs::read(path).expect("a record")).expect("JSON"))
            .collect()
    }

    /// The project's record.
    pub fn own(&self) -> Option<Value> {
        let entries =
            std::fs::read_dir(self.state()).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
        files
            .next()
            .map(|path| serde_json::from_slice(&std::fs::read(path).expect("a record")).expect("JSON"))
    }

    /// The boxes that there are.
    pub fn boxes(&self) -> Vec<Value> {
        let listed = self.home.run(&["local", "-o", "json", "sandbox", "list"]).success();
        listed.json().as_array().expect("a list").clone()
    }

    /// The calls that the stand-in got, each as its words.
    pub fn calls(&self) -> Vec<Vec<String>> {
        let text =
            std::fs::read_to_string(self.home.path().join(".createos-stand-in/calls")).unwrap_or_default();
        let words = |line: &str| {
            let call: Value = serde_json::from_str(line).expect("a call");
            call["argv"]
                .as_array()
                .expect("words")
                .iter()
                .map(|word| word.as_str().expect("text").to_owned())
                .collect()
        };
        text.lines().map(words).collect()
    }

    /// Asserts that no box and no record is left.
    #[track_caller]
    pub fn has_nothing_left(&self) {
        assert_eq!(self.boxes(), Vec::<Value>::new());
        assert_eq!(self.records(), Vec::<Value>::new());
        let unknown = self.home.path().join(".createos-stand-in/unknown");
        assert!(!unknown.exists(), "{}", std::fs::read_to_string(unknown).unwrap_or_default());
    }
}

impl Drop for Cos {
    /// Ends everything in all boxes before the home goes.
    fn drop(&mut self) {
        let listed = self.home.run(&["local", "sandbox", "list", "--quiet"]);
        for id in listed.stdout.split_whitespace() {
            let removed = self.home.run(&["local", "sandbox", "rm", "--yes", id]);
            assert!(std::thread::panicking() || removed.code == 0, "{removed:?}");
        }
    }
}

/// Bytes of all kinds, the same each time.
pub fn mixed(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Whether a file is there.
pub fn is_there(root: &Path, relative: &str) -> bool {
    root.join(relative).symlink_metadata().is_ok()
}
