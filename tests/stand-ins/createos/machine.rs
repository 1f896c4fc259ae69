//! The image of a microVM has no agent, but our own provider's boxes have the programs of this machine in sight:
//! agents that are installed here are taken off the PATH of their login shells.

use std::path::Path;

/// What `templates/agents.toml` calls `program`, without the shell.
const AGENTS: [&str; 9] =
    ["claude", "codex", "opencode", "pi", "cursor-agent", "gemini", "copilot", "qwen", "amp"];
/// Where a box finds programs of this machine; the last one wins.
const FOLDERS: [&str; 2] = ["/usr/bin", "/usr/local/bin"];

/// The script that hides them in a new box; `None` on a machine without agents.
pub(crate) fn hide_agents() -> Option<String> {
    let here = |agent: &&str| FOLDERS.iter().any(|folder| Path::new(folder).join(agent).exists());
    let agents: Vec<_> = AGENTS.into_iter().filter(here).map(|agent| format!("~/.machine/{agent}")).collect();
    (!agents.is_empty()).then(|| {
        format!(
            // Folders in them are left out, which `cp` says.
            "mkdir -p ~/.machine; for f in {}; do cp -sf $f/* ~/.machine 2>/dev/null; done; rm {} && \
             echo 'PATH=~/.local/bin:~/.machine:/usr/local/sbin:/usr/sbin' > ~/.bash_profile",
            FOLDERS.join(" "),
            agents.join(" ")
        )
    })
}
