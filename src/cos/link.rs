//! `cos install`: the link by which this program is called `cos`.

use super::name::NAME;
use super::say::say;
use crate::createos::Own;
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::paths::Paths;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Makes the link at `target`, or at `~/.local/bin/cos`. What is there and is not ours stays.
///
/// # Errors
/// Something else is there, or the folder cannot be written.
pub(super) fn install(target: Option<&Path>) -> Result<Exit> {
    let paths = Paths::from_env()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = Own::of_this_process()?;
    let link = match target {
        Some(target) => std::path::absolute(target).at("find the folder of", target)?,
        None => paths.home().join(".local/bin").join(NAME),
    };
    paths.refuse_foreign_home(&link)?;
    let folder = link.parent().ok_or_else(|| Error::usage(format!("{} is no file", link.display())))?;
    std::fs::create_dir_all(folder).at("create the folder", folder)?;
    let lasting = own.lasting_path(&path);
    match std::fs::symlink_metadata(&link) {
        Err(source) if source.kind() == ErrorKind::NotFound => point(&link, &lasting)?,
        Err(source) => return Err(Error::io("look at", &link, &source)),
        Ok(_) if std::fs::read_link(&link).is_ok_and(|target| target == lasting) => {}
        // An older link of ours, also one that leads nowhere since the binary was moved.
        Ok(found) if found.is_symlink() && (own.is(&link) || leads_to_us(&link)) => point(&link, &lasting)?,
        Ok(_) => {
            return Err(Error::failed(format!("{} is there already, and not ours", link.display()))
                .help("move it away, or name another place behind install"));
        }
    }
    say(format!("{} leads to {}", paths.show(&link), paths.show(&lasting)));
    let first = which::which_in(NAME, Some(&path), "/").ok();
    let real = |path: &Path| path.canonicalize().ok();
    say(match first {
        Some(first) if real(&first) == real(&link) => "its folder is on PATH: cos works here".to_owned(),
        Some(first) => format!("another cos comes first on PATH: {}", first.display()),
        None => format!("its folder is not on PATH: add {}", paths.show(folder)),
    });
    Ok(Exit::DONE)
}

fn leads_to_us(link: &Path) -> bool {
    let target = std::fs::read_link(link).unwrap_or_default();
    target.file_name().is_some_and(|name| name == env!("CARGO_PKG_NAME"))
}

/// Puts the new link in place of the old one at once: beside it, then renamed.
fn point(link: &Path, target: &Path) -> Result<()> {
    let beside: PathBuf = link.with_file_name(format!(".{NAME}-new-{}", std::process::id()));
    std::os::unix::fs::symlink(target, &beside).at("create", &beside)?;
    std::fs::rename(&beside, link).at("replace", link)
}
