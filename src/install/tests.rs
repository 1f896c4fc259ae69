//! Installing from a server on this machine.

use super::*;
use http::{Answer, Server};
use std::ffi::OsString;

#[path = "../../tests/it/support/http.rs"]
#[allow(dead_code, reason = "the integration tests use the rest")]
mod http;

const NEW: &str = "#!/bin/sh\necho createos version v0.0.99\n";

/// A home with `bin` as its PATH, and a server.
struct Place {
    home: tempfile::TempDir,
    server: Server,
    vars: Vec<(String, String)>,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a home");
        std::fs::create_dir(home.path().join("bin")).expect("a folder");
        let server = Server::new();
        let vars = vec![("CREATEOS_RELEASES_URL".into(), server.url("/releases"))];
        Self { home, server, vars }
    }

    fn var(mut self, name: &str, value: impl Into<String>) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    fn bin(&self) -> PathBuf {
        self.home.path().join("bin")
    }

    /// Writes a program by a process of its own: see the integration tests' `program`.
    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.bin().join(name);
        let script = "cat > \"$1\" && chmod 755 \"$1\"";
        let run = crate::exec::Run::new("sh").args(["-c", script, "sh"]).arg(&path).stdin_bytes(text);
        assert!(run.run().expect("sh runs").success());
        path
    }

    fn release(&self, folder: &str, binary: &str) {
        let name = format!("/releases/{folder}/createos-{}-{}", system(), processor());
        let sum = format!("{}\n", crate::fs::digest(binary.as_bytes()));
        self.server.at(&format!("{name}.sha256"), Answer::ok(sum));
        self.server.at(&name, Answer::ok(binary));
    }

    fn install(&self, id: &str, existing: Option<&Path>) -> Result<Installed> {
        let path = OsString::from(format!("{}:/usr/bin:/bin", self.bin().display()));
        let var = |name: &str| {
            self.vars.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let machine = Machine { home: self.home.path(), path: &path, var: &var };
        let installation = Installation::find(id, existing, &machine)?.expect("it can be installed");
        loop {
            match installation.install(&machine) {
                // What another test has just forked holds the new file open for writing until it runs its program.
                Err(error) if error.facts().iter().any(|(_, why)| why.contains("Text file busy")) => {}
                ended => return ended,
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.bin()).expect("the folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }
}

fn system() -> &'static str {
    if cfg!(target_os = "macos") { "darwin" } else { "linux" }
}

fn processor() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }
}

#[test]
fn an_old_createos_is_replaced_where_it_is_and_kept() {
    let place = Place::new();
    place.release("latest/download", NEW);
    let old = place.program("createos", "#!/bin/sh\necho createos version v0.0.1\n");
    let installed = place.install("createos", Some(&old)).unwrap();
    assert_eq!(installed.path, old);
    assert_eq!(std::fs::read_to_string(&old).unwrap(), NEW);
    let backup = installed.backup.unwrap();
    assert!(std::fs::read_to_string(backup).unwrap().contains("v0.0.1"));
    assert_eq!(installed.on_path, OnPath::Chosen);
    assert_eq!(place.names(), ["createos", "createos.before-createos-sandbox"]);
}

#[test]
fn a_version_and_a_folder_are_the_users_choice() {
    let place = Place::new().var("CREATEOS_VERSION", "0.0.27");
    place.release("download/v0.0.27", NEW);
    let elsewhere = place.home.path().join("tools");
    let place = place.var("CREATEOS_INSTALL_DIR", elsewhere.to_str().unwrap());
    let installed = place.install("createos", None).unwrap();
    assert_eq!(installed.path, elsewhere.join("createos"));
    assert_eq!(installed.on_path, OnPath::Nothing);
    let first = place.program("createos", NEW);
    assert_eq!(place.install("createos", None).unwrap().on_path, OnPath::Other(first));
}

