//! Every path of ours and of Herdr's, computed and never created.
//!
//! Ours: a relative or empty `XDG_*` counts as unset. Herdr's: as Herdr 0.8.2 reads its
//! variables (docs/measured/herdr.md 2.1), where an empty one counts as set.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The plugin's id in Herdr's registry.
pub(crate) const PLUGIN_ID: &str = "createos.sandbox";

/// This program's own file, for children of ours and for manifests.
///
/// # Errors
/// The system does not tell.
pub(crate) fn own_binary() -> Result<PathBuf> {
    let path = std::env::current_exe().map_err(|source| {
        Error::cannot_run(format!("where this program's file is cannot be told: {source}"))
    })?;
    Ok(replaced(&path).unwrap_or(path))
}

/// The path itself, of one that Linux shows as `PATH (deleted)`: the file was replaced while it ran, as an
/// upgrade in place does, and what is there now is its newer self.
pub(crate) fn replaced(path: &Path) -> Option<PathBuf> {
    let plain = PathBuf::from(path.to_str()?.strip_suffix(" (deleted)")?);
    (!path.exists() && plain.exists()).then_some(plain)
}

/// Folders and files, computed from the environment.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    home: PathBuf,
    data: PathBuf,
    herdr_config: PathBuf,
    herdr_state: PathBuf,
    herdr_config_file: PathBuf,
}

/// The user's home folder: `HOME`, else what the system has on record.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

impl Paths {
    /// The paths for this process's environment.
    ///
    /// # Errors
    /// There is no home folder.
    pub(crate) fn from_env() -> Result<Self> {
        let home = home()
            .ok_or_else(|| Error::cannot_run("there is no home folder").help("set HOME and try again"))?;
        Ok(Self::compute(home, |name| std::env::var_os(name)))
    }

    fn compute(home: PathBuf, var: impl Fn(&str) -> Option<OsString>) -> Self {
        let ours = |name: &str, fallback: &str| {
            var(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(fallback))
        };
        let herdrs = |name: &str, fallback: &str| {
            var(name).map_or_else(|| home.join(fallback), PathBuf::from).join("herdr")
        };
        let herdr_config = herdrs("XDG_CONFIG_HOME", ".config");
        Self {
            data: ours("XDG_DATA_HOME", ".local/share").join("createos-sandbox"),
            herdr_config_file: var("HERDR_CONFIG_PATH")
                .map_or_else(|| herdr_config.join("config.toml"), PathBuf::from),
            herdr_state: herdrs("XDG_STATE_HOME", ".local/state"),
            herdr_config,
            home,
        }
    }

    /// The user's home folder.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Our data folder: bundled plugin, local boxes, receipts, kept patches.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The bundled plugin's folder, which Herdr links.
    pub(crate) fn bundled_plugin(&self) -> PathBuf {
        self.data.join("herdr-plugin")
    }

    /// The receipts of setups, and the originals that undo gives back.
    pub(crate) fn receipts(&self) -> PathBuf {
        self.data.join("receipts")
    }

    /// The local boxes, a folder each.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has local boxes"))]
    pub(crate) fn boxes(&self) -> PathBuf {
        self.data.join("boxes")
    }

    /// Herdr's configuration folder, where its plugin registry is.
    pub(crate) fn herdr_config_dir(&self) -> &Path {
        &self.herdr_config
    }

    /// Herdr's `config.toml`, wherever `HERDR_CONFIG_PATH` says it is.
    pub(crate) fn herdr_config_file(&self) -> &Path {
        &self.herdr_config_file
    }

    /// The plugin's own configuration, `config.json`.
    pub(crate) fn plugin_config(&self) -> PathBuf {
        self.herdr_config.join("plugins/config").join(PLUGIN_ID).join("config.json")
    }

    /// The plugin's state folder in Herdr's state, for processes that Herdr did not start.
    pub(crate) fn plugin_state(&self) -> PathBuf {
        self.herdr_state.join("plugins").join(PLUGIN_ID)
    }

    /// Folders for sockets, best first: short ones, since a socket's path has to be short. The folder is to be made
    /// with mode 0700, and its owner to be checked. The last one is the same in every environment.
    pub(crate) fn sockets() -> Vec<PathBuf> {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let ours = format!("createos-sandbox-{}", rustix::process::geteuid().as_raw());
        let mut folders = Vec::new();
        folders.extend(absolute("XDG_RUNTIME_DIR").map(|folder| folder.join("createos-sandbox")));
        folders.extend(absolute("TMPDIR").map(|folder| folder.join(&ours)));
        folders.push(Path::new("/tmp").join(ours));
        folders
    }

    /// The uid that the home folder belongs to, when we are root and it is not root's: what root writes there
    /// would be closed to its owner.
    pub(crate) fn foreign_home(&self) -> Option<u32> {
        use std::os::unix::fs::MetadataExt;
        let owner = std::fs::metadata(&self.home).ok()?.uid();
        (rustix::process::geteuid().is_root() && owner != 0).then_some(owner)
    }

    /// Refuses to write below another user's home as root.
    ///
    /// # Errors
    /// We are root, the home folder is not, and `folder` is in it.
    pub(crate) fn refuse_foreign_home(&self, folder: &Path) -> Result<()> {
        let Some(uid) = self.foreign_home().filter(|_| folder.starts_with(&self.home)) else {
            return Ok(());
        };
        Err(Error::usage(format!("{}; nothing was changed", is_foreign(uid)))
            .help("run it as that user, without sudo"))
    }

    /// `path` as a person writes it, with `~` for the home folder.
    pub(crate) fn show(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".into(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Why root does not write into a user's home.
pub(crate) fn is_foreign(uid: u32) -> String {
    format!("HOME belongs to uid {uid}, and this runs as root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_is_found_under_its_plain_name_only() {
        let dir = tempfile::tempdir().unwrap();
        let (plain, odd) = (dir.path().join("prog"), dir.path().join("prog (deleted)"));
        assert_eq!(replaced(&odd), None, "neither is there");
        std::fs::write(&plain, "").unwrap();
        assert_eq!(replaced(&odd).as_ref(), Some(&plain));
        assert_eq!(replaced(&plain), None);
        std::fs::write(&odd, "").unwrap();
        assert_eq!(replaced(&odd), None, "a file may be called so");
    }

    fn paths(vars: &[(&str, &str)]) -> Paths {
        let vars = vars.to_vec();
        Paths::compute("/h".into(), move |name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()))
    }

    #[test]
    fn ours_ignore_empty_and_relative_folders_and_herdrs_do_not() {
        let p = paths(&[("XDG_DATA_HOME", "rel"), ("XDG_CONFIG_HOME", "")]);
        assert_eq!(p.data(), Path::new("/h/.local/share/createos-sandbox"));
        assert_eq!(p.herdr_config_dir(), Path::new("herdr"));
        assert_eq!(p.plugin_state(), Path::new("/h/.local/state/herdr/plugins/createos.sandbox"));
    }

    #[test]
    fn herdr_config_path_moves_only_the_file() {
        let p = paths(&[("HERDR_CONFIG_PATH", "/x/c.toml")]);
        assert_eq!(p.herdr_config_file(), Path::new("/x/c.toml"));
        assert_eq!(
            p.plugin_config(),
            Path::new("/h/.config/herdr/plugins/config/createos.sandbox/config.json")
        );
    }

    #[test]
    fn the_home_folder_is_shown_as_a_tilde() {
        assert_eq!(paths(&[]).show(Path::new("/h/a/b")), "~/a/b");
        assert_eq!(paths(&[]).show(Path::new("/hx")), "/hx");
    }
}
