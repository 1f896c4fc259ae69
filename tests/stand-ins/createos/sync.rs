//! `sync`: a worktree and a folder of a box, kept in step until Ctrl-C (docs/measured/createos-cli.md 3.9). Files
//! really travel: new and changed ones into the box, new ones out of it. Ctrl-C kills it at once: it says nothing
//! more, and its Mutagen session stays.

use crate::argv::Parsed;
use crate::ignore::{Pattern, ignored, parse};
use crate::{Call, backend, mutagen, print};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// One side's end of the work, and the box.
struct Sync<'a> {
    call: &'a Call<'a>,
    local: PathBuf,
    remote: String,
    id: String,
    patterns: Vec<Pattern>,
    /// What was sent, as it was then.
    sent: HashMap<PathBuf, (u64, SystemTime)>,
    /// Where an archive lies for a moment.
    parcel: PathBuf,
}

impl Call<'_> {
    pub(crate) fn sync(&self, parsed: &Parsed) -> u8 {
        match self.prepared(parsed) {
            Ok(mut sync) => {
                print(&format!("  syncing {} ⇄ {}:{}\n", sync.local.display(), sync.id, sync.remote));
                print("Sync running. Press Ctrl+C to stop.\n");
                let began = UNIX_EPOCH.elapsed().expect("a clock").as_secs();
                mutagen::begins(self.control, &format!("createos-{}-{began}", sync.id));
                loop {
                    if let Err(why) = sync.round() {
                        print(&format!("  error: {why}\n"));
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
            Err(why) => self.fail("error", &why),
        }
    }

    fn prepared(&self, parsed: &Parsed) -> Result<Sync<'_>, String> {
        let (Some(local), Some(remote)) = (parsed.one("--local"), parsed.one("--remote")) else {
            return Err("pass --local and --remote".into());
        };
        let id = parsed.positional.first().ok_or("please provide a sandbox ID or name")?.clone();
        let home = PathBuf::from(std::env::var_os("HOME").expect("tests set HOME"));
        let path = Path::new(local);
        let allowed = path != home && (path.starts_with(&home) || path.starts_with("/tmp"));
        if !path.is_dir() || !allowed {
            return Err(format!("--local {local} must be a folder below your home or /tmp"));
        }
        if !remote.starts_with('/') || remote == "/" {
            return Err(format!("--remote {remote} must be an absolute path"));
        }
        if parsed.one("--mode").is_some_and(|mode| mode != "two-way") {
            return Err("this stand-in syncs both ways only".into());
        }
        if !parsed.has(&["--yes", "-y"]) {
            return Err(format!("your SSH key isn't installed in {id} yet"));
        }
        let excluded = parsed.flags.iter().filter(|(name, _)| name == "--exclude");
        let patterns = parse(excluded.filter_map(|(_, value)| value.as_deref()))?;
        let key = identity(parsed.one("-i").or_else(|| parsed.one("--identity")), &home)?;
        let sync = Sync {
            call: self,
            local: path.to_path_buf(),
            remote: remote.to_owned(),
            id,
            patterns,
            sent: HashMap::new(),
            parcel: home.join(".createos-stand-in").join(format!("parcel-{}", std::process::id())),
        };
        // Appended, whatever stands there.
        sync.exec("mkdir -p ~/.ssh && printf '%s' \"$1\" >> ~/.ssh/authorized_keys", &[&key])?;
        Ok(sync)
    }
}

/// The public half of the key pair, whose private half needs no words.
fn identity(named: Option<&str>, home: &Path) -> Result<String, String> {
    let usual = ["id_ed25519", "id_rsa", "id_ecdsa"].map(|name| home.join(".ssh").join(name));
    let key = match named {
        Some(named) => PathBuf::from(named),
        None => usual.into_iter().find(|key| key.is_file()).ok_or("no SSH key found in ~/.ssh")?,
    };
    let opened = Command::new("ssh-keygen").args(["-y", "-P", "", "-f"]).arg(&key).output();
    if !opened.expect("ssh-keygen runs").status.success() {
        return Err(format!("the key {} cannot be used without a passphrase", key.display()));
    }
    let public = PathBuf::from(format!("{}.pub", key.display()));
    std::fs::read_to_string(&public).map_err(|error| format!("{}: {error}", public.display()))
}

impl Sync<'_> {
    fn provider(&self, verb: &str, positional: &[&str], command: &[&str]) -> Result<Vec<u8>, String> {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let parsed = Parsed { flags: Vec::new(), positional: owned(positional) };
        let output = backend::capture(self.call.control, false, verb, &parsed, &owned(command));
        match output.code {
            0 => Ok(output.stdout),
            _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn exec(&self, script: &str, data: &[&str]) -> Result<Vec<u8>, String> {
        self.provider("exec", &[&self.id], &[&["bash", "-c", script, "sync"], data].concat())
    }

    /// One look at both sides. A file that changes under it is caught by the next.
    fn round(&mut self) -> Result<(), String> {
        let here = self.walk();
        let fresh: Vec<_> = here.iter().filter(|(path, stamp)| self.sent.get(*path) != Some(stamp)).collect();
        if !fresh.is_empty() {
            let names: Vec<_> = fresh.iter().map(|(path, _)| path.as_os_str().as_bytes()).collect();
            tar(&["-cf"], &self.parcel, &self.local, &names.join(&0))?;
            self.provider("push", &[&self.id, &self.parcel.display().to_string(), "/tmp/sync.tar"], &[])?;
            self.exec("mkdir -p \"$1\" && tar -C \"$1\" -xf /tmp/sync.tar", &[&self.remote])?;
        }
        let listing =
            "cd \"$1\" && find . -mindepth 1 -name .git -prune -o \\( -type f -o -type l \\) -printf '%P\\0'";
        let there = self.exec(listing, &[&self.remote])?;
        for name in there.split(|byte| *byte == 0).filter(|name| !name.is_empty() && *name != b"\n") {
            let path = Path::new(OsStr::from_bytes(name));
            let known = here.contains_key(path) || self.sent.contains_key(path);
            if !known && !ignored(&self.patterns, path, false) && !self.local.join(path).exists() {
                self.bring(path)?;
            }
        }
        self.sent = here;
        Ok(())
    }

    /// One new file out of the box.
    fn bring(&self, path: &Path) -> Result<(), String> {
        let parcel = self.parcel.display().to_string();
        let name = path.to_str().ok_or("a name that is no text")?;
        self.exec("tar -C \"$1\" -cf /tmp/sync.tar -- \"$2\"", &[&self.remote, name])?;
        self.provider("pull", &[&self.id, "/tmp/sync.tar", &parcel], &[])?;
        tar(&["-xf"], &self.parcel, &self.local, &[])
    }

    /// What is here and not ignored.
    fn walk(&self) -> HashMap<PathBuf, (u64, SystemTime)> {
        let mut found = HashMap::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(self.local.join(&folder)).into_iter().flatten().flatten() {
                let path = folder.join(entry.file_name());
                let Ok(metadata) = std::fs::symlink_metadata(self.local.join(&path)) else { continue };
                if ignored(&self.patterns, &path, metadata.is_dir()) {
                    continue;
                }
                if metadata.is_dir() {
                    folders.push(path);
                } else if let Ok(modified) = metadata.modified() {
                    found.insert(path, (metadata.len(), modified));
                }
            }
        }
        found
    }
}

/// Packs or unpacks in `folder`; the names are separated by zeros.
fn tar(mode: &[&str], archive: &Path, folder: &Path, names: &[u8]) -> Result<(), String> {
    use std::io::Write;
    let mut command = Command::new("tar");
    command.arg("-C").arg(folder).args(mode).arg(archive);
    if !names.is_empty() {
        command.args(["--no-recursion", "--no-unquote", "--null", "--verbatim-files-from", "-T", "-"]);
    }
    let mut child =
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let _closed = child.stdin.take().expect("a pipe").write_all(names);
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    if ended.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ended.stderr).into_owned()) }
}