#[test]
fn a_link_is_left_to_who_made_it() {
    let place = Place::new();
    let elsewhere = place.home.path().join("cellar");
    std::fs::write(&elsewhere, "managed").unwrap();
    let link = place.bin().join("createos");
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    let var = |_: &str| None;
    let machine = Machine { home: place.home.path(), path: std::ffi::OsStr::new(""), var: &var };
    let lines = Installation::find("createos", Some(&link), &machine).unwrap().unwrap().lines();
    assert!(!lines[1].contains(&place.bin().display().to_string()), "{lines:?}");
}

#[test]
fn whatever_goes_wrong_leaves_the_old_one() {
    let place = Place::new();
    let old = place.program("createos", "old");
    let name = format!("/releases/latest/download/createos-{}-{}", system(), processor());
    let refused = |what: &str| {
        let error = place.install("createos", Some(&old)).unwrap_err();
        let said = format!("{} {:?}", error.message(), error.facts());
        assert!(said.contains(what), "{what}: {said}");
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "old", "{what}");
        assert_eq!(place.names(), ["createos"], "{what}");
    };
    refused("does not have it (404)");
    place.release("latest/download", NEW);
    place.server.at(&name, Answer::ok(format!("{NEW}#")));
    refused("the checksum of");
    place.server.at(&name, Answer::cut(&NEW[..9], NEW.len()));
    refused("could not download");
    place.server.at(&name, Answer::ok(""));
    refused("it is empty");
    place.server.at(&name, Answer::cut("x", 300 * 1024 * 1024));
    refused("larger than anything");
    place.server.at(&name, Answer { status: 503, ..Answer::ok("busy") });
    refused("the server answered 503");
    place.release("latest/download", "#!/bin/sh\necho no such system >&2\nexit 126\n");
    refused("does not run on this machine");
}

#[test]
fn without_a_network_nothing_is_touched() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = Place::new().var("CREATEOS_RELEASES_URL", format!("http://{closed}"));
    let error = place.install("createos", None).unwrap_err();
    assert!(error.message().starts_with("could not download http://127.0.0.1"), "{error}");
    assert!(place.names().is_empty());
}

#[test]
fn scripts_are_downloaded_whole_and_then_run() {
    let place = Place::new();
    let url = place.server.url("/install.sh");
    let place = place.var("BUN_INSTALL_URL", &url);
    for name in ["curl", "unzip"] {
        place.program(name, "#!/bin/sh\n");
    }
    let script = |text: String| place.server.at("/install.sh", Answer::ok(text));

    script(format!("mkdir -p {0}/.bun/bin && echo bun > {0}/.bun/bin/bun", place.home.path().display()));
    let installed = place.install("bun", None).unwrap();
    assert_eq!(installed.path, place.home.path().join(".bun/bin/bun"));
    assert_eq!(installed.on_path, OnPath::Nothing);

    std::fs::remove_file(&installed.path).unwrap();
    place.server.at("/install.sh", Answer::ok("exit 3"));
    let error = place.install("bun", None).unwrap_err();
    assert!(format!("{:?}", error.facts()).contains("it ended with 3"), "{error:?}");
    place.server.at("/install.sh", Answer::ok("true"));
    let error = place.install("bun", None).unwrap_err();
    assert!(format!("{:?}", error.facts()).contains("there is no bun now"), "{error:?}");
    place.server.at("/install.sh", Answer::cut("touch \"$HOME/half\"", 5000));
    assert!(place.install("bun", None).unwrap_err().message().starts_with("could not download"));
}

#[test]
fn an_installer_of_the_users_own_runs_instead_for_createos() {
    let place = Place::new();
    let url = place.server.url("/mine.sh");
    let target = place.bin().join("createos");
    place
        .server
        .at("/mine.sh", Answer::ok(format!("printf '#!/bin/sh\\n' > {0}; chmod 755 {0}", target.display())));
    let place = place.var("CREATEOS_INSTALL_URL", url);
    assert_eq!(place.install("createos", None).unwrap().path, target);
}
