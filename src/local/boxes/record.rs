//! A process on record: what was started, whether it runs, how it ended.

use super::id::LocalProcessId;
use super::json::{parse, write_json};
use super::local_box::LocalBox;
use super::meta::now;
use super::signals;
use crate::error::IoContext;
use crate::fs::IfThere;
use crate::local::failure::{Failure, Result};
use crate::local::wire::spec::End;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// `processes/<id>.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ProcessRecord {
    /// 1; a newer one is not read.
    pub(crate) version: u32,
    pub(crate) process_id: LocalProcessId,
    /// On a terminal, or on pipes.
    pub(crate) pty: bool,
    /// Program and arguments, damaged bytes replaced.
    pub(crate) argv: Vec<String>,
    /// The folder that it was started in.
    pub(crate) cwd: String,
    /// Its process id in the box; 0 before it was started.
    pub(crate) pid: i32,
    /// When it was started, RFC 3339.
    pub(crate) created_at: String,
    /// When it ended, RFC 3339; `None` while it runs.
    pub(crate) finished_at: Option<String>,
    pub(crate) end: Option<End>,
    /// Where its supervisor listens.
    pub(crate) socket: PathBuf,
    pub(crate) output: KeptOutput,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct KeptOutput {
    /// Place of the first byte that is still kept.
    pub(crate) oldest_seq: u64,
    /// Place behind the last byte.
    pub(crate) newest_seq: u64,
    pub(crate) bytes: u64,
}

/// The program that has the terminal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ForegroundProgram {
    /// Its process id in the box.
    pub(crate) pid: i32,
    pub(crate) cmd: String,
}

impl ProcessRecord {
    pub(crate) fn is_running(&self) -> bool {
        self.finished_at.is_none()
    }

    /// The process view (docs/measured/createos-cli.md 4.2); keys without a value are left out.
    pub(crate) fn view(&self, foreground: Option<&ForegroundProgram>) -> Value {
        let ended = !self.is_running();
        let mut view = Map::new();
        let mut put = |key: &str, value: Value| view.insert(key.into(), value);
        put("process_id", json!(self.process_id));
        put("kind", json!(if self.pty { "pty" } else { "pipe" }));
        put("cmd", json!(self.argv.first()));
        put("args", json!(self.argv.get(1..).unwrap_or_default()));
        put("cwd", json!(self.cwd));
        if let Some(foreground) = foreground {
            put("foreground", json!(foreground));
        }
        put("pid", json!(self.pid));
        put("state", json!(if ended { "exited" } else { "running" }));
        put("leader_exited", json!(ended));
        // A box process takes everything with it that it has started.
        put("tree_exited", json!(ended));
        put("created_at", json!(self.created_at));
        if let Some(finished) = &self.finished_at {
            put("finished_at", json!(finished));
        }
        match self.end {
            Some(End::Code(code)) => drop(put("exit_code", json!(code))),
            Some(End::Signal(signal)) => drop(put("signal", json!(signals::name(signal)))),
            None => {}
        }
        put("output", json!(self.output));
        Value::Object(view)
    }

    pub(crate) fn save(&self, found: &LocalBox) -> Result<()> {
        write_json(&file(found, &self.process_id, "json"), self)
    }
}

/// A file of a process: `json`, `log` or `lock`.
pub(crate) fn file(found: &LocalBox, id: &LocalProcessId, end: &str) -> PathBuf {
    found.processes().join(format!("{id}.{end}"))
}

/// The record of a process. One whose supervisor is gone without a word has ended, whatever it says:
/// with its supervisor a box process is killed.
pub(crate) fn read(found: &LocalBox, id: &LocalProcessId) -> Result<ProcessRecord> {
    let path = file(found, id, "json");
    let Some(bytes) = std::fs::read(&path).if_there().at("read", &path)? else {
        return Err(Failure::not_found(format!("no process {id} in sandbox {}", found.meta.name)));
    };
    let mut record: ProcessRecord = parse(&path, &bytes)?;
    if record.is_running() && !is_supervised(found, id)? {
        // It may have ended properly between our two looks.
        record = parse(&path, &std::fs::read(&path).at("read", &path)?)?;
        if record.is_running() {
            record.finished_at = Some(now());
            record.end = Some(End::Signal(libc::SIGKILL));
            record.output = KeptOutput::default();
            record.save(found)?;
            let _gone = std::fs::remove_file(&record.socket);
        }
    }
    Ok(record)
}

/// The log of a process that has ended, or `None` when none was kept.
pub(crate) fn log(found: &LocalBox, record: &ProcessRecord) -> Option<File> {
    File::open(file(found, &record.process_id, "log")).ok()
}

/// All processes of a box, newest first.
pub(crate) fn all(found: &LocalBox) -> Result<Vec<ProcessRecord>> {
    let folder = found.processes();
    let mut ids: Vec<LocalProcessId> = std::fs::read_dir(&folder)
        .at("read", &folder)?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json")?.parse().ok())
        .collect();
    ids.sort();
    ids.iter().rev().map(|id| read(found, id)).collect()
}

/// Removes the sockets of all processes on record in this folder: a supervisor that was killed leaves its own. None may live.
pub(crate) fn remove_sockets(processes: &Path) -> Result<()> {
    let entries = std::fs::read_dir(processes).if_there().at("read", processes)?;
    for entry in entries.into_iter().flatten().flatten() {
        let record = std::fs::read(entry.path()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(ProcessRecord { socket, .. }) = record {
            let _removed_by_its_owner = std::fs::remove_file(socket);
        }
    }
    Ok(())
}

/// How many processes that have ended are remembered, with their output.
const REMEMBERED: usize = 50;

/// Forgets the oldest processes that have ended.
pub(crate) fn prune(found: &LocalBox) -> Result<()> {
    for record in all(found)?.iter().filter(|record| !record.is_running()).skip(REMEMBERED) {
        for end in ["log", "lock", "json"] {
            let _gone = std::fs::remove_file(file(found, &record.process_id, end));
        }
    }
    Ok(())
}

/// A supervisor holds the process's lock for as long as it lives.
fn is_supervised(found: &LocalBox, id: &LocalProcessId) -> Result<bool> {
    let path = file(found, id, "lock");
    let Some(lock) = File::open(&path).if_there().at("open", &path)? else { return Ok(false) };
    match lock.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Ok(Err(source).at("lock", &path)?),
    }
}
