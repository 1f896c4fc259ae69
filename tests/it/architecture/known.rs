//! What is still against the rules. Each list only gets shorter: what is in order must leave it.

/// Files in a circle of their room.
pub(super) const IN_A_CIRCLE: &[&str] = &[];

/// Files with more than [`LONG`](super::LONG) lines.
pub(super) const TOO_LONG: &[&str] = &[];

/// Modules beside the folder of their own modules.
pub(super) const BESIDE_ITS_FOLDER: &[&str] = &[];

/// Files outside of `ui` that write to the terminal.
pub(super) const WRITES: &[&str] = &[
    // Rightly: the program in a box, whose stdout and stderr are pipes of ours.
    "local/inside/dial.rs",
    "local/inside/files.rs",
];

/// Files outside of `exec` that start programs.
pub(super) const SPAWNS: &[&str] = &[
    // Rightly: the processes of a box, and who keeps them.
    "local/entry/spawn.rs",
    "local/inside/sys.rs",
    "local/process/launch.rs",
];
