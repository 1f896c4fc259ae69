//! What only the room itself shows: made-up answers, stores, journals, links that the user has. The table of
//! cases runs over real boxes, through the command line (`tests/it/apply/`); here the `Remote` is a clean
//! shell with a home and a `/tmp` of its own, over a real bash, git and tar.

mod adopt;
mod case;
mod elsewhere;
mod full;
mod hostile;
mod kills;
mod links;
mod prepare;
mod property;
mod store;
mod undo;

use super::*;
use crate::config::RemoteRoot;
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::fs::digest;
use crate::worktree::{Base, Entry, FileKind};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A shell with an empty environment, whose home is not the tester's.
pub(super) struct Shell {
    home: PathBuf,
    /// What stands for the box's `/tmp`.
    tmp: PathBuf,
    /// Programs that come before the system's, for boxes that lie.
    bin: PathBuf,
    /// Scripts run so far.
    runs: usize,
    /// Bytes pulled so far.
    pulled: u64,
}

impl Shell {
    fn command(&self) -> Run<'static> {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", self.bin.display());
        let run = Run::new("bash").env_clear().env("HOME", &self.home).env("PATH", path);
        run.env("TMPDIR", &self.tmp).cwd(&self.home)
    }

    /// Where a path of the box is on this machine.
    fn place(&self, path: &str) -> String {
        match path.strip_prefix("/tmp/") {
            Some(rest) => format!("{}/{rest}", self.tmp.display()),
            None => path.to_owned(),
        }
    }
}

impl Remote for Shell {
    fn exec(&mut self, script: &str, args: &[&str]) -> Result<Response> {
        self.runs += 1;
        // Not `-l`: /etc/profile of the tester's machine would replace the lying PATH.
        let args = args.iter().map(|arg| self.place(arg));
        let run = self.command().args(["-c", script, "createos-sandbox"]).args(args);
        let ended = run.limit(Duration::from_secs(300)).run()?;
        Ok(Response { code: ended.code(), stdout: ended.stdout_text(), stderr: ended.stderr_text() })
    }

    fn push(&mut self, contents: &mut (dyn Read + Send), path: &str) -> Result<()> {
        let mut file = std::fs::File::create(self.place(path)).unwrap();
        std::io::copy(contents, &mut file).unwrap();
        Ok(())
    }

    fn pull(&mut self, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
        let file = std::fs::File::open(self.place(path));
        let file = file.map_err(|error| Error::io("pull", Path::new(path), &error))?;
        let copied = std::io::copy(&mut file.take(limit + 1), contents).unwrap();
        self.pulled += copied;
        if copied > limit {
            return Err(Error::failed("the file is larger than expected"));
        }
        Ok(())
    }
}

/// Files of most tests.
const ONE: &[(&str, &str)] =
    &[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("d/b.txt", "b\n"), ("run.sh", "#!/bin/sh\n")];

/// A worktree here, a workspace there, a ledger, all in one temporary folder.
pub(super) struct World {
    /// Not in /tmp: no remote root may be there.
    _dir: tempfile::TempDir,
    pub(super) here: PathBuf,
    pub(super) there: PathBuf,
    pub(super) root: RemoteRoot,
    pub(super) shell: Shell,
    pub(super) ledger: Ledger,
    pub(super) state: PathBuf,
    pub(super) on_clash: OnClash,
}

