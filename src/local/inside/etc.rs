//! `/etc`: made anew for each entry from pieces that are safe to show. The host's folder, with its
//! password hashes and keys, is never mounted.

use super::super::wire::spec::{AGENT, Step};
use super::mounts::{self, SHUT, TAME, Tree};
use super::outcome::{During, Isolated};
use super::sys;
use rustix::fs::{Mode, OFlags, openat, symlinkat};
use std::fs::File;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

/// Folders and files that are the host's, read-only. Private keys lie beside `ssl/certs` and
/// `pki/tls/certs`, so only the public parts are named.
const SHOWN: [&str; 24] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "protocols",
    RESOLVER,
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
];
/// Folders whose names carry a version, as the runtimes of languages have them.
const SHOWN_PREFIXES: [&str; 4] = ["java-", "python3", "perl", "lua"];

const RESOLVER: &str = "resolv.conf";

/// A piece of the host.
enum Piece {
    /// Bound read-only.
    Bound(Tree, bool),
    /// A link into `/usr`, which the box sees too.
    Link(Vec<u8>),
}

/// Everything that `/etc` will hold.
pub(super) struct Pieces {
    host: Vec<(String, Piece)>,
    own: Vec<(&'static str, String)>,
}

impl Pieces {
    /// Looks at the host while it can still be seen.
    pub(super) fn collect(hostname: &str, name_server: Option<Ipv4Addr>) -> Isolated<Self> {
        let mut names: Vec<String> = SHOWN.iter().map(|name| (*name).to_owned()).collect();
        // The name servers of the host are out of reach, and its network's names are its own.
        names.retain(|name| name_server.is_none() || name != RESOLVER);
        if let Ok(entries) = std::fs::read_dir("/etc") {
            names.extend(
                entries
                    .flatten()
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .filter(|name| SHOWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))),
            );
        }
        let mut host = Vec::new();
        for name in names {
            if let Some(piece) = piece(&format!("/etc/{name}"))? {
                host.push((name, piece));
            }
        }
        let mut own = own_files(hostname);
        own.extend(name_server.map(|address| (RESOLVER, format!("nameserver {address}\n"))));
        Ok(Self { host, own })
    }

    /// Builds `/etc` on `target`.
    pub(super) fn build(self, target: &OwnedFd) -> Isolated<()> {
        let tmpfs = Tree::new("tmpfs", &[("mode", "0755"), ("size", "1m")], TAME, Step::Mount)?;
        let etc = tmpfs.mount(target, "/etc")?;
        for (name, text) in self.own {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = openat(&etc, name, flags, Mode::from_raw_mode(0o644)).during(Step::Mount, name)?;
            File::from(file).write_all(text.as_bytes()).during(Step::Mount, name)?;
        }
        for (name, piece) in self.host {
            let (folders, last) = name.rsplit_once('/').unwrap_or(("", &name));
            let mut at = etc.try_clone().during(Step::Mount, &name)?;
            for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
                at = mounts::folder_or_new(&at, folder)?;
            }
            match piece {
                Piece::Link(to) => symlinkat(to.as_slice(), &at, last).during(Step::Mount, &name)?,
                Piece::Bound(tree, true) => drop(tree.mount(mounts::new_folder(&at, last, 0o755)?, &name)?),
                Piece::Bound(tree, false) => drop(tree.mount(mounts::file(&at, last)?, &name)?),
            }
        }
        sys::set_mount_attributes(&etc, libc::MOUNT_ATTR_RDONLY, false).during(Step::Mount, "/etc")
    }
}

fn piece(path: &str) -> Isolated<Option<Piece>> {
    if let Ok(target) = std::fs::read_link(path) {
        let absolute = std::path::Path::new("/etc").join(&target);
        let inside = |start: &str| absolute.starts_with(start) || target.starts_with(format!("..{start}"));
        if inside("/usr") {
            return Ok(Some(Piece::Link(target.as_os_str().as_bytes().to_vec())));
        }
    }
    let Ok(found) = std::fs::metadata(path) else { return Ok(None) };
    Ok(Tree::of_existing(path, SHUT)?.map(|tree| Piece::Bound(tree, found.is_dir())))
}

fn own_files(hostname: &str) -> Vec<(&'static str, String)> {
    let shell = if std::path::Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    vec![
        (
            "passwd",
            format!(
                "root:x:0:0:root:/:/bin/false\n\
                 agent:x:{AGENT}:{AGENT}:agent:/home/agent:{shell}\n\
                 nobody:x:65534:65534:nobody:/:/bin/false\n"
            ),
        ),
        ("group", format!("root:x:0:\nagent:x:{AGENT}:\nnogroup:x:65534:\n")),
        ("hostname", format!("{hostname}\n")),
        (
            "hosts",
            format!("127.0.0.1 localhost {hostname}\n::1 localhost ip6-localhost ip6-loopback {hostname}\n"),
        ),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".into()),
        ("host.conf", "multi on\n".into()),
        ("shells", "/bin/sh\n/bin/bash\n".into()),
        ("bash.bashrc", "[ -z \"$PS1\" ] || PS1='\\u@\\h:\\w\\$ '\n".into()),
    ]
}
