//! `push` and `pull`: one file in or out. In the box the copying is done inside, by a process that is
//! confined as any: whatever links the box has laid lead nowhere but into the box.

use crate::error::{Error, IoContext};
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::running::RunPurpose;
use crate::local::entry::enter::{self, BoxProcess, Start};
use crate::local::entry::environment;
use crate::local::failure::{Failure, Result};
use crate::local::inside::LARGEST_CHUNK;
use crate::local::wire::spec::{Bytes, End, Task};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The largest file that CreateOS takes (docs/measured/createos-cli.md 4.4).
const LARGEST: u64 = 500 * 1024 * 1024;

/// Copies a file of this machine, or stdin for `-`, to an absolute path in the box; bytes copied.
pub(crate) fn push(found: &mut LocalBox, local: &OsStr, remote: &OsStr) -> Result<u64> {
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
pub(crate) fn pull(found: &mut LocalBox, remote: &OsStr, local: &OsStr) -> Result<u64> {
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
            let staged = staged.at("write into", folder)?;
            leave_nothing(staged.path().to_path_buf())?;
            Some(staged)
        }
    };
    let mut entry = start(found, Task::Pull { path }, false)?;
    let mut from = entry.stdout.take().expect("a copier has pipes");
    let copied = match &mut staged {
        Some(staged) => receive(&mut from, staged.as_file_mut(), target)?,
        None => {
            let mut to = crate::ui::stdout();
            let copied = io::copy(&mut from, &mut to);
            copied.and_then(|count| to.flush().map(|()| count)).at("write to", Path::new("stdout"))?
        }
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

/// Writes what comes to an empty file; long runs of zeros become holes.
fn receive(from: &mut impl Read, to: &mut File, target: &Path) -> Result<u64> {
    let mut chunk = vec![0; LARGEST_CHUNK];
    let mut total = 0;
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(source) if source.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::io("read from the box for", target, &source).into()),
        };
        total += count as u64;
        if total > LARGEST {
            return Err(Error::failed("the file is larger than 500 MB").help("pull it in parts").into());
        }
        let place = i64::try_from(count).unwrap_or_default();
        let written = match chunk[..count].iter().all(|byte| *byte == 0) {
            true => to.seek(io::SeekFrom::Current(place)).map(drop),
            false => to.write_all(&chunk[..count]),
        };
        written.at("write", target)?;
    }
    // A hole at the end.
    to.set_len(total).at("write", target)?;
    Ok(total)
}

/// When a signal ends us, the unfinished file goes first.
fn leave_nothing(staged: std::path::PathBuf) -> Result<()> {
    let caught = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    let mut signals =
        signal_hook::iterator::Signals::new(caught).map_err(|source| Error::failed(source.to_string()))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _complete_already = std::fs::remove_file(staged);
            let _unreachable = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

fn absolute(remote: &OsStr) -> Result<Bytes> {
    if remote.as_bytes().starts_with(b"/") {
        return Ok(remote.as_bytes().to_vec());
    }
    Err(Error::usage(format!("the path in the box must be absolute: {}", remote.display())).into())
}

fn start(found: &mut LocalBox, task: Task, input: bool) -> Result<BoxProcess> {
    let env = environment::of_a_process(&found.meta, &[]);
    match enter::enter(found, env, task, input, RunPurpose::Foreground)? {
        Start::Running(entry) => Ok(*entry),
        Start::NotStarted { what, errno } => {
            let system = io::Error::from_raw_os_error(errno);
            Err(Error::failed(format!("could not {what}: {system}")).into())
        }
    }
}

fn finish(mut entry: BoxProcess, doing: &str, remote: &OsStr) -> Result<()> {
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
    let message = format!("could not {doing} {} in the box: {reason}", remote.display());
    if reason.contains("os error 2)") {
        return Err(Failure::not_found(message));
    }
    Err(Error::failed(message).into())
}
