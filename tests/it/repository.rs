//! What must stand in no file of this repository, whoever writes it.

use crate::support::{outcome, skipped};
use std::path::Path;
use std::process::Command;

/// Hosts of package registries, in pieces, so that this file has none. Machines that bring packages from elsewhere
/// rewrite them or refuse what names them; example.com stands in.
const REGISTRIES: [[&str; 2]; 8] = [
    ["registry.npm", "js.org"],
    ["registry.yarn", "pkg.com"],
    ["crates", ".io"],
    ["pypi", ".org"],
    ["python", "hosted.org"],
    ["rubygems", ".org"],
    ["proxy.golang", ".org"],
    ["repo.maven", ".apache.org"],
];

#[test]
fn no_file_names_the_host_of_a_package_registry() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut git = Command::new("git");
    git.arg("-C").arg(top).args(["ls-files", "-z"]);
    let listed = outcome(git);
    if listed.code != 0 {
        skipped(&format!("this is no checkout: {}", listed.stderr));
        return;
    }
    let mut read = 0;
    for name in listed.stdout.split('\0').filter(|name| !name.is_empty() && *name != "Cargo.lock") {
        let Ok(bytes) = std::fs::read(top.join(name)) else { continue };
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        for host in REGISTRIES.map(|pieces| pieces.concat()) {
            assert!(!text.contains(&host), "{name} names {host}");
        }
        read += 1;
    }
    assert!(read > 300, "only {read} files were read");
}
