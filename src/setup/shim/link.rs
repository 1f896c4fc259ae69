//! The link `createos` in a folder of our own, and whether PATH leads there first.

use super::real::install_official;
use crate::createos::{Own, PROGRAM_NAME, official, on_path};
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::paths::Paths;
use crate::ui;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What a shell finds under the name `createos`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShimState {
    /// There is no link.
    Absent,
    /// The link is there and comes first on PATH.
    First,
    /// The link is there, but this program comes before it.
    Behind(PathBuf),
    /// The link is there, but its folder is not on PATH.
    OffPath,
    /// The link leads nowhere: the binary was moved or removed.
    Broken(PathBuf),
}

/// The link's state for this value of PATH. Reads only.
pub(crate) fn state(paths: &Paths, path: &OsStr) -> ShimState {
    let link = link(paths);
    let Ok(target) = std::fs::read_link(&link) else { return ShimState::Absent };
    if !link.exists() {
        return ShimState::Broken(target);
    }
    let is_link = |found: &PathBuf| found.canonicalize().ok() == link.canonicalize().ok();
    match on_path(path).next() {
        Some(first) if is_link(&first) => ShimState::First,
        Some(first) if on_path(path).any(|found| is_link(&found)) => ShimState::Behind(first),
        _ => ShimState::OffPath,
    }
}

/// Makes the link and says how PATH gets it. A link that is right already stays.
///
/// # Errors
/// Something else stands at its place, or the folder cannot be written.
pub(crate) fn install(paths: &Paths, path: &OsStr, shell: Option<&OsStr>) -> Result<Exit> {
    let link = link(paths);
    let folder = folder(paths);
    let own = Own::of_this_process()?.lasting_path(path);
    std::fs::create_dir_all(&folder).at("create the folder", &folder)?;
    match std::fs::read_link(&link) {
        Ok(target) if target == own => {}
        Ok(_) => point(&link, &own)?,
        Err(source) if source.kind() == ErrorKind::NotFound => point(&link, &own)?,
        Err(_) => return Err(not_ours(&link)),
    }
    ui::line(format!("{} leads to {}", paths.show(&link), paths.show(&own)));
    match state(paths, path) {
        ShimState::First => ui::line("It comes first on PATH: createos sandbox setup herdr works here."),
        _ => {
            let (file, line) = path_line(&folder, shell);
            ui::line(format!("Put its folder first on PATH, in {file}:\n\n  {line}\n"));
        }
    }
    if official(path).is_none() {
        ui::line(format!(
            "The official createos is not on PATH: by this link only createos sandbox setup herdr works until it is.\n\
             To install it: {}",
            install_official()
        ));
    }
    Ok(Exit::DONE)
}

/// Removes the link, and its folder when nothing else is in it.
///
/// # Errors
/// Something that is no link stands at its place, or the folder cannot be written.
pub(crate) fn remove(paths: &Paths) -> Result<Exit> {
    let link = link(paths);
    match std::fs::symlink_metadata(&link) {
        Err(source) if source.kind() == ErrorKind::NotFound => {
            ui::line("There is no link to remove.");
            return Ok(Exit::DONE);
        }
        Err(source) => return Err(Error::io("read", &link, &source)),
        Ok(metadata) if !metadata.is_symlink() => return Err(not_ours(&link)),
        Ok(_) => std::fs::remove_file(&link).at("remove", &link)?,
    }
    match std::fs::remove_dir(folder(paths)) {
        Err(source) if source.kind() != ErrorKind::DirectoryNotEmpty => {
            return Err(Error::io("remove the folder", &folder(paths), &source));
        }
        _ => {}
    }
    // Ours by name; it stays when the bundled plugin or a box is in it.
    let _in_use = std::fs::remove_dir(paths.data());
    ui::line(format!("Removed {}. The line in your shell's file does no harm.", paths.show(&link)));
    Ok(Exit::DONE)
}

fn folder(paths: &Paths) -> PathBuf {
    paths.data().join("shim")
}

fn link(paths: &Paths) -> PathBuf {
    folder(paths).join(PROGRAM_NAME)
}

/// Puts the new link in place of the old one at once: beside it, then renamed.
fn point(link: &Path, target: &Path) -> Result<()> {
    let beside = link.with_extension(format!("new-{}", std::process::id()));
    std::os::unix::fs::symlink(target, &beside).at("create", &beside)?;
    std::fs::rename(&beside, link).at("replace", link)
}

fn not_ours(link: &Path) -> Error {
    Error::failed(format!("{} is not a link of ours", link.display())).help("look at it, and move it away")
}

/// The shell's own file, and the line that puts `folder` first on PATH.
fn path_line(folder: &Path, shell: Option<&OsStr>) -> (&'static str, String) {
    let name = shell.and_then(|shell| Path::new(shell).file_name()).and_then(OsStr::to_str).unwrap_or("sh");
    let folder = folder.to_string_lossy();
    let posix = crate::command::quoted(&folder);
    match name {
        "fish" => {
            ("~/.config/fish/config.fish", format!("fish_add_path --prepend {}", quoted(&folder, "\\'")))
        }
        "zsh" => ("~/.zshrc", format!("export PATH={posix}:\"$PATH\"")),
        "bash" => ("~/.bashrc", format!("export PATH={posix}:\"$PATH\"")),
        "csh" | "tcsh" => ("~/.cshrc", format!("set path = ({posix} $path)")),
        "nu" => ("config.nu", format!("$env.PATH = ($env.PATH | prepend {})", nu_quoted(&folder))),
        "elvish" => ("rc.elv", format!("set paths = [{} $@paths]", quoted(&folder, "''"))),
        _ => ("~/.profile", format!("export PATH={posix}:\"$PATH\"")),
    }
}

/// In single quotes, a quote inside as this shell writes it; bare when nothing needs quoting.
fn quoted(text: &str, quote: &str) -> String {
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+@%,".contains(&b)) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', quote))
}

fn nu_quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_the_shells_own() {
        let line = |shell: &str, folder: &str| path_line(Path::new(folder), Some(OsStr::new(shell)));
        assert_eq!(line("/bin/zsh", "/h/shim"), ("~/.zshrc", "export PATH=/h/shim:\"$PATH\"".into()));
        assert_eq!(line("/usr/bin/fish", "/a b's").1, "fish_add_path --prepend '/a b\\'s'");
        assert_eq!(line("bash", "/a b's").1, "export PATH='/a b'\\''s':\"$PATH\"");
        assert_eq!(path_line(Path::new("/h"), None).0, "~/.profile");
    }
}