impl World {
    /// A git worktree with these files, committed, uploaded and prepared.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::unprepared();
        for (name, text) in files {
            world.write(&world.here, name.as_bytes(), text.as_bytes());
        }
        world.git_here(&["add", "-A", "-f"]);
        world.git_here(&["commit", "-q", "--allow-empty", "-m", "start"]);
        world.upload()
    }

    /// An empty git worktree; nothing is uploaded.
    pub(super) fn unprepared() -> Self {
        let dir = tempfile::Builder::new().prefix("cs-merge-").tempdir_in("/var/tmp").unwrap();
        let path = dir.path().canonicalize().unwrap();
        for folder in ["here", "home", "tmp", "bin", "there"] {
            std::fs::create_dir(path.join(folder)).unwrap();
        }
        let there = path.join("there/w");
        let world = Self {
            here: path.join("here"),
            root: there.to_str().unwrap().parse().unwrap(),
            there,
            shell: Shell {
                home: path.join("home"),
                tmp: path.join("tmp"),
                bin: path.join("bin"),
                runs: 0,
                pulled: 0,
            },
            ledger: Ledger::new(path.join("state")),
            state: path.join("state"),
            on_clash: OnClash::Refuse,
            _dir: dir,
        };
        world.git_here(&["init", "-q", "-b", "main"]);
        world.git_here(&["config", "user.name", "Test"]);
        world.git_here(&["config", "user.email", "test@example.com"]);
        world
    }

    /// Uploads what is in the worktree now, all of it but submodules and their like.
    pub(super) fn upload(mut self) -> Self {
        let base = scan(&self.here);
        let archive = self.there.with_extension("tgz");
        let gz = flate2::write::GzEncoder::new(
            std::fs::File::create(&archive).unwrap(),
            flate2::Compression::fast(),
        );
        let mut tar = tar::Builder::new(gz);
        tar.follow_symlinks(false);
        for (path, _) in base.iter() {
            tar.append_path_with_name(self.here.join(path.as_path()), path.as_path()).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap();
        prepare(&mut self.shell, &self.root, archive.to_str().unwrap(), &base, None, &mut |_| {}).unwrap();
        self.ledger.begin(&base).unwrap();
        self
    }

    pub(super) fn write(&self, root: &Path, name: &[u8], contents: &[u8]) {
        let path = root.join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    /// Writes in the box.
    pub(super) fn there(&self, name: &str, text: &str) -> &Self {
        self.write(&self.there, name.as_bytes(), text.as_bytes());
        self
    }

    /// Writes on this machine.
    pub(super) fn here(&self, name: &str, text: &str) -> &Self {
        self.write(&self.here, name.as_bytes(), text.as_bytes());
        self
    }

    /// A file's text on this machine.
    #[track_caller]
    pub(super) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(
            &std::fs::read(self.here.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")),
        )
        .into_owned()
    }

    /// Whether there is something of that name on this machine.
    pub(super) fn has(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.here.join(name)).is_ok()
    }

    /// Runs a script of the agent's in the workspace.
    #[track_caller]
    pub(super) fn agent(&self, script: &str) -> &Self {
        let ended = self.shell.command().args(["-ec", script]).cwd(&self.there).run().unwrap();
        assert!(ended.success(), "{script}: {}", ended.stderr_text());
        self
    }

    /// git in the worktree on this machine.
    #[track_caller]
    pub(super) fn git_here(&self, args: &[&str]) -> String {
        git(&self.here, args)
    }

    pub(super) fn try_propose(&mut self) -> Result<Proposal> {
        self.ledger.recover()?;
        let base = self.ledger.base()?;
        let filters = Filters { git: Path::new("git"), keeps_home: &stays_home, on_clash: self.on_clash };
        propose(&mut self.shell, &self.root, &self.here, &base, &filters)
    }

    #[track_caller]
    pub(super) fn propose(&mut self) -> Proposal {
        self.try_propose().unwrap_or_else(|error| panic!("{error} {:?}", error.facts()))
    }

    pub(super) fn try_apply(&mut self) -> Result<Applied> {
        let proposal = self.try_propose()?;
        proposal.apply(&mut self.shell, &self.ledger)
    }

    /// Fetch and apply; panics unless it ends so.
    #[track_caller]
    pub(super) fn apply(&mut self, outcome: Outcome) -> Applied {
        let applied = self.try_apply().unwrap_or_else(|error| panic!("{error} {:?}", error.facts()));
        assert_eq!(applied.outcome, outcome, "{:?}", applied.judged);
        assert_eq!(applied.notes, Vec::<String>::new());
        self.nothing_staged();
        applied
    }

    /// No file of ours is left in the worktree.
    #[track_caller]
    pub(super) fn nothing_staged(&self) {
        for (path, _) in scan(&self.here).iter() {
            assert!(!path.to_string().contains(".createos-sandbox"), "{path} was left behind");
        }
    }
}

/// git in a folder, without anybody's settings; its stdout.
#[track_caller]
pub(super) fn git(folder: &Path, args: &[&str]) -> String {
    let ended = Run::new("git")
        .args(args)
        .cwd(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .run()
        .unwrap();
    assert!(ended.success(), "git {args:?}: {}", ended.stderr_text());
    ended.stdout_text()
}

/// A filter as the upload has them.
fn stays_home(path: &RelPath) -> Option<String> {
    (path.file_name() == b".env").then(|| "deny-list: .env".into())
}

/// Every file and link of a folder, but for repositories' own.
pub(super) fn scan(root: &Path) -> Base {
    fn walk(root: &Path, folder: &Path, base: &mut Base) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = std::fs::symlink_metadata(&path).unwrap();
            let Ok(rel) = RelPath::new(path.strip_prefix(root).unwrap().as_os_str().as_bytes()) else {
                continue;
            };
            if found.is_dir() {
                walk(root, &path, base);
            } else if found.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                base.insert(rel, Entry { kind: FileKind::Link, hash: digest(target.as_os_str().as_bytes()) });
            } else if found.is_file() {
                let executable = found.permissions().mode() & 0o100 != 0;
                let kind = if executable { FileKind::Executable } else { FileKind::File };
                base.insert(rel, Entry { kind, hash: digest(&std::fs::read(&path).unwrap()) });
            }
        }
    }
    let mut base = Base::default();
    walk(root, root, &mut base);
    base
}

/// The fate of one path.
#[track_caller]
pub(super) fn fate<'a>(judged: &'a [Judged], name: &str) -> &'a Fate {
    &judged.iter().find(|judged| judged.name == name).unwrap_or_else(|| panic!("{name} in {judged:?}")).fate
}

/// The reason why one path clashes or stays.
#[track_caller]
pub(super) fn reason<'a>(judged: &'a [Judged], name: &str) -> &'a str {
    match fate(judged, name) {
        Fate::Conflict(why) | Fate::Dropped(why) => why,
        other => panic!("{name} is {other:?}"),
    }
}
