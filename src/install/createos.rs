//! The official createos CLI: the release's binary and its checksum, as the official installer takes them
//! (docs/measured/createos-cli.md 5.1), but without curl and without sudo.

use super::download::{Url, download};
use super::machine::{Installed, Machine, OnPath};
use super::template::TEMPLATE;
use crate::error::{Error, IoContext, Result};
use crate::exec::Run;
use crate::fs::digest;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PROGRAM: &str = "createos";
/// Names a mirror of the releases page.
const MIRROR: &str = "CREATEOS_RELEASES_URL";
/// What the replaced binary is called.
const BACKUP: &str = "createos.before-createos-sandbox";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CreateosInstall {
    asset: Url,
    target: PathBuf,
    replaces: bool,
}

impl CreateosInstall {
    /// Plans it: which asset, and where to. Variables are those of the official installer.
    pub(super) fn new(existing: Option<&Path>, machine: &Machine<'_>) -> Result<Self> {
        let releases = (machine.var)(MIRROR).unwrap_or_else(|| TEMPLATE.createos.releases.clone());
        let folder = Url::new(&releases, MIRROR)?.join(&release(machine.var)?);
        let target = folder_for(existing, machine).join(PROGRAM);
        Ok(Self { asset: folder.join(&asset()?), replaces: target.symlink_metadata().is_ok(), target })
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("download {} and its .sha256, and compare them", self.asset),
            format!("put it at {}", self.target.display()),
        ];
        if self.replaces {
            lines.push(format!("keep the one that is there as {BACKUP} beside it"));
        }
        lines
    }

    pub(super) fn install(&self, machine: &Machine<'_>) -> Result<Installed> {
        let sum = download(&Url::new(&format!("{}.sha256", self.asset), MIRROR)?)?;
        let binary = download(&self.asset)?;
        let expected: String = String::from_utf8_lossy(&sum).split_whitespace().collect();
        let actual = digest(&binary).to_string();
        if !expected.eq_ignore_ascii_case(&actual) {
            return Err(Error::failed(format!("the checksum of {} is wrong", self.asset))
                .fact("expected", expected)
                .fact("got", actual)
                .help("nothing was changed; the file is damaged or was tampered with"));
        }
        let backup = put(&binary, &self.target)?;
        Ok(Installed {
            on_path: OnPath::look(&self.target, PROGRAM, machine.path),
            path: self.target.clone(),
            backup,
        })
    }
}

/// `download/v1.2.3`, `download/nightly`, or `latest/download`.
fn release(var: &dyn Fn(&str) -> Option<String>) -> Result<String> {
    if let Some(version) = var("CREATEOS_VERSION") {
        let is_tag = version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_".contains(c))
            && !version.contains("..");
        if !is_tag {
            return Err(Error::usage(format!("CREATEOS_VERSION is no version: {version}"))
                .help("it is a tag such as v0.0.26"));
        }
        let v = if version.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
        return Ok(format!("download/{v}{version}"));
    }
    Ok(match var("CREATEOS_CHANNEL").as_deref() {
        Some("nightly") => "download/nightly".into(),
        _ => "latest/download".into(),
    })
}

fn asset() -> Result<String> {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => {
            return Err(Error::cannot_run(format!("there is no createos for the processor {other}"))
                .help("boxes on this machine need none: --provider local"));
        }
    };
    Ok(format!("{PROGRAM}-{system}-{processor}"))
}

/// The folder that the user names; else that of the copy to replace; else as the official installer has
/// it, without its sudo. A link is left to the package manager or the person who made it.
fn folder_for(existing: Option<&Path>, machine: &Machine<'_>) -> PathBuf {
    if let Some(folder) = (machine.var)("CREATEOS_INSTALL_DIR") {
        return PathBuf::from(folder);
    }
    let will_do = |folder: &&Path| {
        rustix::fs::access(*folder, rustix::fs::Access::WRITE_OK).is_ok()
            && !folder.join(PROGRAM).is_symlink()
    };
    let replaced = existing.and_then(Path::parent).filter(will_do);
    let official = Some(Path::new("/usr/local/bin")).filter(will_do);
    replaced.or(official).map_or_else(|| machine.home.join(".local/bin"), Path::to_path_buf)
}

