//! `push` and `pull`: one file in or out. In the box the copying is done inside, by a process that is
//! confined as any: whatever links the box has laid lead nowhere but into the box.

use super::enter::{self, Entry, Start};
use super::environment;
use super::failure::{Failure, Result};
use super::inside::LARGEST_CHUNK;
use super::running::Purpose;
use super::spec::{Bytes, End, Task};
use super::store::LocalBox;
use crate::error::{Error, IoContext};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The largest file that CreateOS takes (contract 4.6).
const LARGEST: u64 = 500 * 1024 * 1024;

/// Copies a file of this machine, or stdin for `-`, to an absolute path in the box; bytes copied.
pub(super) fn push(found: &mut LocalBox, local: &OsStr, remote: &OsStr) -> Result<u64> {
    let path = absolute(remote)?;
    let mut from: Box<dyn Read> = if local == "-" {
        Box::new(io::stdin().lock())
    } else {
        let local = Path::new(local);
        let file = File::open(local).at("read", local)?;
        let kind = file.metadata().at("read", local)?;
        if kind.is_dir() {
            return Err(Error::usage(format!("{} is a folder", local.display()))
                .help("pack it first, and push the archive: tar -czf work.tgz FOLDER")
                .into());
        }
        Box::new(file)
    };
    let mut entry = start(found, Task::Push { path }, true)?;
    let mut to = entry.stdin.take().expect("stdin was asked for");
    let mut chunk = vec![0; LARGEST_CHUNK];
    let mut total = 0;
    let copied = loop {
        let count = match from.read(&mut chunk) {
            Ok(count) => count,
            Err(source) if source.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::io("read", Path::new(local), &source).into()),
        };
        total += count as u64;
        if total > LARGEST {
            return Err(Error::failed("the file is larger than 500 MB").help("push it in parts").into());
        }
        let length = u32::try_from(count).expect("a chunk is short").to_le_bytes();
        // A copier that has given up reads no more; why, it says below.
        if to.write_all(&length).and_then(|()| to.write_all(&chunk[..count])).is_err() || count == 0 {
            break total;
        }
    };
    drop(to);
    finish(entry, "write", remote)?;
    Ok(copied)
}

/// Copies a file of the box to a path of this machine, whole or not at all, or to stdout for `-`.
pub(super) fn pull(found: &mut LocalBox, remote: &OsStr, local: &OsStr) -> Result<u64> {
    let path = absolute(remote)?;
    let target = Path::new(local);
    if local != "-" && target.is_dir() {
        return Err(Error::usage(format!("{} is a folder", target.display()))
            .help("name the file to write")
            .into());
    }
    let mut staged = match local == "-" {
        true => None,
        false => {
            let folder = match target.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            let staged = tempfile::Builder::new().prefix(".pull-").tempfile_in(folder);
            Some(staged.at("write into", folder)?)
        }
    };
    let mut entry = start(found, Task::Pull { path }, false)?;
    let mut from = entry.stdout.take().expect("a copier has pipes");
    let copied = match &mut staged {
        Some(staged) => io::copy(&mut from, staged).at("write", target)?,
        None => io::copy(&mut from, &mut io::stdout().lock()).at("write", Path::new("stdout"))?,
    };
    drop(from);
    finish(entry, "read", remote)?;
    if let Some(staged) = staged {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(target).map_or(0o644, |old| old.permissions().mode() & 0o777);
        let permissions = std::fs::Permissions::from_mode(mode);
        staged.as_file().set_permissions(permissions).at("write", target)?;
        staged.persist(target).map_err(|error| Error::io("write", target, &error.error))?;
    }
    Ok(copied)
}

fn absolute(remote: &OsStr) -> Result<Bytes> {
    if remote.as_bytes().starts_with(b"/") {
        return Ok(remote.as_bytes().to_vec());
    }
    Err(Error::usage(format!("the path in the sandbox must be absolute: {}", remote.display())).into())
}

fn start(found: &mut LocalBox, task: Task, input: bool) -> Result<Entry> {
    let env = environment::of(&found.meta, &[]);
    match enter::enter(found, env, task, input, Purpose::Foreground)? {
        Start::Running(entry) => Ok(*entry),
        Start::NotStarted { what, errno } => {
            let system = io::Error::from_raw_os_error(errno);
            Err(Error::failed(format!("could not {what}: {system}")).into())
        }
    }
}

fn finish(mut entry: Entry, doing: &str, remote: &OsStr) -> Result<()> {
    let mut said = Vec::new();
    let stderr = entry.stderr.take().expect("a copier has pipes");
    let heard = stderr.take(4096).read_to_end(&mut said);
    let end = entry.wait()?;
    if end == End::Code(0) {
        return Ok(());
    }
    let reason = match end {
        End::Code(_) if heard.is_ok() && !said.is_empty() => String::from_utf8_lossy(&said).into_owned(),
        End::Code(code) => format!("exit code {code}"),
        End::Signal(signal) => format!("it was killed by signal {signal}"),
    };
    let message = format!("could not {doing} {} in the sandbox: {reason}", remote.display());
    if reason.contains("os error 2)") {
        return Err(Failure::not_found(message));
    }
    Err(Error::failed(message).into())
}
