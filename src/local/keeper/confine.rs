//! What a keeper gives up when all of the network is made. It takes packets that a box has made up, with the rights of the
//! user on the host: whatever they do to it, it can connect and look names up, and little else.

use crate::local::boxes::refusal;
use crate::local::failure::Result;
use crate::local::inside::privileges;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use rustix::process::DumpableBehavior;
use std::path::{Path, PathBuf};

/// What looking a name up reads: settings, libraries, and where the services of names keep theirs.
const READ: [&str; 12] = [
    "/etc",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/run/systemd/resolve",
    "/run/nscd",
    "/var/lib/sss",
    "/sys/devices/system/cpu",
    "/dev/null",
];
/// Links to where the settings really are, which may be anywhere.
const LINKS: [&str; 3] = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"];

/// Gives up capabilities, and what Landlock knows to shut: every file but those that it serves with, programs, ports to
/// listen on, and signals and sockets without a path beyond its own. Call it before there is another thread, which
/// would keep its own rights.
///
/// # Errors
/// The kernel refuses. One without Landlock is no error.
pub(super) fn confine(folder: &Path) -> Result<()> {
    let given_up = privileges::take_no_new().and_then(|()| privileges::give_up_capabilities());
    given_up.map_err(|refused| refusal::explain(&refused))?;
    // Nobody with this user's rights reads the memory of one that holds a proxy's credentials.
    let _stays_readable = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _older_kernel = restrict(folder);
    Ok(())
}

fn restrict(folder: &Path) -> std::result::Result<(), landlock::RulesetError> {
    let abi = ABI::V6;
    let run = AccessFs::Execute;
    let mut created = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::from_all(abi))?
        .create()?;
    let links =
        LINKS.iter().filter_map(|link| Some(Path::new(link).canonicalize().ok()?.parent()?.to_path_buf()));
    let read =
        READ.iter().map(PathBuf::from).chain(links).map(|path| (path, AccessFs::from_read(abi) & !run));
    let own = (folder.to_path_buf(), AccessFs::from_all(abi) & !run);
    for (path, access) in read.chain([own]) {
        // What is not there is not read.
        let Ok(place) = PathFd::new(&path) else { continue };
        created = created.add_rule(PathBeneath::new(place, access))?;
    }
    created.restrict_self().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream, ToSocketAddrs};

    /// What a thread that is restricted to this folder says.
    fn restricted<T: Send + 'static>(folder: &Path, tried: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let known = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::BindTcp)
            .and_then(Ruleset::create);
        // Before Linux 6.7 it shuts less: the manual says so.
        known.ok()?;
        let folder = folder.to_path_buf();
        let thread = std::thread::spawn(move || {
            privileges::take_no_new().unwrap();
            restrict(&folder).unwrap();
            tried()
        });
        Some(thread.join().unwrap())
    }

    #[test]
    fn a_keeper_reaches_its_box_and_names_and_no_other_file_program_or_port() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, outside) = (own.path().join("file"), other.path().join("file"));
        std::fs::write(&outside, "the user's own").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let Some(()) = restricted(own.path(), move || {
            std::fs::write(&inside, "kept").unwrap();
            std::fs::rename(&inside, inside.with_extension("new")).unwrap();
            assert!(std::fs::read("/etc/passwd").is_ok() && ("localhost", 80).to_socket_addrs().is_ok());
            TcpStream::connect(address).unwrap();
            let refused = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            refused(std::fs::read(&outside).unwrap_err());
            refused(std::fs::write(&outside, "").unwrap_err());
            refused(std::fs::write(outside.with_extension("new"), "").unwrap_err());
            refused(std::fs::write("/dev/shm/createos-sandbox-test", "").unwrap_err());
            refused(std::process::Command::new("/bin/true").spawn().unwrap_err());
            refused(TcpListener::bind("127.0.0.1:0").unwrap_err());
        }) else {
            return;
        };
    }
}
