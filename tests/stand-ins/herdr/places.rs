//! Where Herdr keeps its files (docs/measured/herdr.md 2.1, 4.1).

use sha2::Digest;
use std::path::PathBuf;

/// Paths, as Herdr computes them from its environment.
pub(crate) struct Places {
    pub(crate) home: PathBuf,
    pub(crate) config_dir: PathBuf,
    pub(crate) state_dir: PathBuf,
    pub(crate) config_file: PathBuf,
}

impl Places {
    /// From this process's environment. An empty variable counts as set.
    pub(crate) fn from_env() -> Self {
        let home = PathBuf::from(std::env::var_os("HOME").expect("tests set HOME"));
        let base = |name: &str, fallback: &str| {
            std::env::var_os(name).map_or_else(|| home.join(fallback), PathBuf::from).join("herdr")
        };
        let config_dir = base("XDG_CONFIG_HOME", ".config");
        Self {
            state_dir: base("XDG_STATE_HOME", ".local/state"),
            config_file: std::env::var_os("HERDR_CONFIG_PATH")
                .map_or_else(|| config_dir.join("config.toml"), PathBuf::from),
            config_dir,
            home,
        }
    }

    /// The registry.
    pub(crate) fn registry(&self) -> PathBuf {
        self.config_dir.join("plugins.json")
    }

    /// The registry's lock.
    pub(crate) fn registry_lock(&self) -> PathBuf {
        self.config_dir.join(".plugins.lock")
    }

    /// A plugin's configuration folder.
    pub(crate) fn plugin_config(&self, id: &str) -> PathBuf {
        self.config_dir.join("plugins/config").join(encoded(id))
    }

    /// A plugin's state folder.
    pub(crate) fn plugin_state(&self, id: &str) -> PathBuf {
        self.state_dir.join("plugins").join(encoded(id))
    }

    /// The checkout of a plugin that was installed.
    pub(crate) fn checkout(&self, id: &str) -> PathBuf {
        let hash = sha2::Sha256::digest(id.as_bytes());
        let hex: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        self.config_dir.join("plugins/github").join(format!("{id}-{hex}"))
    }

    /// The socket of the default session.
    pub(crate) fn socket(&self) -> PathBuf {
        self.config_dir.join("herdr.sock")
    }

    /// Makes the plugin's two folders, as linking and asking for them do.
    pub(crate) fn make_plugin_folders(&self, id: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(self.plugin_config(id))?;
        std::fs::create_dir_all(self.plugin_state(id))
    }
}

fn encoded(id: &str) -> String {
    id.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
        text
    })
}
