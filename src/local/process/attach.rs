//! `process attach`: this terminal, or these pipes, and a process.

use super::client::Client;
use super::leave;
use super::shown::{farewell, lost, number, show};
use crate::cli::AttachArgs;
use crate::command;
use crate::config::DetachKey;
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::record::{self, ProcessRecord};
use crate::local::failure::Result;
use crate::local::wire::frames::{FrameKind, FrameReader};
use crate::ui::modes::Modes;
use std::os::unix::net::UnixStream;

/// Attaches; 0 for a terminal, whatever happened there, and the program's exit code for pipes.
pub(crate) fn attach(found: &LocalBox, record: &ProcessRecord, args: &AttachArgs) -> Result<Exit> {
    if let Some(key) = &args.detach_key {
        // Before anything of the terminal is changed.
        let _is_one: DetachKey = key.parse()?;
    }
    let after = if args.no_follow { Some(args.after.unwrap_or(0)) } else { args.after };
    if record.is_running() {
        match UnixStream::connect(&record.socket) {
            Ok(stream) => return Client::new(stream, record, args)?.show(after, !args.no_follow),
            // It ended just now, or its supervisor was killed.
            Err(_) => {
                let record = record::read(found, &record.process_id)?;
                if record.is_running() {
                    return Err(Error::failed(format!("process {} does not answer", record.process_id))
                        .help(format!(
                            "try again, or look at it with: {}",
                            command::own(["local", "sandbox", "process", "get"])
                                .on(&found.meta.name)
                                .word(record.process_id.to_string())
                        ))
                        .into());
                }
                return replay(found, &record, after);
            }
        }
    }
    replay(found, record, after)
}

/// A process that has ended shows what was kept and how it ended.
fn replay(found: &LocalBox, record: &ProcessRecord, after: Option<u64>) -> Result<Exit> {
    let mut modes = Modes::default();
    let shown = show_log(found, record, after, &mut modes);
    leave::leave_what_was_shown(&modes);
    shown.map(|()| farewell(record.pty, record.end))
}

fn show_log(found: &LocalBox, record: &ProcessRecord, after: Option<u64>, modes: &mut Modes) -> Result<()> {
    if let (Some(after), Some(mut log)) = (after, record::log(found, record)) {
        let broken = |source| Error::failed(format!("the kept output cannot be read: {source}"));
        let mut reader = FrameReader::default();
        let mut place = 0;
        while let Some((kind, body)) = reader.wait(&mut log).map_err(broken)? {
            let start = place;
            match kind {
                FrameKind::Lost => place = number(&body),
                _ => place += body.len() as u64,
            }
            let skipped = usize::try_from(after.saturating_sub(start)).unwrap_or(usize::MAX);
            let shown = body.get(skipped..).unwrap_or_default();
            modes.feed(if matches!(kind, FrameKind::Out | FrameKind::Err) { shown } else { &[] });
            match kind {
                FrameKind::Lost if place > after => lost(place - after),
                FrameKind::Out => show(false, shown)?,
                FrameKind::Err => show(true, shown)?,
                _ => {}
            }
        }
    }
    Ok(())
}
