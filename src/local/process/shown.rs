//! What an attach shows beside the terminal's own orders.

use crate::error::IoContext;
use crate::exit::Exit;
use crate::local::failure::Result;
use crate::local::wire::spec::End;
use crate::ui;

pub(super) fn farewell(pty: bool, end: Option<End>) -> Exit {
    match (pty, end) {
        (true, _) => Exit::DONE,
        // The stream just ended: the code is not known, so it cannot be 0.
        (false, None) => Exit::FAILED,
        (false, Some(end)) => {
            ui::note(format!("Process exited with code {}.", end.code()));
            Exit::of_program(end.code())
        }
    }
}

pub(super) fn lost(bytes: u64) {
    ui::note(format!("[{} of older output are not kept any more]", ui::bytes(bytes)));
}

pub(super) fn number(body: &[u8]) -> u64 {
    body.try_into().map_or(0, u64::from_le_bytes)
}

pub(super) fn show(error: bool, bytes: &[u8]) -> Result<()> {
    let written = if error { ui::raw_note(bytes) } else { ui::raw(bytes) };
    Ok(written.at("write to", std::path::Path::new("stdout"))?)
}
