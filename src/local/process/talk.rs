//! Asking a supervisor.

use crate::local::boxes::record::{ForegroundProgram, ProcessRecord};
use crate::local::failure::{Failure, Result};
use crate::local::wire::frames::{FrameKind, FrameReader};
use crate::local::wire::hello::Hello;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A supervisor that does not answer within this time is too busy to be asked.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Says something to a supervisor and waits until it has nothing more to say.
pub(crate) fn talk(record: &ProcessRecord, hello: &Hello, limit: Duration) -> Result<()> {
    let wrong = |source: std::io::Error| {
        Failure::conflict(format!("process {} does not answer: {source}", record.process_id))
    };
    let mut stream = UnixStream::connect(&record.socket).map_err(wrong)?;
    stream.set_read_timeout(Some(limit)).map_err(wrong)?;
    stream.write_all(&hello.frame()).map_err(wrong)?;
    let mut reader = FrameReader::default();
    while reader.wait(&stream).map_err(wrong)?.is_some() {}
    Ok(())
}

/// The process as it is now, and what has its terminal; `None` when its supervisor does not say.
pub(crate) fn ask(record: &ProcessRecord) -> Option<(ProcessRecord, Option<ForegroundProgram>)> {
    let mut stream = UnixStream::connect(&record.socket).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(&Hello::Status.frame()).ok()?;
    match FrameReader::default().wait(&stream).ok()?? {
        (FrameKind::Status, body) => serde_json::from_slice(&body).ok(),
        _ => None,
    }
}
