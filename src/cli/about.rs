//! `createos-sandbox completions|man|version`: what the binary says about itself.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Where the script goes:\n  \
    bash   ~/.local/share/bash-completion/completions/createos-sandbox\n  \
    zsh    ~/.zfunc/_createos-sandbox, with fpath+=~/.zfunc before compinit in ~/.zshrc\n  \
    fish   ~/.config/fish/completions/createos-sandbox.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    pub(crate) shell: Shell,
}

/// Options of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for every command into this folder, which is made when missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Options of `version`.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
