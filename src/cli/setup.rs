//! `createos-sandbox setup …`: setup and doctor.

use crate::config::Agent;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `setup`.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 done, or a doctor with nothing worse than warnings; \
                        1 it failed, or a required check failed; 2 wrong use, or it could not run at all.")]
pub(crate) struct SetupArgs {
    /// The program to set up; only herdr so far
    #[arg(value_enum, default_value_t = Host::Herdr, hide_possible_values = true)]
    pub(crate) host: Host,

    /// Check everything and change nothing
    #[arg(long, conflicts_with_all = ["dry_run", "undo", "force"])]
    pub(crate) doctor: bool,

    /// Link the plugin's checkout in this folder, and run its build.sh (for developers of the plugin)
    #[arg(long, value_name = "PATH", conflicts_with = "source")]
    pub(crate) local: Option<PathBuf>,

    /// Which plugin to link or install.
    #[arg(
        help = "Which plugin: bundled (the one in this program), or github[:OWNER/REPO/PATH][@REF] [default: bundled]",
        long,
        value_name = "SOURCE"
    )]
    pub(crate) source: Option<String>,

    /// The settings.
    #[command(flatten)]
    pub(crate) settings: SettingArgs,

    /// Another chord for an action, such as delete=prefix+alt+x; give it once for each
    #[arg(long, value_name = "ACTION=CHORD", conflicts_with = "no_keys")]
    pub(crate) key: Vec<String>,

    /// Turn Herdr's own notices on in config.toml, so that what an action did is told
    #[arg(long, conflicts_with = "no_keys")]
    pub(crate) notices: bool,

    /// Leave config.toml alone and print the block to paste
    #[arg(long)]
    pub(crate) no_keys: bool,

    /// Rewrite an existing config.json: flags win, other valid settings stay
    #[arg(long)]
    pub(crate) force: bool,

    /// Rewrite an existing config.json from the defaults
    #[arg(long, conflicts_with = "force")]
    pub(crate) reset: bool,

    /// Show what would change, with diffs, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Take back what setup did
    #[arg(long, conflicts_with_all = ["local", "source", "SettingArgs", "key", "notices", "no_keys", "force", "reset"])]
    pub(crate) undo: bool,

    /// Install what is missing or too old (createos, Herdr, Bun) without asking
    #[arg(long, conflicts_with_all = ["doctor", "undo"])]
    pub(crate) install_missing: bool,

    /// Ask no questions, and install nothing that was not asked for
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,

    /// One JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Warnings fail, too
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Options that give a setting.
#[derive(Debug, Args)]
pub(crate) struct SettingArgs {
    /// The agent that runs in a box.
    #[arg(long, value_name = "AGENT", help = agents())]
    pub(crate) agent: Option<String>,

    /// The agent asks nothing before it acts, since the box is the wall
    #[arg(long)]
    pub(crate) unattended: bool,

    /// The size of a box, such as s-2vcpu-4gb [env: CREATEOS_SHAPE]
    #[arg(long, value_name = "SHAPE")]
    pub(crate) shape: Option<String>,

    /// The image of a box, such as devbox:1 [env: CREATEOS_ROOTFS]
    #[arg(long, value_name = "IMAGE")]
    pub(crate) rootfs: Option<String>,

    /// Idle time after which a box pauses itself, from 1m to 24h
    #[arg(long, value_name = "DURATION")]
    pub(crate) auto_pause: Option<String>,

    /// Where the worktree lands in the box
    #[arg(long, value_name = "PATH")]
    pub(crate) remote_root: Option<String>,

    /// A host that boxes may reach; give it once for each, or `none` for an empty list (open traffic)
    #[arg(long, value_name = "RULE")]
    pub(crate) egress: Vec<String>,

    /// The network of boxes on this machine: own (the default), host (this machine's own, with no rules) or none
    #[arg(long, value_name = "NETWORK")]
    pub(crate) network: Option<String>,

    /// A path, a folder/ or *.ext that stays home; give it once for each
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// A pattern that file sync leaves alone; give it once for each
    #[arg(long, value_name = "PATTERN")]
    pub(crate) sync_exclude: Vec<String>,

    /// Who makes the boxes: createos, or local (on this machine, no account)
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
}

fn agents() -> String {
    let names: Vec<_> = Agent::all().map(Agent::name).collect();
    let (last, others) = names.split_last().expect("there are agents");
    format!("The agent: {} or {last} [env: CREATEOS_AGENT]", others.join(", "))
}

/// What can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Host {
    /// The Herdr terminal workspace manager
    Herdr,
}
