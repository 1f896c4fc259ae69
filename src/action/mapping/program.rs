//! Finds the programs that the actions call: recorded by setup, then PATH, then the usual folders.

use crate::command;
use crate::error::{Error, Result};
use crate::paths::Paths;
use std::path::{Path, PathBuf};

/// Folders that a server's PATH often lacks; `~` is the home folder.
const USUAL: [&str; 5] = ["~/.local/bin", "~/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];

/// The program `name`: the recorded one if it is still there, else the first on PATH and in the usual folders.
///
/// # Errors
/// It is nowhere; everything that was looked at is named.
pub(crate) fn find(name: &str, paths: &Paths) -> Result<PathBuf> {
    look(name, recorded(paths, name).as_deref(), paths.home())
}

fn look(name: &str, recorded: Option<&Path>, home: &Path) -> Result<PathBuf> {
    let mut looked = Vec::new();
    if let Some(path) = recorded {
        if is_program(path) {
            return Ok(path.to_path_buf());
        }
        looked.push(path.display().to_string());
    }
    if let Ok(path) = which::which(name) {
        return Ok(path);
    }
    looked.push(format!("PATH={}", std::env::var("PATH").unwrap_or_default()));
    for folder in USUAL {
        let folder = match folder.strip_prefix("~/") {
            Some(below) => home.join(below),
            None => PathBuf::from(folder),
        };
        let path = folder.join(name);
        if is_program(&path) {
            return Ok(path);
        }
        looked.push(path.display().to_string());
    }
    let error = Error::cannot_run(format!("{name} was not found"));
    let error = looked.into_iter().fold(error, |error, place| error.fact("not in", place));
    Err(error.help(format!("check the setup with: {}", command::setup().flag("--doctor"))))
}

/// The `herdr` that started us, whose path gets a suffix when the file was replaced (docs/measured/herdr.md 6.1);
/// else the recorded one, else as [`find`].
pub(crate) fn herdr(paths: &Paths) -> Result<PathBuf> {
    let named = std::env::var_os("HERDR_BIN_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = named.map(|path| crate::paths::replaced(&path).unwrap_or(path));
    match recorded(paths, "herdr").filter(|_| !named.as_deref().is_some_and(is_program)) {
        Some(recorded) if is_program(&recorded) => Ok(recorded),
        _ => look("herdr", named.as_deref(), paths.home()),
    }
}

/// The absolute path that setup checked and wrote beside the manifest.
fn recorded(paths: &Paths, name: &str) -> Option<PathBuf> {
    let text = crate::fs::read_regular(&paths.bundled_plugin().join("programs.json")).ok()?;
    let programs: serde_json::Value = serde_json::from_slice(&text).ok()?;
    programs.get(name)?.as_str().map(PathBuf::from)
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.is_absolute()
        && std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_named() {
        let error = look("createos-nowhere", Some(Path::new("/gone/createos")), Path::new("/h")).unwrap_err();
        let facts: Vec<_> = error.facts().iter().map(|(_, value)| value.as_str()).collect();
        assert!(facts.contains(&"/gone/createos"), "{facts:?}");
        assert!(facts.contains(&"/h/.local/bin/createos-nowhere"), "{facts:?}");
    }
}