/// Puts the binary in place at once, after it has run; gives back where the old one is kept.
fn put(binary: &[u8], target: &Path) -> Result<Option<PathBuf>> {
    let folder = target.parent().expect("the target has a name in a folder");
    std::fs::create_dir_all(folder).at("create the folder", folder)?;
    let mut staged =
        tempfile::Builder::new().prefix(".createos-").tempfile_in(folder).at("create a file in", folder)?;
    staged.write_all(binary).at("write", staged.path())?;
    let mode = std::fs::Permissions::from_mode(0o755);
    staged.as_file().set_permissions(mode).at("set the mode of", staged.path())?;
    staged.as_file().sync_all().at("sync", staged.path())?;
    // Closed before it runs: a file that is open for writing cannot be started.
    let staged = staged.into_temp_path();
    let asked = Run::new(&*staged).arg("--version").cwd("/").env("CREATEOS_DO_NOT_TRACK", "1");
    match asked.limit(Duration::from_secs(15)).run() {
        Ok(ended) if ended.success() => {}
        Ok(ended) => {
            return Err(does_not_run(&format!("it ended with {}: {}", ended.code(), ended.stderr_text())));
        }
        Err(error) => return Err(does_not_run(&error.to_string())),
    }
    let backup = keep(target)?;
    staged.persist(target).map_err(|refused| Error::io("replace", target, &refused.error))?;
    Ok(backup)
}

fn does_not_run(why: &str) -> Error {
    Error::failed("the createos that was downloaded does not run on this machine")
        .fact("reason", why)
        .help("nothing was changed")
}

/// Keeps the file at `target` beside it: the first one for ever, since it may be a build of the user's own.
fn keep(target: &Path) -> Result<Option<PathBuf>> {
    if target.symlink_metadata().is_err() {
        return Ok(None);
    }
    let later = (1..).map(|number| target.with_file_name(format!("{BACKUP}.{number}")));
    let mut places = std::iter::once(target.with_file_name(BACKUP)).chain(later);
    let free = places.find(|place| place.symlink_metadata().is_err());
    let backup = free.expect("there is always another number");
    // Not every file system has hard links.
    if std::fs::hard_link(target, &backup).is_err() {
        std::fs::copy(target, &backup).at("keep a copy of", target)?;
    }
    Ok(Some(backup))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(vars: &[(&str, &str)]) -> Result<CreateosInstall> {
        let vars: Vec<(String, String)> = vars.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        let var = move |name: &str| vars.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        CreateosInstall::new(
            None,
            &Machine { home: Path::new("/h"), path: std::ffi::OsStr::new(""), var: &var },
        )
    }

    #[test]
    fn the_official_installers_variables_are_read() {
        let asset = |vars: &[(&str, &str)]| {
            let plan = planned(&[vars, &[("CREATEOS_INSTALL_DIR", "/d")]].concat()).unwrap();
            assert_eq!(plan.target, Path::new("/d/createos"));
            let text = plan.asset.to_string();
            text.rsplit_once("/createos-cli/releases/")
                .unwrap()
                .1
                .rsplit_once("/createos-")
                .unwrap()
                .0
                .to_owned()
        };
        assert_eq!(asset(&[]), "latest/download");
        assert_eq!(asset(&[("CREATEOS_VERSION", "v0.0.27")]), "download/v0.0.27");
        assert_eq!(
            asset(&[("CREATEOS_VERSION", "0.0.27"), ("CREATEOS_CHANNEL", "nightly")]),
            "download/v0.0.27"
        );
        assert_eq!(asset(&[("CREATEOS_CHANNEL", "nightly")]), "download/nightly");
        assert!(planned(&[("CREATEOS_VERSION", "../x")]).is_err());
        assert!(planned(&[(MIRROR, "http://mirror.invalid")]).is_err());
    }

    #[test]
    fn what_is_replaced_is_kept_the_first_one_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("createos");
        assert_eq!(keep(&target).unwrap(), None);
        std::fs::write(&target, "mine").unwrap();
        assert_eq!(keep(&target).unwrap(), Some(dir.path().join(BACKUP)));
        std::fs::remove_file(&target).unwrap();
        std::fs::write(&target, "second").unwrap();
        assert_eq!(keep(&target).unwrap(), Some(dir.path().join(format!("{BACKUP}.1"))));
        assert_eq!(std::fs::read_to_string(dir.path().join(BACKUP)).unwrap(), "mine");
    }
}
