//! Landlock, where the kernel has it: a wall behind the walls, of the kernel's own making and not of namespaces.

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use std::path::Path;

/// Shuts what Landlock can shut: nothing is written but below `root`, whatever mount or descriptor leads out of it, and
/// nothing is mounted; without `root` that stays open. Where the network namespace is the host's, so are its abstract
/// sockets (X11, D-Bus): they are shut off from Linux 6.12 on, before that this does nothing. A namespace of the box's own
/// has none of them on any kernel.
///
/// It is one ruleset: one that says nothing of files, beside one that does, takes the right to link and to move between
/// folders away. Before Linux 5.19 Landlock could not be told that right at all, and the first half is left out.
pub(super) fn shut(root: Option<&Path>) {
    let all = root.and_then(|root| {
        [ABI::V3, ABI::V2].into_iter().find(|abi| allow(root, AccessFs::from_write(*abi)).is_ok())
    });
    if all.is_none() {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).scope(scopes());
        let _best_effort =
            ruleset.and_then(|ruleset| ruleset.create()).and_then(|created| created.restrict_self());
    }
}

fn scopes() -> BitFlags<Scope> {
    Scope::AbstractUnixSocket | Scope::Signal
}

fn allow(root: &Path, write: BitFlags<AccessFs>) -> Result<(), RulesetError> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(write)?;
    let created = ruleset.set_compatibility(CompatLevel::BestEffort).scope(scopes())?.create()?;
    // A folder that cannot be opened would leave nothing at all to write to.
    let Ok(place) = PathFd::new(root) else { return Ok(()) };
    created.add_rule(PathBeneath::new(place, write))?.restrict_self().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn nothing_is_written_outside_and_files_move_inside() {
        let known = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::Refer)
            .and_then(Ruleset::create);
        if known.is_err() {
            return; // Before Linux 5.19 there is no such wall: the manual says so.
        }
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, outside) = (own.path().to_path_buf(), other.path().to_path_buf());
        std::fs::write(outside.join("file"), "the host's own").unwrap();
        let tried = std::thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            shut(Some(&inside));
            for folder in ["a", "b"] {
                std::fs::create_dir(inside.join(folder)).unwrap();
            }
            std::fs::write(inside.join("a/file"), "own").unwrap();
            std::fs::rename(inside.join("a/file"), inside.join("b/file")).unwrap();
            std::fs::hard_link(inside.join("b/file"), inside.join("a/link")).unwrap();
            assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "the host's own");
            let refused = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            refused(std::fs::write(outside.join("file"), "").unwrap_err());
            refused(std::fs::write(outside.join("new"), "").unwrap_err());
            refused(std::fs::remove_file(outside.join("file")).unwrap_err());
            refused(std::fs::create_dir(outside.join("folder")).unwrap_err());
        });
        tried.join().unwrap();
    }
}
