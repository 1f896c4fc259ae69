//! Herdr for a test: the real one when `HERDR_BIN_PATH` names it, else the stand-in, on the home's own PATH.

use super::{Home, Outcome, outcome, stand_in};
use serde_json::{Map, Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Herdr that a home's programs find first on their PATH.
pub struct Herdr<'a> {
    home: &'a Home,
    script: Map<String, Value>,
}

/// The real Herdr's binary, when there is one.
pub fn real_herdr() -> Option<PathBuf> {
    std::env::var_os("HERDR_BIN_PATH").map(PathBuf::from)
}

impl<'a> Herdr<'a> {
    /// Puts `herdr` into the home's `bin`. The home has to have that folder on its PATH: [`Home::with_bin`].
    pub fn in_home(home: &'a Home) -> Self {
        let program = real_herdr().unwrap_or_else(|| {
            std::fs::create_dir_all(home.path().join(".herdr-stand-in")).expect("a folder");
            stand_in("herdr-stand-in")
        });
        let link = home.path().join("bin/herdr");
        symlink(program, link).expect("a link to herdr");
        home.own(home.path());
        Self { home, script: Map::new() }
    }

    /// Whether it is the stand-in, which can be scripted.
    pub fn is_stand_in(&self) -> bool {
        real_herdr().is_none()
    }

    /// Scripts one thing of the stand-in's `control.json`.
    pub fn script(&mut self, key: &str, value: Value) {
        assert!(self.is_stand_in(), "only the stand-in can be scripted");
        self.script.insert(key.into(), value);
        self.home.write(".herdr-stand-in/control.json", Value::Object(self.script.clone()).to_string());
    }

    /// Makes calls that begin with these words fail.
    pub fn fail(&mut self, words: &str, code: u8, stderr: &str) {
        self.script("fail", json!({ words: { "code": code, "stderr": stderr } }));
    }

    /// Runs herdr itself as the home's user.
    pub fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.home.command_of(&self.home.path().join("bin/herdr"), args))
    }

    /// The calls so far, each as one line. Only the stand-in records.
    pub fn calls(&self) -> Vec<String> {
        let file = self.home.path().join(".herdr-stand-in/calls");
        std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The registry's records.
    pub fn registry(&self) -> Vec<Value> {
        let file = self.home.path().join(".config/herdr/plugins.json");
        std::fs::read(file).map_or_else(|_| Vec::new(), |bytes| serde_json::from_slice(&bytes).expect("JSON"))
    }
}

impl Drop for Herdr<'_> {
    fn drop(&mut self) {
        let unknown = std::fs::read_to_string(self.home.path().join(".herdr-stand-in/unknown"));
        if let (Ok(unknown), false) = (unknown, std::thread::panicking()) {
            panic!("calls that are not in Herdr's contract:\n{unknown}");
        }
    }
}

/// Writes an executable script of the home's user. A program of its own copies it into place: see [`stand_in`].
pub fn program(home: &Home, relative: &str, text: &str) -> PathBuf {
    let draft = home.write(&format!("{relative}.draft"), text);
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = home.path().join(relative);
    let status = Command::new("cp").arg("-p").arg(&draft).arg(&path).status().expect("cp starts");
    assert!(status.success(), "a copy of {}", draft.display());
    std::fs::remove_file(draft).expect("the draft goes");
    path
}

/// A bare repository that answers for `https://github.com/OWNER/REPO.git` in this home, holding `files`.
pub fn on_github(home: &Home, owner: &str, repo: &str, files: &[(&str, &str)]) {
    let work = super::Repo::init(&home.path().join("github").join(format!("{repo}-work")));
    for (path, contents) in files {
        work.write(path, contents);
    }
    work.commit("a plugin");
    let bare = home.path().join("github").join(owner).join(format!("{repo}.git"));
    std::fs::create_dir_all(bare.parent().expect("a folder")).expect("folders");
    work.git(&["clone", "-q", "--bare", ".", text(&bare)]);
    let config = format!(
        "[url \"{}\"]\n\tinsteadOf = https://github.com/{owner}/{repo}.git\n[safe]\n\tdirectory = *\n",
        bare.display()
    );
    home.write(".gitconfig", config);
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
